// Row sums, one block a row: strided partial sums, then halving in shared memory.
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

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// One value from all threads of the block, by halving in shared memory.
template <class Op>
__device__ float reduce_block(float value, Op op) {
  __shared__ float partial[kThreads];
  const int thread = threadIdx.x;
  partial[thread] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (thread < width) partial[thread] = op(partial[thread], partial[thread + width]);
    __syncthreads();
  }
  const float result = partial[0];
  __syncthreads();  // before the next reduction overwrites it
  return result;
}

template <class T>
__global__ void sum_rows(const T* x, T* y, int64_t cols) {
  const T* row = x + blockIdx.x * cols;
  float sum = 0.0f;
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) sum += to_float(row[c]);
  sum = reduce_block(sum, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = from_float<T>(sum);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  sum_rows<T><<<dim3(static_cast<unsigned>(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, y, cols);
}

}  // namespace

extern "C" {
void reduce_sum_float32(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void reduce_sum_float16(const __half* x, __half* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void reduce_sum_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
}
