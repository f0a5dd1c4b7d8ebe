// Matrix product in tiles of 32 x 32 through shared memory, 2 x 2 sums a thread.
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

constexpr int kTile = 32;
constexpr int kSide = kTile / 2;

template <class T>
__global__ void __launch_bounds__(kSide * kSide) multiply(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int64_t m, int64_t n, int64_t k) {
  __shared__ float tile_a[kTile][kTile + 1];
  __shared__ float tile_b[kTile][kTile];
  const int64_t first_row = static_cast<int64_t>(blockIdx.y) * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  float sums[2][2] = {};
  for (int64_t first = 0; first < k; first += kTile) {
    for (int i = threadIdx.y; i < kTile; i += kSide)
      for (int j = threadIdx.x; j < kTile; j += kSide) {
        tile_a[i][j] = first_row + i < m && first + j < k ? to_float(a[(first_row + i) * k + first + j]) : 0.0f;
        tile_b[i][j] = first + i < k && first_col + j < n ? to_float(b[(first + i) * n + first_col + j]) : 0.0f;
      }
    __syncthreads();
    for (int p = 0; p < kTile; ++p)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sums[i][j] += tile_a[threadIdx.y + i * kSide][p] * tile_b[p][threadIdx.x + j * kSide];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const int64_t row = first_row + threadIdx.y + i * kSide;
      const int64_t col = first_col + threadIdx.x + j * kSide;
      if (row < m && col < n) c[row * n + col] = from_float<T>(sums[i][j]);
    }
}

template <class T>
void launch(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((n + kTile - 1) / kTile), static_cast<unsigned>((m + kTile - 1) / kTile));
  multiply<T><<<grid, dim3(kSide, kSide), 0, static_cast<hipStream_t>(stream)>>>(a, b, c, m, n, k);
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
