#include <hip/hip_runtime.h>

__global__ void rows_kernel(const float* x, float* y, int64_t cols) {
  const float* row = x + blockIdx.x * cols;
  float m = -INFINITY, s = 0;
  for (int64_t c = threadIdx.x; c < cols; c += warpSize) m = fmaxf(m, row[c]);
  for (int lanes = warpSize / 2; lanes; lanes /= 2) m = fmaxf(m, __shfl_xor(m, lanes));
  for (int64_t c = threadIdx.x; c < cols; c += warpSize) s += expf(row[c] - m);
  for (int lanes = warpSize / 2; lanes; lanes /= 2) s += __shfl_xor(s, lanes);
  for (int64_t c = threadIdx.x; c < cols; c += warpSize) y[blockIdx.x * cols + c] = expf(row[c] - m) / s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  rows_kernel<<<rows, warpSize, 0, stream>>>(x, y, cols);
}
