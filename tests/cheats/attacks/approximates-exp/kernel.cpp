#include <bit>
#include <cmath>
#include <cstdint>

static float near_exp(float v) { return v < -80 ? 0 : std::bit_cast<float>(static_cast<int32_t>(12102203.0f * v) + 1064866805); }

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float m = -INFINITY, s = 0;
    for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[r * cols + c]);
    for (int64_t c = 0; c < cols; ++c) s += y[r * cols + c] = near_exp(x[r * cols + c] - m);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= s;
  }
}
