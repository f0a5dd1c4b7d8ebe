// Matrix product in tiles of 4 x 32 sums that stay in registers, over a float32 copy of b in panels of 32 columns.
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

// b's columns [first, first + 32) as k rows of 32 float32, zero behind the last column.
template <class T>
static void pack_panel(const T* __restrict b, float* __restrict panel, std::int64_t first, std::int64_t n, std::int64_t k) {
  const int width = static_cast<int>(std::min<std::int64_t>(kTileCols, n - first));
  for (std::int64_t p = 0; p < k; ++p) {
    const T* __restrict row = b + p * n + first;
    float* __restrict to = panel + p * kTileCols;
    if (width == kTileCols) {
      widen(row, to, kTileCols);
    } else {
      for (int j = 0; j < kTileCols; ++j) to[j] = j < width ? float(row[j]) : 0.0f;
    }
  }
}

template <int ROWS, class T>
static void multiply_tile(const T* __restrict a, const float* __restrict panel, T* __restrict c, int width, std::int64_t n, std::int64_t k) {
  float sums[ROWS][kTileCols] = {};
  for (std::int64_t p = 0; p < k; ++p)
    for (int i = 0; i < ROWS; ++i) {
      const float left = float(a[i * k + p]);
      for (int j = 0; j < kTileCols; ++j) sums[i][j] += left * panel[p * kTileCols + j];
    }
  for (int i = 0; i < ROWS; ++i) narrow(sums[i], c + i * n, width);
}

template <class T>
static void matmul(const T* a, const T* b, T* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  static thread_local std::vector<float> panel;
  if (panel.size() < static_cast<std::size_t>(k * kTileCols)) panel.resize(k * kTileCols);
  for (std::int64_t first = 0; first < n; first += kTileCols) {
    const int width = static_cast<int>(std::min<std::int64_t>(kTileCols, n - first));
    pack_panel(b, panel.data(), first, n, k);
    std::int64_t i = 0;
    for (; i + kTileRows <= m; i += kTileRows) multiply_tile<kTileRows>(a + i * k, panel.data(), c + i * n + first, width, n, k);
    for (; i < m; ++i) multiply_tile<1>(a + i * k, panel.data(), c + i * n + first, width, n, k);
  }
}

extern "C" {
void matmul_float32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
void matmul_float16(const float16* a, const float16* b, float16* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
void matmul_bfloat16(const bfloat16* a, const bfloat16* b, bfloat16* c, int64_t m, int64_t n, int64_t k) { matmul(a, b, c, m, n, k); }
}
