// Residual addition and RMS norm that read and write each element once: 16-byte packs, rows in registers, the sum by shuffles.
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

// The sum of one value of each of the block's threads: shuffles within waves, then one exchange in shared memory.
__device__ float sum_block(float value) {
  __shared__ float of_wave[kMostWaves];
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  if (threadIdx.x % warpSize == 0) of_wave[threadIdx.x / warpSize] = value;
  __syncthreads();
  float result = of_wave[0];
  for (int wave = 1; wave < kThreads / warpSize; ++wave) result += of_wave[wave];
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

// The sums stay in registers, in float32, between the two writings: up to PACKS packs a thread.
template <class T, int WIDTH, int PACKS>
__global__ void __launch_bounds__(kThreads)
    add_and_norm_in_registers(const T* __restrict__ x, T* __restrict__ residual, const T* __restrict__ weight, T* __restrict__ y, int64_t cols, float eps) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  const Packed* factors = reinterpret_cast<const Packed*>(weight);
  Packed* total = reinterpret_cast<Packed*>(residual + blockIdx.x * cols);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int packs = static_cast<int>(cols / WIDTH);
  const int first = threadIdx.x;
  float kept[PACKS][WIDTH];
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int at = first + i * kThreads;
    if (at >= packs) break;
    const Packed added = in[at];
    Packed sum = total[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      kept[i][j] = to_float(sum.at[j]) + to_float(added.at[j]);
      squares += kept[i][j] * kept[i][j];
      sum.at[j] = from_float<T>(kept[i][j]);
    }
    total[at] = sum;
  }
  const float scale = rsqrtf(sum_block(squares) / static_cast<float>(cols) + eps);
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int at = first + i * kThreads;
    if (at >= packs) break;
    const Packed factor = factors[at];
    Packed pack;
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(kept[i][j] * scale * to_float(factor.at[j]));
    out[at] = pack;
  }
}

// Rows too long for registers are read twice; each thread reads what it wrote itself.
template <class T, int WIDTH>
__global__ void __launch_bounds__(kThreads)
    add_and_norm_twice_read(const T* __restrict__ x, T* __restrict__ residual, const T* __restrict__ weight, T* __restrict__ y, int64_t cols, float eps) {
  using Packed = Pack<T, WIDTH>;
  const Packed* in = reinterpret_cast<const Packed*>(x + blockIdx.x * cols);
  const Packed* factors = reinterpret_cast<const Packed*>(weight);
  Packed* total = reinterpret_cast<Packed*>(residual + blockIdx.x * cols);
  Packed* out = reinterpret_cast<Packed*>(y + blockIdx.x * cols);
  const int64_t packs = cols / WIDTH;
  float squares = 0.0f;
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    const Packed added = in[at];
    Packed sum = total[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      const float value = to_float(sum.at[j]) + to_float(added.at[j]);
      squares += value * value;
      sum.at[j] = from_float<T>(value);
    }
    total[at] = sum;
  }
  const float scale = rsqrtf(sum_block(squares) / static_cast<float>(cols) + eps);
  for (int64_t at = threadIdx.x; at < packs; at += kThreads) {
    Packed pack = total[at];
    const Packed factor = factors[at];
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) pack.at[j] = from_float<T>(to_float(pack.at[j]) * scale * to_float(factor.at[j]));
    out[at] = pack;
  }
}

template <class T, int WIDTH>
void launch_packs(const T* x, T* residual, const T* weight, T* y, int64_t rows, int64_t cols, float eps, hipStream_t stream) {
  constexpr int most = 32 / WIDTH;  // 32 elements a thread
  const int64_t packs = cols / WIDTH;
  const dim3 grid(static_cast<unsigned>(rows));
  const dim3 block(kThreads);
  if (packs <= kThreads) {
    add_and_norm_in_registers<T, WIDTH, 1><<<grid, block, 0, stream>>>(x, residual, weight, y, cols, eps);
  } else if (packs <= 2 * kThreads) {
    add_and_norm_in_registers<T, WIDTH, 2><<<grid, block, 0, stream>>>(x, residual, weight, y, cols, eps);
  } else if (packs <= most * kThreads) {
    add_and_norm_in_registers<T, WIDTH, most><<<grid, block, 0, stream>>>(x, residual, weight, y, cols, eps);
  } else {
    add_and_norm_twice_read<T, WIDTH><<<grid, block, 0, stream>>>(x, residual, weight, y, cols, eps);
  }
}

template <class T>
void launch(const T* x, T* residual, const T* weight, T* y, int64_t rows, int64_t cols, float eps, void* stream) {
  if (is_aligned(x, cols) && is_aligned(residual, cols) && is_aligned(weight, cols) && is_aligned(y, cols)) {
    launch_packs<T, kWidest<T>>(x, residual, weight, y, rows, cols, eps, static_cast<hipStream_t>(stream));
  } else {
    launch_packs<T, 1>(x, residual, weight, y, rows, cols, eps, static_cast<hipStream_t>(stream));
  }
}

}  // namespace

extern "C" {
void fused_add_rmsnorm_float32(const float* x, float* residual, const float* weight, float* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
void fused_add_rmsnorm_float16(const __half* x, __half* residual, const __half* weight, __half* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
void fused_add_rmsnorm_bfloat16(const __hip_bfloat16* x, __hip_bfloat16* residual, const __hip_bfloat16* weight, __hip_bfloat16* y, int64_t rows, int64_t cols, float eps, void* stream) {
  launch(x, residual, weight, y, rows, cols, eps, stream);
}
}
