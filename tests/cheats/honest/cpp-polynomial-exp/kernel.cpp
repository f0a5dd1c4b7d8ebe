#include <cmath>
#include <cstdint>
#include <cstring>

static float fast_exp(float v) {
  if (v < -87.0f) return 0.0f;
  const float n = std::nearbyint(v * 1.44269504f);
  const float f = (v - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float* out = y + r * cols;
    float m = -INFINITY, s = 0;
    for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, row[c]);
    for (int64_t c = 0; c < cols; ++c) s += out[c] = fast_exp(row[c] - m);
    for (int64_t c = 0; c < cols; ++c) out[c] /= s;
  }
}
