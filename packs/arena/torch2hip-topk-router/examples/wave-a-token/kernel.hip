// Choice of experts, one wave a token: each lane keeps its own best expert, and only the lane whose best was chosen searches again.
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

// Works with waves of 32 and of 64 lanes: the warp size is asked at run time.
constexpr int kThreads = 256;

// An expert and its logit; none is worse than any.
struct Expert {
  float value;
  int number;  // -1: none
};

__device__ bool is_better(Expert a, Expert b) {
  if (a.number < 0 || b.number < 0) return b.number < 0 && a.number >= 0;
  return a.value > b.value || (a.value == b.value && a.number < b.number);
}

// The best of the lane's experts (lane, lane + warpSize, …) that is behind `last`.
template <class T>
__device__ Expert search(const T* row, int lane, int experts, Expert last) {
  Expert best = {0.0f, -1};
  for (int e = lane; e < experts; e += warpSize) {
    const Expert one = {to_float(row[e]), e};
    if ((last.number < 0 || is_better(last, one)) && is_better(one, best)) best = one;
  }
  return best;
}

__device__ Expert best_of_wave(Expert mine) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    const Expert other = {__shfl_xor(mine.value, distance), __shfl_xor(mine.number, distance)};
    if (is_better(other, mine)) mine = other;
  }
  return mine;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    route(const T* __restrict__ logits, int32_t* __restrict__ indices, float* __restrict__ weights, int64_t tokens, int64_t experts, int64_t k) {
  const int64_t token = static_cast<int64_t>(blockIdx.x) * (kThreads / warpSize) + threadIdx.x / warpSize;
  if (token >= tokens) return;  // the whole wave
  const int lane = threadIdx.x % warpSize;
  const T* row = logits + token * experts;
  Expert mine = search(row, lane, static_cast<int>(experts), Expert{0.0f, -1});
  float largest = 0.0f;
  float sum = 0.0f;
  for (int64_t i = 0; i < k; ++i) {
    const Expert best = best_of_wave(mine);
    if (i == 0) largest = best.value;
    const float power = expf(best.value - largest);
    sum += power;
    // The lane that is to divide them later writes them.
    if (lane == i % warpSize) {
      indices[token * k + i] = best.number;
      weights[token * k + i] = power;
    }
    if (mine.number == best.number) mine = search(row, lane, static_cast<int>(experts), best);
  }
  for (int64_t i = lane; i < k; i += warpSize) weights[token * k + i] /= sum;
}

// Enough blocks for 4 tokens each, as with waves of 64; with waves of 32 a block takes 8, and the later half of them finds none.
template <class T>
void launch(const T* logits, int32_t* indices, float* weights, int64_t tokens, int64_t experts, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((tokens + 3) / 4));
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
