#include <hip/hip_runtime.h>

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) { nonsense(); }
