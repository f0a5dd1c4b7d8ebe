// Matrix product in tiles of 64 x 64: operands pass through shared memory, each thread keeps 4 x 4 sums in registers.
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

constexpr int kTile = 64;   // rows and columns of c a block
constexpr int kDepth = 16;  // columns of a, rows of b a step
constexpr int kEach = 4;    // rows and columns of c a thread
constexpr int kSide = kTile / kEach;
constexpr int kThreads = kSide * kSide;

template <class T>
__global__ void __launch_bounds__(kThreads) multiply(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int64_t m, int64_t n, int64_t k) {
  // a's tile lies transposed, so that a thread's four values are neighbours; one column more keeps its writes off the same bank.
  __shared__ float tile_a[kDepth][kTile + 4];
  __shared__ float tile_b[kDepth][kTile];
  const int thread = threadIdx.x;
  const int own_row = thread / kSide * kEach;
  const int own_col = thread % kSide * kEach;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  float sums[kEach][kEach] = {};
  for (int64_t first = 0; first < k; first += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += kThreads) {
      const int64_t row = first_row + i / kDepth;
      const int64_t p = first + i % kDepth;
      tile_a[i % kDepth][i / kDepth] = row < m && p < k ? to_float(a[row * k + p]) : 0.0f;
    }
    for (int i = thread; i < kDepth * kTile; i += kThreads) {
      const int64_t p = first + i / kTile;
      const int64_t col = first_col + i % kTile;
      tile_b[i / kTile][i % kTile] = p < k && col < n ? to_float(b[p * n + col]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float left[kEach];
      float right[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        left[i] = tile_a[p][own_row + i];
        right[i] = tile_b[p][own_col + i];
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) {
      const int64_t row = first_row + own_row + i;
      const int64_t col = first_col + own_col + j;
      if (row < m && col < n) c[row * n + col] = from_float<T>(sums[i][j]);
    }
}

template <class T>
void launch(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
  multiply<T><<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(a, b, c, m, n, k);
}

}  // namespace

extern "C" {
void matmul_float32(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(a, b, c, m, n, k, stream);
}
void matmul_float16(const __half* a, const __half* b, __half* c, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(a, b, c, m, n, k, stream);
}
void matmul_bfloat16(const __hip_bfloat16* a, const __hip_bfloat16* b, __hip_bfloat16* c, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(a, b, c, m, n, k, stream);
}
}
