// The logarithm of each row's softmax, one block a row: the largest element, the sum of exponentials, the differences.
#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = 256;

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ void store(float* to, float value) { *to = value; }
__device__ void store(__half* to, float value) { *to = __float2half(value); }

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
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
__global__ void log_softmax_rows(const T* x, T* y, int64_t cols) {
  const T* in = x + blockIdx.x * cols;
  T* out = y + blockIdx.x * cols;
  float largest = -INFINITY;
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) largest = fmaxf(largest, to_float(in[c]));
  largest = reduce_block(largest, Max());
  float sum = 0.0f;
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) sum += expf(to_float(in[c]) - largest);
  const float log_sum = logf(reduce_block(sum, Sum()));
  for (int64_t c = threadIdx.x; c < cols; c += kThreads) store(out + c, to_float(in[c]) - largest - log_sum);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  log_softmax_rows<T><<<dim3(static_cast<unsigned>(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, y, cols);
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
