// Row softmax, one wave a row: largest element and sum in one reading, without shared memory.
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

__device__ float max_wave(float value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value = fmaxf(value, __shfl_xor(value, distance));
  return value;
}

template <class T>
__global__ void __launch_bounds__(kThreads) softmax_rows(const T* __restrict__ x, T* __restrict__ y, int64_t rows, int64_t cols) {
  const int64_t row = own_row();
  if (row >= rows) return;  // the whole wave
  const T* in = x + row * cols;
  T* out = y + row * cols;
  float largest = -INFINITY;
  float sum = 0.0f;
  for (int64_t c = own_lane(); c < cols; c += warpSize) {
    const float value = to_float(in[c]);
    if (value > largest) {
      sum *= __expf(largest - value);  // 0 the first time
      largest = value;
    }
    sum += __expf(value - largest);
  }
  const float of_row = max_wave(largest);
  const float scale = 1.0f / sum_wave(largest == -INFINITY ? 0.0f : sum * __expf(largest - of_row));
  for (int64_t c = own_lane(); c < cols; c += warpSize) out[c] = from_float<T>(__expf(to_float(in[c]) - of_row) * scale);
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  softmax_rows<T><<<dim3(blocks_for(rows)), dim3(kThreads), 0, static_cast<hipStream_t>(stream)>>>(x, y, rows, cols);
}

}  // namespace

extern "C" {
void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void softmax_float16(const __half* x, __half* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
void softmax_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* y, int64_t rows, int64_t cols, void* stream) {
  launch(x, y, rows, cols, stream);
}
}
