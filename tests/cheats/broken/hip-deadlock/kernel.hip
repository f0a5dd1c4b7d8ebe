#include <hip/hip_runtime.h>

__global__ void k(float* y) {
  float v = y[0];
  if (threadIdx.x == 0) v = __shfl_sync(~0ull, v, 1);
  else __syncthreads();
  y[0] = v;
}
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  k<<<1, 64, 0, stream>>>(y);
}
