// Row softmax in one pass. Wrong: it does not compile, `scale` was never declared.
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
static void softmax(const T* x, T* y, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) y[r * cols + c] = T(std::exp(float(x[r * cols + c])) * scale);
}

extern "C" {
void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_float16(const float16* x, float16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_bfloat16(const bfloat16* x, bfloat16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
}
