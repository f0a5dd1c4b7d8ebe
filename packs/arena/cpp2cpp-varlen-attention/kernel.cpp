// Attention over packed sequences: for each sequence, head and token all scores, their softmax, then the weighted sum of values.
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
static void varlen_attention(const T* q, const T* k, const T* v, const std::int32_t* cu_seqlens, T* o, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim, std::int64_t batch,
                             std::int32_t causal) {
  std::vector<float> scores(tokens);
  std::vector<float> sums(head_dim);
  const std::int64_t stride = heads * head_dim;
  for (std::int64_t s = 0; s < batch; ++s)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t t = cu_seqlens[s]; t < cu_seqlens[s + 1]; ++t) {
        const std::int64_t first = cu_seqlens[s];
        const std::int64_t end = causal ? t + 1 : cu_seqlens[s + 1];
        float largest = -INFINITY;
        for (std::int64_t p = first; p < end; ++p) {
          float score = 0.0f;
          for (std::int64_t d = 0; d < head_dim; ++d) score += float(q[t * stride + h * head_dim + d]) * float(k[p * stride + h * head_dim + d]);
          scores[p] = score / std::sqrt(float(head_dim));
          largest = std::max(largest, scores[p]);
        }
        float total = 0.0f;
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (std::int64_t p = first; p < end; ++p) {
          const float weight = std::exp(scores[p] - largest);
          total += weight;
          for (std::int64_t d = 0; d < head_dim; ++d) sums[d] += weight * float(v[p * stride + h * head_dim + d]);
        }
        for (std::int64_t d = 0; d < head_dim; ++d) o[t * stride + h * head_dim + d] = T(sums[d] / total);
      }
}

extern "C" {
void varlen_attention_float32(const float* q, const float* k, const float* v, const int32_t* cu_seqlens, float* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal) {
  varlen_attention(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal);
}
void varlen_attention_float16(const float16* q, const float16* k, const float16* v, const int32_t* cu_seqlens, float16* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal) {
  varlen_attention(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal);
}
void varlen_attention_bfloat16(const bfloat16* q, const bfloat16* k, const bfloat16* v, const int32_t* cu_seqlens, bfloat16* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal) {
  varlen_attention(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal);
}
}
