// Choice of experts: k searches a token for the largest logit that is not taken yet.
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

template <class T>
static void topk_router(const T* logits, std::int32_t* indices, float* weights, std::int64_t tokens, std::int64_t experts, std::int64_t k) {
  std::vector<bool> taken(experts);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const T* row = logits + t * experts;
    std::fill(taken.begin(), taken.end(), false);
    float sum = 0.0f;
    for (std::int64_t i = 0; i < k; ++i) {
      std::int64_t best = -1;
      for (std::int64_t e = 0; e < experts; ++e)
        if (!taken[e] && (best < 0 || float(row[e]) > float(row[best]))) best = e;
      taken[best] = true;
      indices[t * k + i] = static_cast<std::int32_t>(best);
      weights[t * k + i] = std::exp(float(row[best]) - float(row[indices[t * k]]));
      sum += weights[t * k + i];
    }
    for (std::int64_t i = 0; i < k; ++i) weights[t * k + i] /= sum;
  }
}

extern "C" {
void topk_router_float32(const float* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k) {
  topk_router(logits, indices, weights, tokens, experts, k);
}
void topk_router_float16(const float16* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k) {
  topk_router(logits, indices, weights, tokens, experts, k);
}
void topk_router_bfloat16(const bfloat16* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k) {
  topk_router(logits, indices, weights, tokens, experts, k);
}
}
