#include <cmath>
#include <cstdint>

static float sum(const float* v, int64_t n) {
  if (n == 1) return v[0];
  return sum(v, n / 2) + sum(v + n / 2, n - n / 2);
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float* out = y + r * cols;
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, row[c]);
    for (int64_t c = 0; c < cols; ++c) out[c] = std::exp(row[c] - m);
    const float s = sum(out, cols);
    for (int64_t c = 0; c < cols; ++c) out[c] /= s;
  }
}
