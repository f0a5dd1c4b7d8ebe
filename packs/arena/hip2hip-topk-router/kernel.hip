// Choice of experts, one thread a token: k searches for the best expert behind the one found before.
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include <cstdint>

namespace {

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__hip_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T from_float(float value);
template <>
__device__ float from_float<float>(float value) { return value; }
template <>
__device__ __half from_float<__half>(float value) { return __float2half(value); }
template <>
__device__ __hip_bfloat16 from_float<__hip_bfloat16>(float value) { return __float2bfloat16(value); }

constexpr int kThreads = 64;

template <class T>
__global__ void route(const T* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k) {
  const int64_t token = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= tokens) return;
  const T* row = logits + token * experts;
  int64_t last = -1;
  float largest = 0.0f;
  float sum = 0.0f;
  for (int64_t i = 0; i < k; ++i) {
    // Those behind `last` are smaller, or equal and of a higher number.
    int64_t best = -1;
    for (int64_t e = 0; e < experts; ++e) {
      const bool is_left = last < 0 || to_float(row[e]) < to_float(row[last]) || (to_float(row[e]) == to_float(row[last]) && e > last);
      if (is_left && (best < 0 || to_float(row[e]) > to_float(row[best]))) best = e;
    }
    if (i == 0) largest = to_float(row[best]);
    const float power = expf(to_float(row[best]) - largest);
    indices[token * k + i] = static_cast<int32_t>(best);
    weights[token * k + i] = power;
    sum += power;
    last = best;
  }
  for (int64_t i = 0; i < k; ++i) weights[token * k + i] /= sum;
}

template <class T>
void launch(const T* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((tokens + kThreads - 1) / kThreads));
  route<T><<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(logits, indices, weights, tokens, experts, k);
}

}  // namespace

extern "C" {
void topk_router_float32(const float* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k, void* stream) {
  launch(logits, indices, weights, tokens, experts, k, stream);
}
void topk_router_float16(const __half* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k, void* stream) {
  launch(logits, indices, weights, tokens, experts, k, stream);
}
void topk_router_bfloat16(const __hip_bfloat16* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k, void* stream) {
  launch(logits, indices, weights, tokens, experts, k, stream);
}
}
