// Row sums, one wave a row, four partial sums a lane, without shared memory.
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

// A wave a row, of 32 or of 64 lanes as the device has them; 256 threads a block.
constexpr int kThreads = 256;

__device__ int64_t own_row() { return static_cast<int64_t>(blockIdx.x) * (kThreads / warpSize) + threadIdx.x / warpSize; }
__device__ int own_lane() { return threadIdx.x % warpSize; }

__device__ float sum_wave(float value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  return value;
}

// Enough blocks for 4 rows each, as with waves of 64; with waves of 32 a block takes 8, and the later half of them finds none.
unsigned blocks_for(int64_t rows) { return static_cast<unsigned>((rows + 3) / 4); }

template <class T>
__global__ void __launch_bounds__(kThreads) sum_rows(const T* __restrict__ x, T* __restrict__ y, int64_t rows, int64_t cols) {
  const int64_t row = own_row();
  if (row >= rows) return;  // the whole wave
  const T* in = x + row * cols;
  const int64_t stride = warpSize;
  float partial[4] = {};
  int64_t c = own_lane();
  for (; c + 3 * stride < cols; c += 4 * stride)
    for (int i = 0; i < 4; ++i) partial[i] += to_float(in[c + i * stride]);
  for (; c < cols; c += stride) partial[0] += to_float(in[c]);
  const float sum = sum_wave((partial[0] + partial[1]) + (partial[2] + partial[3]));
  if (own_lane() == 0) y[row] = from_float<T>(sum);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  sum_rows<T><<<dim3(blocks_for(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, y, rows, cols);
}

}  // namespace

extern "C" {
void reduce_sum_float32(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void reduce_sum_float16(const __half* x, __half* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void reduce_sum_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
}
