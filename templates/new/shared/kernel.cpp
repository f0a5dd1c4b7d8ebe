// The logarithm of each row's softmax: the largest element, the sum of exponentials, the differences; one loop each.
#include <algorithm>
#include <cmath>
#include <cstdint>

template <class T>
static void log_softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = x + r * cols;
    T* out = y + r * cols;
    const T largest = *std::max_element(in, in + cols);
    T sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += std::exp(in[c] - largest);
    const T log_sum = std::log(sum);
    for (std::int64_t c = 0; c < cols; ++c) out[c] = in[c] - largest - log_sum;
  }
}

extern "C" {
void {{ cookiecutter.symbol }}_float32(const float* x, float* y, std::int64_t rows, std::int64_t cols) { log_softmax(x, y, rows, cols); }
void {{ cookiecutter.symbol }}_float64(const double* x, double* y, std::int64_t rows, std::int64_t cols) { log_softmax(x, y, rows, cols); }
}
