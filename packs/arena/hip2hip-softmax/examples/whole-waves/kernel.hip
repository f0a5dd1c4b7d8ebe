// Row softmax, 64 threads a row. Wrong: it forgets the columns behind the last multiple of 64.
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

constexpr int kWave = 64;

// Four rows a block, a group of 64 threads each, an exchange in shared memory at every step of a reduction.
template <class Op>
__device__ float reduce_group(float value, Op op) {
  __shared__ float partial[4][kWave];
  float* own = partial[threadIdx.y];
  own[threadIdx.x] = value;
  __syncthreads();
  for (int width = kWave / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) own[threadIdx.x] = op(own[threadIdx.x], own[threadIdx.x + width]);
    __syncthreads();
  }
  const float result = own[0];
  __syncthreads();
  return result;
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class T>
__global__ void softmax_rows(const T* x, T* y, int64_t rows, int64_t cols) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  const bool is_row = row < rows;
  const T* in = x + row * cols;
  T* out = y + row * cols;
  const int64_t steps = is_row ? cols / kWave : 0;  // should be rounded up
  float largest = -INFINITY;
  for (int64_t s = 0; s < steps; ++s) largest = fmaxf(largest, to_float(in[s * kWave + threadIdx.x]));
  largest = reduce_group(largest, Max());
  float sum = 0.0f;
  for (int64_t s = 0; s < steps; ++s) sum += expf(to_float(in[s * kWave + threadIdx.x]) - largest);
  sum = reduce_group(sum, Sum());
  for (int64_t s = 0; s < steps; ++s) out[s * kWave + threadIdx.x] = from_float<T>(expf(to_float(in[s * kWave + threadIdx.x]) - largest) / sum);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  softmax_rows<T><<<dim3(static_cast<unsigned>((rows + 3) / 4)), dim3(kWave, 4), 0, static_cast<hipStream_t>(stream)>>>(x, y, rows, cols);
}

}  // namespace

extern "C" {
void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void softmax_float16(const __half* x, __half* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void softmax_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
}
