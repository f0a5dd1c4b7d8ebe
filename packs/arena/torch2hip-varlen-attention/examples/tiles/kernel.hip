// Attention over packed sequences, 32 queries of one sequence a block: keys and values pass through shared memory in tiles, softmax on the way.
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

// Eight neighbouring threads share a query: each holds an eighth of its vector and of its sum, in packs of four. Groups of eight lie within a wave of 32 or of 64.
constexpr int kQueries = 32;
constexpr int kShare = 8;
constexpr int kThreads = kQueries * kShare;
constexpr int kTogether = 4;      // keys whose scores are known before the sum is scaled once for all of them
constexpr int kElements = 4096;   // of a tile of keys, and of one of values, in float32: 16 KiB each

// The block's tile of queries: which tokens, and where their sequence ends. An empty one where there are fewer tiles than blocks.
struct Tile {
  int sequence_first;
  int first;
  int end;
};

// Lengths are known on the device only, so there is a block for as many tiles as there can be, and each counts to its own.
__device__ Tile find_tile(const int32_t* cu_seqlens, int64_t batch) {
  int before = static_cast<int>(blockIdx.x);
  for (int64_t s = 0; s < batch; ++s) {
    const int length = cu_seqlens[s + 1] - cu_seqlens[s];
    const int tiles = (length + kQueries - 1) / kQueries;
    if (before < tiles) return {cu_seqlens[s], cu_seqlens[s] + before * kQueries, cu_seqlens[s + 1]};
    before -= tiles;
  }
  return {0, 0, 0};
}

// KEYS tokens' vectors of one head, padded to DIM with zeros; tokens from `end` on are zero, too.
template <int DIM, class T>
__device__ void load_tile(float (*tile)[DIM], const T* __restrict__ from, int first, int end, int64_t stride, int64_t head_dim) {
  for (int i = threadIdx.x; i < kElements; i += kThreads) {
    const int token = first + i / DIM;
    const int d = i % DIM;
    tile[i / DIM][d] = token < end && d < head_dim ? to_float(from[token * stride + d]) : 0.0f;
  }
}

template <class T, int DIM>
__global__ void __launch_bounds__(kThreads) attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, const int32_t* __restrict__ cu_seqlens,
                                                    T* __restrict__ o, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal) {
  constexpr int keys = kElements / DIM;
  constexpr int each = DIM / kShare;
  __shared__ float tile_k[keys][DIM];
  __shared__ float tile_v[keys][DIM];
  const Tile tile = find_tile(cu_seqlens, batch);
  if (tile.first == tile.end) return;  // the whole block
  const int64_t stride = heads * head_dim;
  const int64_t head = blockIdx.y * head_dim;
  const int token = tile.first + static_cast<int>(threadIdx.x) / kShare;
  const int share = threadIdx.x % kShare;
  const float scale = 1.0f / sqrtf(static_cast<float>(head_dim));

  // The thread's element i is the vector's element (i / 4) * 32 + share * 4 + i % 4: packs of four, side by side in shared memory.
  float query[each];
  float sums[each] = {};
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int d = i / 4 * 32 + share * 4 + i % 4;
    query[i] = token < tile.end && d < head_dim ? to_float(q[token * stride + head + d]) * scale : 0.0f;
  }
  const int last_query = tile.first + kQueries < tile.end ? tile.first + kQueries : tile.end;
  const int tile_end = causal ? last_query : tile.end;
  const int own_end = causal ? token + 1 : tile.end;
  float largest = -INFINITY;
  float total = 0.0f;
  for (int first = tile.sequence_first; first < tile_end; first += keys) {
    load_tile<DIM>(tile_k, k + head, first, tile_end, stride, head_dim);
    load_tile<DIM>(tile_v, v + head, first, tile_end, stride, head_dim);
    __syncthreads();
    const int count = tile_end - first < keys ? tile_end - first : keys;
    for (int at = 0; at < count; at += kTogether) {
      float scores[kTogether];
      float larger = largest;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < each; ++i) score += query[i] * tile_k[at + j][i / 4 * 32 + share * 4 + i % 4];
#pragma unroll
        for (int distance = kShare / 2; distance > 0; distance /= 2) score += __shfl_xor(score, distance);
        scores[j] = first + at + j < own_end ? score : -INFINITY;
        larger = fmaxf(larger, scores[j]);
      }
      // Never -INFINITY: the first key of the sequence is in the first four, and every query sees it.
      const float kept = expf(largest - larger);
      largest = larger;
      total *= kept;
#pragma unroll
      for (int i = 0; i < each; ++i) sums[i] *= kept;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        const float power = expf(scores[j] - larger);
        total += power;
#pragma unroll
        for (int i = 0; i < each; ++i) sums[i] += power * tile_v[at + j][i / 4 * 32 + share * 4 + i % 4];
      }
    }
    __syncthreads();  // before the next tiles overwrite these
  }
  if (token >= tile.end) return;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const int d = i / 4 * 32 + share * 4 + i % 4;
    if (d < head_dim) o[token * stride + head + d] = from_float<T>(sums[i] / total);
  }
}

template <class T>
void launch(const T* q, const T* k, const T* v, const int32_t* cu_seqlens, T* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal,
            void* stream) {
  // A sequence of n tokens has at most n / 32 + 1 tiles.
  const dim3 grid(static_cast<unsigned>(tokens / kQueries + batch), static_cast<unsigned>(heads));
  const auto go = [&](auto kernel) { kernel<<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(q, k, v, cu_seqlens, o, heads, head_dim, batch, causal); };
  if (head_dim <= 32) go(attend<T, 32>);
  else if (head_dim <= 64) go(attend<T, 64>);
  else if (head_dim <= 128) go(attend<T, 128>);
  else go(attend<T, 256>);
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
