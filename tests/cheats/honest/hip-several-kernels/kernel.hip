#include <hip/hip_runtime.h>

__global__ void find_highest(const float* x, float* m, int64_t rows, int64_t cols) {
  const int64_t r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  m[r] = -INFINITY;
  for (int64_t c = 0; c < cols; ++c) m[r] = fmaxf(m[r], x[r * cols + c]);
}

__global__ void add_up(const float* x, const float* m, float* s, int64_t rows, int64_t cols) {
  const int64_t r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int64_t c = 0; c < cols; ++c) sum += expf(x[r * cols + c] - m[r]);
  s[r] = sum;
}

__global__ void divide(const float* x, float* y, const float* m, const float* s, int64_t rows, int64_t cols) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = expf(x[i] - m[i / cols]) / s[i / cols];
}

extern "C" void softmax_float32(const float* x, float* y, int64_t rows, int64_t cols, hipStream_t stream) {
  float *m, *s;
  hipMalloc(&m, rows * sizeof(float));
  hipMalloc(&s, rows * sizeof(float));
  find_highest<<<(rows + 63) / 64, 64, 0, stream>>>(x, m, rows, cols);
  add_up<<<(rows + 63) / 64, 64, 0, stream>>>(x, m, s, rows, cols);
  divide<<<(rows * cols + 63) / 64, 64, 0, stream>>>(x, y, m, s, rows, cols);
  hipStreamSynchronize(stream);
  hipFree(m);
  hipFree(s);
}
