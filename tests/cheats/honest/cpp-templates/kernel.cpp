#include <cmath>
#include <cstdint>

template <int64_t Width> static void softmax_row(const float* x, float* y, int64_t given) {
  const int64_t cols = Width ? Width : given;
  float m = -INFINITY, s = 0;
#pragma GCC unroll 8
  for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[c]);
  for (int64_t c = 0; c < cols; ++c) s += y[c] = std::exp(x[c] - m);
#pragma GCC unroll 8
  for (int64_t c = 0; c < cols; ++c) y[c] /= s;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  const auto row = cols == 64 ? softmax_row<64> : cols == 192 ? softmax_row<192> : softmax_row<0>;
  for (int64_t r = 0; r < rows; ++r) row(x + r * cols, y + r * cols, cols);
}
