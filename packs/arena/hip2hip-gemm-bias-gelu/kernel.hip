// Linear layer with bias and GELU, one thread an element of y, operands straight from global memory.
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

__device__ float gelu(float z) { return 0.5f * z * (1.0f + erff(z * 0.70710678f)); }

template <class T>
__global__ void multiply_and_activate(const T* x, const T* weight, const T* bias, T* y, int64_t m, int64_t n, int64_t k) {
  const int64_t row = static_cast<int64_t>(blockIdx.y) * kSide + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kSide + threadIdx.x;
  if (row >= m || col >= n) return;
  float z = to_float(bias[col]);
  for (int64_t p = 0; p < k; ++p) z += to_float(x[row * k + p]) * to_float(weight[col * k + p]);
  y[row * n + col] = from_float<T>(gelu(z));
}

template <class T>
void launch(const T* x, const T* weight, const T* bias, T* y, int64_t m, int64_t n, int64_t k, void* stream) {
  const dim3 grid(static_cast<unsigned>((n + kSide - 1) / kSide), static_cast<unsigned>((m + kSide - 1) / kSide));
  multiply_and_activate<T><<<grid, dim3(kSide, kSide), 0, static_cast<hipStream_t>(stream)>>>(x, weight, bias, y, m, n, k);
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
