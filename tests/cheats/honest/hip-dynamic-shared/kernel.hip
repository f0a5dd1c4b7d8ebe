#include <hip/hip_runtime.h>

__global__ void rows_kernel(const float* x, float* y, int64_t cols) {
  extern __shared__ float row[];
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) row[c] = x[blockIdx.x * cols + c];
  __syncthreads();
  float m = -INFINITY, s = 0;
  for (int64_t c = 0; c < cols; ++c) m = fmaxf(m, row[c]);
  for (int64_t c = 0; c < cols; ++c) s += expf(row[c] - m);
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  rows_kernel<<<rows, 32, cols * sizeof(float), stream>>>(x, y, cols);
}
