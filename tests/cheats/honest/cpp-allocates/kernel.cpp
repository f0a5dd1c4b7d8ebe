#include <cmath>
#include <cstdint>
#include <alloca.h>
#include <cstdlib>
#include <cstring>

static void softmax_row(const float* x, float* y, int64_t cols) {
  float m = -INFINITY, s = 0;
  for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[c]);
  for (int64_t c = 0; c < cols; ++c) s += y[c] = std::exp(x[c] - m);
  for (int64_t c = 0; c < cols; ++c) y[c] /= s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  const size_t bytes = (cols * sizeof(float) + 63) / 64 * 64;
  auto* work = static_cast<float*>(std::aligned_alloc(64, bytes));
  auto* copy = static_cast<float*>(alloca(bytes));
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(copy, x + r * cols, cols * sizeof(float));
    softmax_row(copy, work, cols);
    std::memcpy(y + r * cols, work, cols * sizeof(float));
  }
  std::free(work);
}
