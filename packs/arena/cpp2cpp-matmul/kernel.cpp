// Matrix product: one dot product an element, down b's columns.
#include <bit>
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
static void matmul(const T* a, const T* b, T* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (std::int64_t p = 0; p < k; ++p) sum += float(a[i * k + p]) * float(b[p * n + j]);
      c[i * n + j] = T(sum);
    }
}

extern "C" {
void matmul_float32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
void matmul_float16(const float16* a, const float16* b, float16* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
void matmul_bfloat16(const bfloat16* a, const bfloat16* b, bfloat16* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
}
