#include <cmath>
#include <cstdint>

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  volatile int64_t n = 0;
  for (;;) n = n + 1;
}
