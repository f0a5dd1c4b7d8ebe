// Residual addition and RMS norm, one block a row: the sums and their squares, then the normalised sums, read again.
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include <cstdint>

namespace {

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__hip_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T from_float(float value);
template <>
__device__ float from_float<float>(float value) { return value; }
template <>
__device__ __half from_float<__half>(float value) { return __float2half(value); }
template <>
__device__ __hip_bfloat16 from_float<__hip_bfloat16>(float value) { return __float2bfloat16(value); }

constexpr int kThreads = 256;

// The sum of one value of each of the block's threads, by halving in shared memory.
__device__ float sum_block(float value) {
  __shared__ float partial[kThreads];
  const int thread = threadIdx.x;
  partial[thread] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (thread < width) partial[thread] += partial[thread + width];
    __syncthreads();
  }
  const float result = partial[0];
  __syncthreads();  // before the next reduction overwrites it
  return result;
}

template <class T>
__global__ void add_and_norm_rows(const T* x, T* residual, const T* weight, T* y, int64_t cols, float eps) {
  const T* in = x + blockIdx.x * cols;
  T* total = residual + blockIdx.x * cols;
  T* out = y + blockIdx.x * cols;
  float squares = 0.0f;
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const float sum = to_float(total[c]) + to_float(in[c]);
    total[c] = from_float<T>(sum);
    squares += sum * sum;
  }
  squares = sum_block(squares);
  // Each thread reads what it wrote itself.
  for (int64_t c = threadIdx.x; c < cols; c += kThreads)
    out[c] = from_float<T>(to_float(total[c]) / sqrtf(squares / static_cast<float>(cols) + eps) * to_float(weight[c]));
}

template <class T>
void launch(const T* x, T* residual, const T* weight, T* y, int64_t rows, int64_t cols, float eps, void* stream) {
  add_and_norm_rows<T><<<dim3(static_cast<unsigned>(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, residual, weight, y, cols, eps);
}

}  // namespace

extern "C" {
void fused_add_rmsnorm_float32(const float* x, float* residual, const float* weight, float* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
void fused_add_rmsnorm_float16(const __half* x, __half* residual, const __half* weight, __half* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
void fused_add_rmsnorm_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* residual, const __hip_bfloat16* weight, __hip_bfloat16* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
}
