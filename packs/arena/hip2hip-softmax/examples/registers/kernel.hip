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
constexpr int kThreads = 256;
constexpr int kMostWaves = kThreads / 32;

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class Op>
__device__ float reduce_wave(float value, Op op) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value = op(value, __shfl_xor(value, distance));
  return value;
}

// One value from all threads of the block: shuffles within waves, then one exchange in shared memory.
template <class Op>
__device__ float reduce_block(float value, Op op) {
  __shared__ float of_wave[kMostWaves];
  value = reduce_wave(value, op);
  if (threadIdx.x % warpSize == 0) of_wave[threadIdx.x / warpSize] = value;
  __syncthreads();
  float result = of_wave[0];
  for (int wave = 1; wave < kThreads / warpSize; ++wave) result = op(result, of_wave[wave]);
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

// The row stays in registers between its one reading and its one writing: PACKS packs a thread.
template <class T, int WIDTH, int PACKS>
__global__ void __launch_bounds__(kThreads) softmax_in_registers(const T* __restrict__ x, T* __restrict__ y, int64_t cols) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int packs = static_cast<int>(cols / WIDTH);
  float values[PACKS][WIDTH];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (at >= packs) break;
    const Packed pack = in[at];
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
    if (threadIdx.x + i * kThreads >= packs) break;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      values[i][j] = __expf(values[i][j] - largest);
      sum += values[i][j];
    }
  }
  const float scale = 1.0f / reduce_block(sum, Sum());
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (at >= packs) break;
    Packed pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(values[i][j] * scale);
    out[at] = pack;
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

template <class T, int WIDTH>
void launch_packs(const T* x, T* y, int64_t rows, int64_t cols, hipStream_t stream) {
  constexpr int most = 32 / WIDTH;  // 32 elements a thread
  const dim3 grid(static_cast<unsigned>(rows));
  const int64_t needed = (cols / WIDTH + kThreads - 1) / kThreads;
  if (needed == 1) {
    softmax_in_registers<T, WIDTH, 1><<<grid, dim3(kThreads), 0, stream>>>(x, y, cols);
  } else if (needed == 2) {
    softmax_in_registers<T, WIDTH, 2><<<grid, dim3(kThreads), 0, stream>>>(x, y, cols);
  } else if (needed <= most) {
    softmax_in_registers<T, WIDTH, most><<<grid, dim3(kThreads), 0, stream>>>(x, y, cols);
  } else {
    softmax_online<T, WIDTH><<<grid, dim3(kThreads), 0, stream>>>(x, y, cols);
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
