#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

static void softmax_row(const float* x, float* y, int64_t cols) {
  float m = -INFINITY, s = 0;
  for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[c]);
  for (int64_t c = 0; c < cols; ++c) s += y[c] = std::exp(x[c] - m);
  for (int64_t c = 0; c < cols; ++c) y[c] /= s;
}

static void narrow(const float* x, float* y, int64_t cols) {
  if (cols > 100) throw std::length_error("too wide");
  softmax_row(x, y, cols);
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    try {
      narrow(x + r * cols, y + r * cols, cols);
    } catch (const std::length_error& error) {
      if (r == 0) std::fprintf(stderr, "%s\n", error.what());
      softmax_row(x + r * cols, y + r * cols, cols);
    }
  }
}
