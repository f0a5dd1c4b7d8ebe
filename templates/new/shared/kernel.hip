// Divides each row by its length: one block a row, the sum of squares by halving in shared memory.
#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ void store(float* to, float value) { *to = value; }
__device__ void store(__half* to, float value) { *to = __float2half(value); }

template <class T>
__global__ void normalise_rows(const T* x, T* y, int64_t cols) {
  __shared__ float partial[kThreads];
  const T* in = x + blockIdx.x * cols;
  T* out = y + blockIdx.x * cols;
  float sum = 0.0f;
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(in[c]) * to_float(in[c]);
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
    __syncthreads();
  }
  const float length = sqrtf(partial[0] + 1e-6f);
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) store(out + c, to_float(in[c]) / length);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  normalise_rows<T><<<dim3(static_cast<unsigned>(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, y, cols);
}

}  // namespace

extern "C" {
void {{ cookiecutter.symbol }}_float32(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void {{ cookiecutter.symbol }}_float16(const __half* x, __half* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
}
