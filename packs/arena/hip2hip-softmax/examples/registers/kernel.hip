// Row softmax that reads and writes each element once: 16-byte packs, rows in registers, reductions by shuffles.
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
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
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
__global__ void __launch_bounds__(kThreads) softmax_of_short_rows(const T* __restrict__ x, T* __restrict__ y, int64_t rows, int64_t cols) {
  using Packed = Pack<T, WIDTH>;
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) / LANES;
  const int64_t at = (row * cols) / WIDTH + threadIdx.x % LANES;
  const bool is_mine = row < rows && threadIdx.x % LANES < cols / WIDTH;
  float values[WIDTH];
  float largest = -INFINITY;
  if (is_mine) {
    const Packed pack = reinterpret_cast<const Packed*>(x)[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      values[j] = to_float(pack.at[j]);
      largest = fmaxf(largest, values[j]);
    }
  }
  largest = reduce_lanes(largest, LANES, Max());
  float sum = 0.0f;
  if (is_mine) {
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      values[j] = __expf(values[j] - largest);
      sum += values[j];
    }
  }
  const float scale = 1.0f / reduce_lanes(sum, LANES, Sum());
  if (is_mine) {
    Packed pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(values[j] * scale);
    reinterpret_cast<Packed*>(y)[at] = pack;
  }
}

// The row stays in registers between its one reading and its one writing: up to PACKS packs a thread.
template <class T, int WIDTH, int PACKS>
__global__ void __launch_bounds__(kThreads) softmax_in_registers(const T* __restrict__ x, T* __restrict__ y, int64_t cols) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int packs = static_cast<int>(cols / WIDTH);
  const int first = threadIdx.x;
  const int stride = blockDim.x;
  float values[PACKS][WIDTH];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (first + i * stride >= packs) break;
    const Packed pack = in[first + i * stride];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      values[i][j] = to_float(pack.at[j]);
      largest = fmaxf(largest, values[i][j]);
    }
  }
  largest = reduce_block(largest, Max());
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (first + i * stride >= packs) break;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      values[i][j] = __expf(values[i][j] - largest);
      sum += values[i][j];
    }
  }
  const float scale = 1.0f / reduce_block(sum, Sum());
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    if (first + i * stride >= packs) break;
    Packed pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(values[i][j] * scale);
    out[first + i * stride] = pack;
  }
}

// Rows too long for registers: largest element and sum in one reading (a larger element rescales the sum), quotients in a second.
template <class T, int WIDTH>
__global__ void __launch_bounds__(kThreads) softmax_online(const T* __restrict__ x, T* __restrict__ y, int64_t cols) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int64_t packs = cols / WIDTH;
  float largest = -INFINITY;
  float sum = 0.0f;
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    const Packed pack = in[at];
    float here = to_float(pack.at[0]);
#pragma unroll
    for (int j = 1; j < WIDTH; ++j) here = fmaxf(here, to_float(pack.at[j]));
    if (here > largest) {
      sum *= __expf(largest - here);
      largest = here;
    }
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) sum += __expf(to_float(pack.at[j]) - largest);
  }
  const float of_row = reduce_block(largest, Max());
  const float scale = 1.0f / reduce_block(largest == -INFINITY ? 0.0f : sum * __expf(largest - of_row), Sum());
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    Packed pack = in[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(__expf(to_float(pack.at[j]) - of_row) * scale);
    out[at] = pack;
  }
}

// A block of 64, 128 or 256 threads a row, as the row needs; rows of at most 32 packs share blocks.
unsigned threads_for(int64_t packs) { return packs <= 64 ? 64 : packs <= 128 ? 128 : kThreads; }

template <class T, int WIDTH>
void launch_packs(const T* x, T* y, int64_t rows, int64_t cols, hipStream_t stream) {
  constexpr int most = 32 / WIDTH;  // 32 elements a thread
  const int64_t packs = cols / WIDTH;
  const dim3 grid(static_cast<unsigned>(rows));
  const dim3 block(threads_for(packs));
  if (packs <= 8) {
    softmax_of_short_rows<T, WIDTH, 8><<<dim3(static_cast<unsigned>((rows * 8 + kThreads - 1) / kThreads)), dim3(kThreads), 0, stream>>>(x, y, rows, cols);
  } else if (packs <= 32) {
    softmax_of_short_rows<T, WIDTH, 32><<<dim3(static_cast<unsigned>((rows * 32 + kThreads - 1) / kThreads)), dim3(kThreads), 0, stream>>>(x, y, rows, cols);
  } else if (packs <= kThreads) {
    softmax_in_registers<T, WIDTH, 1><<<grid, block, 0, stream>>>(x, y, cols);
  } else if (packs <= 2 * kThreads) {
    softmax_in_registers<T, WIDTH, 2><<<grid, block, 0, stream>>>(x, y, cols);
  } else if (packs <= most * kThreads) {
    softmax_in_registers<T, WIDTH, most><<<grid, block, 0, stream>>>(x, y, cols);
  } else {
    softmax_online<T, WIDTH><<<grid, block, 0, stream>>>(x, y, cols);
  }
}

template <class T>
void launch(const T* x, T* y, int64_t rows, int64_t cols, void* stream) {
  if (is_aligned(x, cols) && is_aligned(y, cols)) {
    launch_packs<T, kWidest<T>>(x, y, rows, cols, static_cast<hipStream_t>(stream));
  } else {
    launch_packs<T, 1>(x, y, rows, cols, static_cast<hipStream_t>(stream));
  }
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
