#include <cmath>
#include <cstdint>

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) {
}
