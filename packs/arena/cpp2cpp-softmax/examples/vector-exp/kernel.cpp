// Row softmax with an exponential that the compiler can vectorise, computed once an element.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

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
    float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (std::int64_t c = 0; c < cols; ++c) {
      row[c] = float(in[c]);
      largest = std::max(largest, row[c]);
    }
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < cols; ++c) {
      row[c] = exp_of_negative(row[c] - largest);
      sum += row[c];
    }
    const float scale = 1.0f / sum;
#pragma omp simd
    for (std::int64_t c = 0; c < cols; ++c) out[c] = T(row[c] * scale);
  }
}

extern "C" {
void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_float16(const float16* x, float16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
void softmax_bfloat16(const bfloat16* x, bfloat16* y, int64_t rows, int64_t cols) { softmax(x, y, rows, cols); }
}
