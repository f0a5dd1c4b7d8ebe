#include <hip/hip_runtime.h>

__global__ void rows_kernel(const float* x, float* y, int64_t cols) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const float* row = x + blockIdx.x * cols;
  float m = -INFINITY, s = 0;
  for (int64_t c = 0; c < cols; ++c) m = fmaxf(m, row[c]);
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) s += expf(row[c] - m);
  atomicAdd(&sum, s);
  __syncthreads();
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / sum;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  rows_kernel<<<rows, 32, 0, stream>>>(x, y, cols);
}
