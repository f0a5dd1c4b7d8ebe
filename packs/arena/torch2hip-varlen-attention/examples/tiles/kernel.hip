// Attention over packed sequences, a tile of one sequence's queries a block: keys and values pass through shared memory in tiles, softmax on the way.
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

// Eight neighbouring threads share their queries: each holds an eighth of the vectors and of the sums, in packs of four. Groups of eight lie within a wave of 32 or of 64.
constexpr int kGroups = 32;
constexpr int kShare = 8;
constexpr int kThreads = kGroups * kShare;
constexpr int kTogether = 4;     // keys whose scores are known before the sums are scaled once for all of them
constexpr int kElements = 4096;  // of a tile of keys, and of one of values, in float32: 16 KiB each

// Queries of a group, whose scores share what is read from shared memory; as many as registers hold.
template <int DIM>
constexpr int kEach = DIM <= 64 ? 4 : 2;

// A block's queries: `first` up to `end`, of the sequence that starts and ends there. Empty where there are fewer tiles than blocks.
struct Tile {
  int first;
  int end;
  int sequence_first;
  int sequence_end;
};

// Lengths are known on the device only, so there is a block for as many tiles as there can be, and each counts to its own.
template <int QUERIES>
__device__ Tile find_tile(const int32_t* cu_seqlens, int64_t batch) {
  int before = static_cast<int>(blockIdx.x);
  for (int64_t s = 0; s < batch; ++s) {
    const int start = cu_seqlens[s];
    const int end = cu_seqlens[s + 1];
    const int tiles = (end - start + QUERIES - 1) / QUERIES;
    if (before < tiles) {
      const int first = start + before * QUERIES;
      return {first, first + QUERIES < end ? first + QUERIES : end, start, end};
    }
    before -= tiles;
  }
  return {0, 0, 0, 0};
}

// A tile of tokens' vectors of one head, padded to DIM with zeros; tokens from `end` on are zero, too.
template <int DIM, class T>
__device__ void load_tile(float4 (*tile)[DIM / 4], const T* __restrict__ from, int first, int end, int64_t stride, int64_t head_dim) {
  float* to = &tile[0][0].x;
  for (int i = threadIdx.x; i < kElements; i += kThreads) {
    const int token = first + i / DIM;
    const int d = i % DIM;
    to[i] = token < end && d < head_dim ? to_float(from[token * stride + d]) : 0.0f;
  }
}

template <class T, int DIM>
__global__ void __launch_bounds__(kThreads) attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, const int32_t* __restrict__ cu_seqlens,
                                                    T* __restrict__ o, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal) {
  constexpr int keys = kElements / DIM;
  constexpr int each = kEach<DIM>;
  constexpr int packs = DIM / kShare / 4;
  __shared__ float4 tile_k[keys][DIM / 4];
  __shared__ float4 tile_v[keys][DIM / 4];
  const Tile tile = find_tile<kGroups * each>(cu_seqlens, batch);
  if (tile.first == tile.end) return;  // the whole block
  const int64_t stride = heads * head_dim;
  const int64_t head = blockIdx.y * head_dim;
  const int first_query = tile.first + static_cast<int>(threadIdx.x) / kShare;  // and every 32nd after it
  const int share = threadIdx.x % kShare;
  const float scale = 1.0f / sqrtf(static_cast<float>(head_dim));

  // Pack i of the thread is pack i * 8 + share of the vector: the eight read 128 neighbouring bytes of shared memory.
  float query[each][packs][4];
  float sums[each][packs][4] = {};
  float largest[each];
  float total[each];
#pragma unroll
  for (int r = 0; r < each; ++r) {
    const int token = first_query + r * kGroups;
    largest[r] = -INFINITY;
    total[r] = 0.0f;
#pragma unroll
    for (int i = 0; i < packs; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int d = (i * kShare + share) * 4 + j;
        query[r][i][j] = token < tile.end && d < head_dim ? to_float(q[token * stride + head + d]) * scale : 0.0f;
      }
  }
  const int end = causal ? tile.end : tile.sequence_end;
  for (int first = tile.sequence_first; first < end; first += keys) {
    load_tile<DIM>(tile_k, k + head, first, end, stride, head_dim);
    load_tile<DIM>(tile_v, v + head, first, end, stride, head_dim);
    __syncthreads();
    const int count = end - first < keys ? end - first : keys;
    for (int at = 0; at < count; at += kTogether) {
      float scores[each][kTogether] = {};
#pragma unroll
      for (int p = 0; p < kTogether; ++p)
#pragma unroll
        for (int i = 0; i < packs; ++i) {
          const float4 key = tile_k[at + p][i * kShare + share];
#pragma unroll
          for (int r = 0; r < each; ++r)
            scores[r][p] += query[r][i][0] * key.x + query[r][i][1] * key.y + query[r][i][2] * key.z + query[r][i][3] * key.w;
        }
#pragma unroll
      for (int r = 0; r < each; ++r) {
        const int own_end = causal ? first_query + r * kGroups + 1 : end;
        float larger = largest[r];
#pragma unroll
        for (int p = 0; p < kTogether; ++p) {
#pragma unroll
          for (int distance = kShare / 2; distance > 0; distance /= 2) scores[r][p] += __shfl_xor(scores[r][p], distance);
          if (first + at + p >= own_end) scores[r][p] = -INFINITY;
          larger = fmaxf(larger, scores[r][p]);
        }
        // Never -INFINITY: the first key of the sequence is in the first four, and every query sees it.
        const float kept = expf(largest[r] - larger);
        largest[r] = larger;
        total[r] *= kept;
#pragma unroll
        for (int p = 0; p < kTogether; ++p) {
          scores[r][p] = expf(scores[r][p] - larger);
          total[r] += scores[r][p];
        }
#pragma unroll
        for (int i = 0; i < packs; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[r][i][j] *= kept;
      }
#pragma unroll
      for (int p = 0; p < kTogether; ++p)
#pragma unroll
        for (int i = 0; i < packs; ++i) {
          const float4 value = tile_v[at + p][i * kShare + share];
#pragma unroll
          for (int r = 0; r < each; ++r) {
            sums[r][i][0] += scores[r][p] * value.x;
            sums[r][i][1] += scores[r][p] * value.y;
            sums[r][i][2] += scores[r][p] * value.z;
            sums[r][i][3] += scores[r][p] * value.w;
          }
        }
    }
    __syncthreads();  // before the next tiles overwrite these
  }
#pragma unroll
  for (int r = 0; r < each; ++r) {
    const int token = first_query + r * kGroups;
#pragma unroll
    for (int i = 0; i < packs; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int d = (i * kShare + share) * 4 + j;
        if (token < tile.end && d < head_dim) o[token * stride + head + d] = from_float<T>(sums[r][i][j] / total[r]);
      }
  }
}

template <class T, int DIM>
void launch_for(const T* q, const T* k, const T* v, const int32_t* cu_seqlens, T* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal,
                hipStream_t stream) {
  // A sequence of n tokens has at most n / queries + 1 tiles.
  const dim3 grid(static_cast<unsigned>(tokens / (kGroups * kEach<DIM>) + batch), static_cast<unsigned>(heads));
  attend<T, DIM><<<grid, dim3(kThreads), 0, stream>>>(q, k, v, cu_seqlens, o, heads, head_dim, batch, causal);
}

template <class T>
void launch(const T* q, const T* k, const T* v, const int32_t* cu_seqlens, T* o, int64_t tokens, int64_t heads, int64_t head_dim, int64_t batch, int32_t causal,
            void* stream) {
  const auto function = head_dim <= 32 ? launch_for<T, 32> : head_dim <= 64 ? launch_for<T, 64> : head_dim <= 128 ? launch_for<T, 128> : launch_for<T, 256>;
  function(q, k, v, cu_seqlens, o, tokens, heads, head_dim, batch, causal, static_cast<hipStream_t>(stream));
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
