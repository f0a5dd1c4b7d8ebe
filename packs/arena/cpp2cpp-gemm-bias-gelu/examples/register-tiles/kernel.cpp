// Linear layer with bias and GELU in tiles of 4 x 32 sums that stay in registers, over a float32 copy of weight in panels of 32 rows.
#include <algorithm>
#include <bit>
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

constexpr int kTileRows = 4;
constexpr int kTileCols = 32;

// erf as x times a polynomial in u = 2 (x / 3.9)^2 - 1, fitted by least squares at Chebyshev nodes; off by at most 2.6e-7 in float32.
// Beyond 3.9 it is 1 to within 4e-8. Branches and calls would keep the loop around it from vectorising.
static inline float erf_of(float x) {
  constexpr float most = 3.9f;
  constexpr float factors[] = {0.36258399f,  -0.18101145f, 0.13468845f,  -0.10951705f, 0.09071708f,  -0.07398642f, 0.05759249f, -0.04182497f,
                               0.03011819f,  -0.02208313f, 0.01201055f,  -0.00353634f, 0.00314041f,  -0.00402476f, 0.00154320f};
  const float z = std::min(std::max(x, -most), most);
  const float u = z * z * (2.0f / (most * most)) - 1.0f;
  float sum = factors[14];
  for (int i = 13; i >= 0; --i) sum = sum * u + factors[i];
  return z * sum;
}

// weight's rows [first, first + 32) as k rows of 32 float32, zero behind the last; `row` holds k float32.
template <class T>
static void pack_panel(const T* __restrict weight, float* __restrict panel, float* __restrict row, std::int64_t first, std::int64_t n, std::int64_t k) {
  for (int j = 0; j < kTileCols; ++j) {
    if (first + j < n) widen(weight + (first + j) * k, row, k);
    else std::fill(row, row + k, 0.0f);
    for (std::int64_t p = 0; p < k; ++p) panel[p * kTileCols + j] = row[p];
  }
}

// ROWS rows of y, from `wide`: as many rows of x in float32.
template <int ROWS, class T>
static void multiply_tile(const float* __restrict wide, const float* __restrict panel, const float* __restrict offsets, T* __restrict y, int width, std::int64_t n, std::int64_t k) {
  float sums[ROWS][kTileCols] = {};
  for (std::int64_t p = 0; p < k; ++p)
    for (int i = 0; i < ROWS; ++i) {
      const float left = wide[i * k + p];
      for (int j = 0; j < kTileCols; ++j) sums[i][j] += left * panel[p * kTileCols + j];
    }
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < kTileCols; ++j) {
      const float z = sums[i][j] + offsets[j];
      sums[i][j] = 0.5f * z * (1.0f + erf_of(z * 0.70710678f));
    }
    narrow(sums[i], y + i * n, width);
  }
}

template <class T>
static void gemm_bias_gelu(const T* x, const T* weight, const T* bias, T* y, std::int64_t m, std::int64_t n, std::int64_t k) {
  static thread_local std::vector<float> scratch;
  const std::size_t needed = static_cast<std::size_t>(m * k + k * kTileCols + k);
  if (scratch.size() < needed) scratch.resize(needed);
  float* wide = scratch.data();
  float* panel = wide + m * k;
  float* row = panel + k * kTileCols;
  widen(x, wide, m * k);
  for (std::int64_t first = 0; first < n; first += kTileCols) {
    const int width = static_cast<int>(std::min<std::int64_t>(kTileCols, n - first));
    float offsets[kTileCols] = {};
    widen(bias + first, offsets, width);
    pack_panel(weight, panel, row, first, n, k);
    std::int64_t i = 0;
    for (; i + kTileRows <= m; i += kTileRows) multiply_tile<kTileRows>(wide + i * k, panel, offsets, y + i * n + first, width, n, k);
    for (; i < m; ++i) multiply_tile<1>(wide + i * k, panel, offsets, y + i * n + first, width, n, k);
  }
}

extern "C" {
void gemm_bias_gelu_float32(const float* x, const float* weight, const float* bias, float* y, int64_t m, int64_t n, int64_t k) {
  gemm_bias_gelu(x, weight, bias, y, m, n, k);
}
void gemm_bias_gelu_float16(const float16* x, const float16* weight, const float16* bias, float16* y, int64_t m, int64_t n, int64_t k) {
  gemm_bias_gelu(x, weight, bias, y, m, n, k);
}
void gemm_bias_gelu_bfloat16(const bfloat16* x, const bfloat16* weight, const bfloat16* bias, bfloat16* y, int64_t m, int64_t n, int64_t k) {
  gemm_bias_gelu(x, weight, bias, y, m, n, k);
}
}
