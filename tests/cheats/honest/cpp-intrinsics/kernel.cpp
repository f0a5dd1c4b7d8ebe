#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static float highest(const float* x, int64_t cols) {
  float m = -INFINITY;
  for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, x[c]);
  return m;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static float highest_avx2(const float* x, int64_t cols) {
  __m256 m = _mm256_set1_ps(-INFINITY);
  int64_t c = 0;
  for (; c + 8 <= cols; c += 8) m = _mm256_max_ps(m, _mm256_loadu_ps(x + c));
  float lanes[8];
  _mm256_storeu_ps(lanes, m);
  return std::fmax(highest(lanes, 8), highest(x + c, cols - c));
}
#endif

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  auto find = highest;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) find = highest_avx2;
#endif
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float* out = y + r * cols;
    float m = find(row, cols), s = 0;
    for (int64_t c = 0; c < cols; ++c) s += out[c] = std::exp(row[c] - m);
    for (int64_t c = 0; c < cols; ++c) out[c] /= s;
  }
}
