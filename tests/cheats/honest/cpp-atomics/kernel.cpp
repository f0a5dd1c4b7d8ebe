#include <cmath>
#include <cstdint>
#include <atomic>

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float* out = y + r * cols;
    float m = -INFINITY;
    for (int64_t c = 0; c < cols; ++c) m = std::fmax(m, row[c]);
    std::atomic<float> sum{0};
#pragma omp parallel for num_threads(2)
    for (int64_t start = 0; start < cols; start += 32) {
      float part = 0;
      for (int64_t c = start; c < cols && c < start + 32; ++c) part += out[c] = std::exp(row[c] - m);
      sum.fetch_add(part);
    }
    for (int64_t c = 0; c < cols; ++c) out[c] /= sum.load();
  }
}
