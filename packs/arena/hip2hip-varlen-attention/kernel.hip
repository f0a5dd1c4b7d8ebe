// Attention over packed sequences, one block a token and head: 128 scores at a time, one a thread, then their share of the weighted sum.
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

constexpr int kThreads = 128;
constexpr int kLongest = 256;  // the greatest head_dim

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// One value from all threads of the block, by halving in shared memory.
template <class Op>
__device__ float reduce_block(float value, Op op) {
  __shared__ float partial[kThreads];
  const int thread = threadIdx.x;
  partial[thread] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (thread < width) partial[thread] = op(partial[thread], partial[thread + width]);
    __syncthreads();
  }
  const float result = partial[0];
  __syncthreads();  // before the next reduction overwrites it
  return result;
}

template <class T>
__global__ void attend(const T* q, const T* k, const T* v, const int32_t* cu_seqlens, T* o, int64_t heads, int64_t head_dim, int32_t causal) {
  __shared__ float query[kLongest];
  __shared__ float powers[kThreads];
  const int64_t token = blockIdx.x;
  const int64_t stride = heads * head_dim;
  const int64_t head = blockIdx.y * head_dim;
  const float scale = 1.0f / sqrtf(static_cast<float>(head_dim));
  for (int d = threadIdx.x; d < head_dim; d += kThreads) query[d] = to_float(q[token * stride + head + d]) * scale;
  __syncthreads();

  int sequence = 0;
  while (cu_seqlens[sequence + 1] <= token) ++sequence;
  const int64_t end = causal ? token + 1 : cu_seqlens[sequence + 1];
  float largest = -INFINITY;
  float total = 0.0f;
  float sums[kLongest / kThreads] = {};
  for (int64_t first = cu_seqlens[sequence]; first < end; first += kThreads) {
    const int64_t other = first + threadIdx.x;
    float score = -INFINITY;
    if (other < end) {
      score = 0.0f;
      for (int d = 0; d < head_dim; ++d) score += query[d] * to_float(k[other * stride + head + d]);
    }
    const float larger = fmaxf(largest, reduce_block(score, Max()));
    const float kept = expf(largest - larger);
    powers[threadIdx.x] = expf(score - larger);
    total = total * kept + reduce_block(powers[threadIdx.x], Sum());
    const int count = end - first < kThreads ? static_cast<int>(end - first) : kThreads;
    for (int i = 0; i < kLongest / kThreads; ++i) {
      const int d = i * kThreads + threadIdx.x;
      if (d >= head_dim) break;
      sums[i] *= kept;
      for (int p = 0; p < count; ++p) sums[i] += powers[p] * to_float(v[(first + p) * stride + head + d]);
    }
    largest = larger;
    __syncthreads();  // before the next scores overwrite these powers
  }
  for (int i = 0; i < kLongest / kThreads; ++i) {
    const int d = i * kThreads + threadIdx.x;
    if (d < head_dim) o[token * stride + head + d] = from_float<T>(sums[i] / total);
  }
}

template <class T>
void launch(const T* q, const T* k, const T* v, const int32_t* cu_seqlens, T* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal,
            void* stream) {
  const dim3 grid(static_cast<unsigned>(tokens), static_cast<unsigned>(heads));
  attend<T><<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(q, k, v, cu_seqlens, o, heads, head_dim, causal);
}

}  // namespace

extern "C" {
void varlen_attention_float32(const float* q, const float* k, const float* v, const int32_t* cu_seqlens, float* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal, void* stream) {
  launch(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal, stream);
}
void varlen_attention_float16(const __half* q, const __half* k, const __half* v, const int32_t* cu_seqlens, __half* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal, void* stream) {
  launch(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal, stream);
}
void varlen_attention_bfloat16(const __hip_bfloat16* q, const __hip_bfloat16* k, const __hip_bfloat16* v, const int32_t* cu_seqlens, __hip_bfloat16* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal, void* stream) {
  launch(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal, stream);
}
}
