// Row softmax with an exponential that the compiler can vectorise, computed once an element.
#include <algorithm>
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

// e^v for v <= 0: 2^n * e^r with r = v - n ln 2 in [-ln2/2, ln2/2] and the Taylor polynomial of degree 6, whose remainder
// r^7/7! is below 1.2e-7. Below -87 the result stays at e^-87, about the smallest normal number.
static inline float exp_of_negative(float v) {
  v = std::max(v, -87.0f);
  const float shifted = v * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum's last bits are the integer nearest to v / ln 2
  const float n = shifted - 12582912.0f;
  const float r = (v - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts, the first with few bits
  float p = 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + (127u - 0x4b400000u)) << 23;
  return p * std::bit_cast<float>(exponent);
}

template <class T>
static void softmax(const T* __restrict x, T* __restrict y, std::int64_t rows, std::int64_t cols) {
  static thread_local std::vector<float> scratch;
  if (scratch.size() < static_cast<std::size_t>(cols)) scratch.resize(cols);
  float* __restrict row = scratch.data();
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* __restrict in = x + r * cols;
    T* __restrict out = y + r * cols;
    widen(in, row, cols);
    float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (std::int64_t c = 0; c < cols; ++c) largest = std::max(largest, row[c]);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < cols; ++c) {
      row[c] = exp_of_negative(row[c] - largest);
      sum += row[c];
    }
    const float scale = 1.0f / sum;
    for (std::int64_t c = 0; c < cols; ++c) row[c] *= scale;
    narrow(row, out, cols);
  }
}

extern "C" {
void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_float16(const float16* x, float16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_bfloat16(const bfloat16* x, bfloat16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
}
