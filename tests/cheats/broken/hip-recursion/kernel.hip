#include <hip/hip_runtime.h>

__device__ __noinline__ int down(volatile int* p, int n) {
  volatile int frame[64];
  frame[n % 64] = p[0];
  return n == 0 ? 0 : down(frame, n - 1) + frame[n % 64];
}
__global__ void k(float* y) {
  volatile int one = 1;
  y[0] = down(&one, 10000000);
}
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  k<<<1, 1, 0, stream>>>(y);
}
