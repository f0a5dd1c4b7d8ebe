// RMS norm that reads and writes each element once: 16-byte packs, rows in registers, the sum by shuffles.
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
  __syncthreads();  // before the next reduction overwrites it
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

// Short rows: LANES neighbouring threads a row, one pack each.
template <class T, int WIDTH, int LANES>
__global__ void __launch_bounds__(kThreads) norm_short_rows(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int64_t rows, int64_t cols, float eps) {
  using Packed = Pack<T, WIDTH>;
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  const int64_t at = (row * cols) / WIDTH + lane;
  const bool is_mine = row < rows && lane < cols / WIDTH;
  Packed pack;
  float squares = 0.0f;
  if (is_mine) {
    pack = reinterpret_cast<const Packed*>(x)[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) squares += to_float(pack.at[j]) * to_float(pack.at[j]);
  }
  const float scale = rsqrtf(reduce_lanes(squares, LANES, Sum()) / static_cast<float>(cols) + eps);
  if (is_mine) {
    const Packed factor = reinterpret_cast<const Packed*>(weight)[lane];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(to_float(pack.at[j]) * scale * to_float(factor.at[j]));
    reinterpret_cast<Packed*>(y)[at] = pack;
  }
}

// The row stays in registers between its one reading and its one writing: up to PACKS packs a thread.
template <class T, int WIDTH, int PACKS>
__global__ void __launch_bounds__(kThreads) norm_in_registers(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int64_t cols, float eps) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  const Packed* factors = reinterpret_cast<const Packed*>(weight);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int packs = static_cast<int>(cols / WIDTH);
  const int first = threadIdx.x;
  const int stride = blockDim.x;
  Packed kept[PACKS];
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (first + i * stride >= packs) break;
    kept[i] = in[first + i * stride];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) squares += to_float(kept[i].at[j]) * to_float(kept[i].at[j]);
  }
  const float scale = rsqrtf(reduce_block(squares, Sum()) / static_cast<float>(cols) + eps);
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (first + i * stride >= packs) break;
    const Packed factor = factors[first + i * stride];
    Packed pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(to_float(kept[i].at[j]) * scale * to_float(factor.at[j]));
    out[first + i * stride] = pack;
  }
}

// Rows too long for registers are read twice.
template <class T, int WIDTH>
__global__ void __launch_bounds__(kThreads) norm_twice_read(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y, int64_t cols, float eps) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  const Packed* factors = reinterpret_cast<const Packed*>(weight);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int64_t packs = cols / WIDTH;
  float squares = 0.0f;
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    const Packed pack = in[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) squares += to_float(pack.at[j]) * to_float(pack.at[j]);
  }
  const float scale = rsqrtf(reduce_block(squares, Sum()) / static_cast<float>(cols) + eps);
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    Packed pack = in[at];
    const Packed factor = factors[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(to_float(pack.at[j]) * scale * to_float(factor.at[j]));
    out[at] = pack;
  }
}

// A block of 64, 128 or 256 threads a row, as the row needs; rows of at most 32 packs share blocks.
unsigned threads_for(int64_t packs) { return packs <= 64 ? 64 : packs <= 128 ? 128 : kThreads; }

template <class T, int WIDTH>
void launch_packs(const T* x, const T* weight, T* y, int64_t rows, int64_t cols, float eps, hipStream_t stream) {
  constexpr int most = 32 / WIDTH;  // 32 elements a thread
  const int64_t packs = cols / WIDTH;
  const dim3 grid(static_cast<unsigned>(rows));
  const dim3 block(threads_for(packs));
  if (packs <= 16) {
    const dim3 shared_grid(static_cast<unsigned>((rows * 16 + kThreads - 1) / kThreads));
    norm_short_rows<T, WIDTH, 16><<<shared_grid, dim3(kThreads), 0, stream>>>(x, weight, y, rows, cols, eps);
  } else if (packs <= 32) {
    const dim3 shared_grid(static_cast<unsigned>((rows * 32 + kThreads - 1) / kThreads));
    norm_short_rows<T, WIDTH, 32><<<shared_grid, dim3(kThreads), 0, stream>>>(x, weight, y, rows, cols, eps);
  } else if (packs <= kThreads) {
    norm_in_registers<T, WIDTH, 1><<<grid, block, 0, stream>>>(x, weight, y, cols, eps);
  } else if (packs <= 2 * kThreads) {
    norm_in_registers<T, WIDTH, 2><<<grid, block, 0, stream>>>(x, weight, y, cols, eps);
  } else if (packs <= most * kThreads) {
    norm_in_registers<T, WIDTH, most><<<grid, block, 0, stream>>>(x, weight, y, cols, eps);
  } else {
    norm_twice_read<T, WIDTH><<<grid, block, 0, stream>>>(x, weight, y, cols, eps);
  }
}

template <class T>
void launch(const T* x, const T* weight, T* y, int64_t rows, int64_t cols, float eps, void* stream) {
  if (is_aligned(x, cols) && is_aligned(weight, cols) && is_aligned(y, cols)) {
    launch_packs<T, kWidest<T>>(x, weight, y, rows, cols, eps, static_cast<hipStream_t>(stream));
  } else {
    launch_packs<T, 1>(x, weight, y, rows, cols, eps, static_cast<hipStream_t>(stream));
  }
}

}  // namespace

extern "C" {
void rmsnorm_float32(const float* x, const float* weight, float* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, weight, y, rows, cols, eps, stream);
}
void rmsnorm_float16(const __half* x, const __half* weight, __half* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, weight, y, rows, cols, eps, stream);
}
void rmsnorm_bfloat16(const __hip_bfloat16* x, const __hip_bfloat16* weight, __hip_bfloat16* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, weight, y, rows, cols, eps, stream);
}
}
