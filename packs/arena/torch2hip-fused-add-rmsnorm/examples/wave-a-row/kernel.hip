// Residual addition and RMS norm, one wave a row, everything in one kernel and in float32.
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

// A wave a row, of 32 or of 64 lanes as the device has them; 256 threads a block.
constexpr int kThreads = 256;

__device__ float sum_wave(float value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  return value;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    add_and_norm_rows(const T* __restrict__ x, T* __restrict__ residual, const T* __restrict__ weight, T* __restrict__ y, int64_t rows, int64_t cols, float eps) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / warpSize) + threadIdx.x / warpSize;
  if (row >= rows) return;  // the whole wave
  const int lane = threadIdx.x % warpSize;
  const T* in = x + row * cols;
  T* total = residual + row * cols;
  T* out = y + row * cols;
  float squares = 0.0f;
  for (int64_t c = lane; c < cols; c += warpSize) {
    const float sum = to_float(total[c]) + to_float(in[c]);
    total[c] = from_float<T>(sum);
    squares += sum * sum;
  }
  const float scale = rsqrtf(sum_wave(squares) / static_cast<float>(cols) + eps);
  // Each lane reads what it wrote itself.
  for (int64_t c = lane; c < cols; c += warpSize) out[c] = from_float<T>(to_float(total[c]) * scale * to_float(weight[c]));
}

// Enough blocks for 4 rows each, as with waves of 64; with waves of 32 a block takes 8, and the later half of them finds none.
template <class T>
void launch(const T* x, T* residual, const T* weight, T* y, int64_t rows, int64_t cols, float eps, void* stream) {
  const dim3 grid(static_cast<unsigned>((rows + 3) / 4));
  add_and_norm_rows<T><<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, residual, weight, y, rows, cols, eps);
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
