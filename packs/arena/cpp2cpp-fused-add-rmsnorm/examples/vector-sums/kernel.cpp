// Residual addition and RMS norm with 64 partial sums of squares a row; the sum stays in float32 until both outputs are written.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__F16C__)
#include <immintrin.h>
#endif

// float16: g++ has _Float16 from release 12 on, clang++ and ARM compilers have __fp16; older ones convert by instruction.
#if defined(__clang__) || defined(__aarch64__)
using float16 = __fp16;
#elif __GNUC__ >= 12
using float16 = _Float16;
#else
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

// Between T and float32, n elements; of T = float16 eight at a time by instruction, which g++ 12 does not find itself.
template <class T>
static inline void widen(const T* __restrict from, float* __restrict to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = float(from[i]);
}

template <class T>
static inline void narrow(const float* __restrict from, T* __restrict to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = T(from[i]);
}

#if defined(__F16C__)
template <>
inline void widen(const float16* __restrict from, float* __restrict to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < n; ++i) to[i] = float(from[i]);
}

template <>
inline void narrow(const float* __restrict from, float16* __restrict to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; ++i) to[i] = float16(from[i]);
}
#endif

template <class T>
static void fused_add_rmsnorm(const T* __restrict x, T* __restrict residual, const T* __restrict weight, T* __restrict y, std::int64_t rows, std::int64_t cols, float eps) {
  constexpr int lanes = 64;
  static thread_local std::vector<float> scratch;
  if (scratch.size() < static_cast<std::size_t>(3 * cols)) scratch.resize(3 * cols);
  float* __restrict total = scratch.data();
  float* __restrict added = total + cols;
  float* __restrict factors = added + cols;
  widen(weight, factors, cols);
  for (std::int64_t r = 0; r < rows; ++r) {
    widen(residual + r * cols, total, cols);
    widen(x + r * cols, added, cols);
    float partial[lanes] = {};
    std::int64_t c = 0;
    for (; c + lanes <= cols; c += lanes)
      for (int i = 0; i < lanes; ++i) {
        total[c + i] += added[c + i];
        partial[i] += total[c + i] * total[c + i];
      }
    for (int i = 0; c + i < cols; ++i) {
      total[c + i] += added[c + i];
      partial[i] += total[c + i] * total[c + i];
    }
    narrow(total, residual + r * cols, cols);
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) partial[i] += partial[i + width];
    const float scale = 1.0f / std::sqrt(partial[0] / float(cols) + eps);
    for (c = 0; c < cols; ++c) total[c] *= scale * factors[c];
    narrow(total, y + r * cols, cols);
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
