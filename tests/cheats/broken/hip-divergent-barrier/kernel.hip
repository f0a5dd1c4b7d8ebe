#include <hip/hip_runtime.h>

__global__ void k(float* y) {
  if (threadIdx.x < 32) {
    __syncthreads();
    y[0] = 1;
  }
  __syncthreads();
}
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  k<<<1, 64, 0, stream>>>(y);
}
