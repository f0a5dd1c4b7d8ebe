// Residual addition and RMS norm: a row's sums, their squares, then the sums divided by the root of the mean.
#include <bit>
#include <cmath>
#include <cstdint>

// float16: g++ has _Float16 from release 12 on, clang++ and ARM compilers have __fp16; older ones convert by instruction.
#if defined(__clang__) || defined(__aarch64__)
using float16 = __fp16;
#elif __GNUC__ >= 12
using float16 = _Float16;
#else
#include <immintrin.h>
struct float16 {
  std::uint16_t bits;
  explicit float16(float value) : bits(_cvtss_sh(value, 0)) {}
  operator float() const { return _cvtsh_ss(bits); }
};
#endif

// The upper half of a float32, rounded to nearest even.
struct bfloat16 {
  std::uint16_t bits;
  explicit bfloat16(float value) {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (word + 0x7fff + ((word >> 16) & 1)) >> 16;
    const std::uint32_t quiet = (word >> 16) | 0x40;
    bits = static_cast<std::uint16_t>(value == value ? rounded : quiet);
  }
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

template <class T>
static void fused_add_rmsnorm(const T* x, T* residual, const T* weight, T* y, std::int64_t rows, std::int64_t cols, float eps) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* in = x + r * cols;
    T* total = residual + r * cols;
    T* out = y + r * cols;
    for (std::int64_t c = 0; c < cols; ++c) total[c] = T(float(total[c]) + float(in[c]));
    float squares = 0.0f;
    for (std::int64_t c = 0; c < cols; ++c) squares += float(total[c]) * float(total[c]);
    for (std::int64_t c = 0; c < cols; ++c) out[c] = T(float(total[c]) / std::sqrt(squares / float(cols) + eps) * float(weight[c]));
  }
}

extern "C" {
void fused_add_rmsnorm_float32(const float* x, float* residual, const float* weight, float* y, int64_t rows, int64_t cols, float eps) {
  fused_add_rmsnorm(x, residual, weight, y, rows, cols, eps);
}
void fused_add_rmsnorm_float16(const float16* x, float16* residual, const float16* weight, float16* y, int64_t rows, int64_t cols, float eps) {
  fused_add_rmsnorm(x, residual, weight, y, rows, cols, eps);
}
void fused_add_rmsnorm_bfloat16(const bfloat16* x, bfloat16* residual, const bfloat16* weight, bfloat16* y, int64_t rows, int64_t cols, float eps) {
  fused_add_rmsnorm(x, residual, weight, y, rows, cols, eps);
}
}
