// Row sums in 16-byte packs: 32 threads a row where there are many rows, several blocks a row where there are few.
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

// Works with waves of 32 and of 64 lanes: the warp size is asked at run time.
constexpr int kThreads = 256;  // the most a block has
constexpr int kMostWaves = kThreads / 32;

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// One value from `lanes` neighbouring threads of a wave, for each of them.
template <class Op>
__device__ float reduce_lanes(float value, int lanes, Op op) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) value = op(value, __shfl_xor(value, distance));
  return value;
}

// One value from all threads of the block: shuffles within waves, then one exchange in shared memory.
template <class Op>
__device__ float reduce_block(float value, Op op) {
  __shared__ float of_wave[kMostWaves];
  value = reduce_lanes(value, warpSize, op);
  if (blockDim.x <= warpSize) return value;
  if (threadIdx.x % warpSize == 0) of_wave[threadIdx.x / warpSize] = value;
  __syncthreads();
  float result = of_wave[0];
  for (int wave = 1; wave < blockDim.x / warpSize; ++wave) result = op(result, of_wave[wave]);
  return result;
}

// WIDTH neighbouring elements, moved as one: 16 bytes where rows are aligned to that, else single elements.
template <class T, int WIDTH>
struct alignas(sizeof(T) * WIDTH) Pack {
  T at[WIDTH];
};

template <class T>
constexpr int kWidest = 16 / sizeof(T);

template <class T>
bool is_aligned(const T* pointer, int64_t cols) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && cols % kWidest<T> == 0;
}

// Sums of parts of rows, between the two kernels of one call. There is one such memory: calls on several streams at once would share it.
constexpr int kMostParts = 64;
constexpr int kMostRows = 1024;
__device__ float part_sums[kMostRows * kMostParts];

template <class T, int WIDTH>
__device__ float sum_packs(const T* row, int64_t packs, int64_t first, int64_t stride) {
  const Pack<T, WIDTH>* in = reinterpret_cast<const Pack<T, WIDTH>*>(row);
  float partial[WIDTH] = {};
  for (int64_t at = first; at < packs; at += stride) {
    const Pack<T, WIDTH> pack = in[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) partial[j] += to_float(pack.at[j]);
  }
  float sum = partial[0];
#pragma unroll
  for (int j = 1; j < WIDTH; ++j) sum += partial[j];
  return sum;
}

// Many rows: LANES neighbouring threads a row.
template <class T, int WIDTH, int LANES>
__global__ void __launch_bounds__(kThreads) sum_rows(const T* __restrict__ x, T* __restrict__ y, int64_t rows, int64_t cols) {
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  float sum = row < rows ? sum_packs<T, WIDTH>(x + row * cols, cols / WIDTH, lane, LANES) : 0.0f;
  sum = reduce_lanes(sum, LANES, Sum());
  if (row < rows && lane == 0) y[row] = from_float<T>(sum);
}

// Few rows: gridDim.x blocks a row, so that there is work for the whole device.
template <class T, int WIDTH>
__global__ void __launch_bounds__(kThreads) sum_parts(const T* __restrict__ x, int64_t cols) {
  const int64_t row = blockIdx.y;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const float sum = reduce_block(sum_packs<T, WIDTH>(x + row * cols, cols / WIDTH, first, static_cast<int64_t>(gridDim.x) * kThreads), Sum());
  if (threadIdx.x == 0) part_sums[row * kMostParts + blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) add_parts(T* __restrict__ y, int64_t rows, int parts) {
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int part = lane; row < rows && part < parts; part += 32) sum += part_sums[row * kMostParts + part];
  sum = reduce_lanes(sum, 32, Sum());
  if (row < rows && lane == 0) y[row] = from_float<T>(sum);
}

template <class T, int WIDTH>
void launch_packs(const T* x, T* y, int64_t rows, int64_t cols, hipStream_t stream) {
  const dim3 rows_of_32(static_cast<unsigned>((rows * 32 + kThreads - 1) / kThreads));
  const int64_t steps = (cols / WIDTH + kThreads - 1) / kThreads;
  if (rows > kMostRows || steps <= 4) {
    sum_rows<T, WIDTH, 32><<<rows_of_32, dim3(kThreads), 0, stream>>>(x, y, rows, cols);
    return;
  }
  const int64_t wanted = (2 * kMostRows + rows - 1) / rows;
  const int64_t parts = wanted < steps ? wanted : steps;
  const int64_t fitting = parts < kMostParts ? parts : kMostParts;
  sum_parts<T, WIDTH><<<dim3(static_cast<unsigned>(fitting), static_cast<unsigned>(rows)), dim3(kThreads), 0, stream>>>(x, cols);
  add_parts<T><<<rows_of_32, dim3(kThreads), 0, stream>>>(y, rows, static_cast<int>(fitting));
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  if (is_aligned(x, cols)) {
    launch_packs<T, kWidest<T>>(x, y, rows, cols, static_cast<hipStream_t>(stream));
  } else {
    launch_packs<T, 1>(x, y, rows, cols, static_cast<hipStream_t>(stream));
  }
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
