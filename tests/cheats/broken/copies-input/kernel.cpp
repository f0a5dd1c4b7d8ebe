#include <cmath>
#include <cstdint>

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) y[i] = x[i];
}
