// Linear layer with bias and GELU in tiles of 64 x 64: operands pass through shared memory, each thread keeps 4 x 4 sums in registers.
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

constexpr int kTile = 64;   // rows and columns of y a block
constexpr int kDepth = 16;  // columns of x and of weight a step
constexpr int kEach = 4;    // rows and columns of y a thread
constexpr int kSide = kTile / kEach;
constexpr int kThreads = kSide * kSide;
constexpr int kPitch = kTile + 4;  // four more, so that the transposing writes fall on different banks and packs of four stay aligned

__device__ float gelu(float z) { return 0.5f * z * (1.0f + erff(z * 0.70710678f)); }

// 64 rows of a row-major matrix, 16 of its columns, transposed: zero beyond the matrix.
template <class T>
__device__ void load_tile(float (*tile)[kPitch], const T* __restrict__ from, int64_t first_row, int64_t rows, int64_t first, int64_t k) {
  for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
    const int64_t row = first_row + i / kDepth;
    const int64_t p = first + i % kDepth;
    tile[i % kDepth][i / kDepth] = row < rows && p < k ? to_float(from[row * k + p]) : 0.0f;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    multiply_and_activate(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y, int64_t m, int64_t n, int64_t k) {
  __shared__ float tile_x[kDepth][kPitch];
  __shared__ float tile_weight[kDepth][kPitch];
  const int own_row = threadIdx.x / kSide * kEach;
  const int own_col = threadIdx.x % kSide * kEach;
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  float sums[kEach][kEach] = {};
  for (int64_t first = 0; first < k; first += kDepth) {
    load_tile(tile_x, x, first_row, m, first, k);
    load_tile(tile_weight, weight, first_col, n, first, k);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      float left[kEach];
      float right[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        left[i] = tile_x[p][own_row + i];
        right[i] = tile_weight[p][own_col + i];
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int j = 0; j < kEach; ++j) {
    const int64_t col = first_col + own_col + j;
    if (col >= n) break;
    const float offset = to_float(bias[col]);
    for (int i = 0; i < kEach; ++i) {
      const int64_t row = first_row + own_row + i;
      if (row < m) y[row * n + col] = from_float<T>(gelu(sums[i][j] + offset));
    }
  }
}

template <class T>
void launch(const T* x, const T* weight, const T* bias, T* y, int64_t m, int64_t n, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
  multiply_and_activate<T><<<grid, dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, weight, bias, y, m, n, k);
}

}  // namespace

extern "C" {
void gemm_bias_gelu_float32(const float* x, const float* weight, const float* bias, float* y, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(x, weight, bias, y, m, n, k, stream);
}
void gemm_bias_gelu_float16(const __half* x, const __half* weight, const __half* bias, __half* y, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(x, weight, bias, y, m, n, k, stream);
}
void gemm_bias_gelu_bfloat16(const __hip_bfloat16* x, const __hip_bfloat16* weight, const __hip_bfloat16* bias, __hip_bfloat16* y, int64_t m, int64_t n, int64_t k, void* stream) {
  launch(x, weight, bias, y, m, n, k, stream);
}
}
