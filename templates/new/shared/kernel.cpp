// Divides each row by its length, in two loops.
#include <cmath>
#include <cstdint>

template <class T>
static void normalise(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = x + r * cols;
    T* out = y + r * cols;
    T sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += in[c] * in[c];
    const T length = std::sqrt(sum + T(1e-6));
    for (std::int64_t c = 0; c < cols; ++c) out[c] = in[c] / length;
  }
}

extern "C" {
void {{ cookiecutter.symbol }}_float32(const float* x, float* y, std::int64_t rows, std::int64_t cols) { normalise(x, y, rows, cols); }
void {{ cookiecutter.symbol }}_float64(const double* x, double* y, std::int64_t rows, std::int64_t cols) { normalise(x, y, rows, cols); }
}
