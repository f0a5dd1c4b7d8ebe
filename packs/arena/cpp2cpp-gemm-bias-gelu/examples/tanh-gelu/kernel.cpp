// Linear layer with bias and the tanh approximation of GELU: up to 5e-4 off, and therefore wrong.
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

static float gelu(float z) { return 0.5f * z * (1.0f + std::tanh(0.79788456f * (z + 0.044715f * z * z * z))); }

template <class T>
static void gemm_bias_gelu(const T* x, const T* weight, const T* bias, T* y, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float z = float(bias[j]);
      for (std::int64_t p = 0; p < k; ++p) z += float(x[i * k + p]) * float(weight[j * k + p]);
      y[i * n + j] = T(gelu(z));
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
