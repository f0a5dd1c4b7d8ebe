// Matrix product, one thread an element of c, operands straight from global memory.
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

constexpr int kSide = 16;

template <class T>
__global__ void multiply(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  const int64_t row = static_cast<int64_t>(blockIdx.y) * kSide + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kSide + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int64_t p = 0; p < k; ++p) sum += to_float(a[row * k + p]) * to_float(b[p * n + col]);
  c[row * n + col] = from_float<T>(sum);
}

template <class T>
void launch(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((n + kSide - 1) / kSide), static_cast<unsigned>((m + kSide - 1) / kSide));
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
