#include <hip/hip_runtime.h>

struct Range {
  int first, last;
};
struct Config {
  static const int kAdded = 7;
};
__global__ void converted(int* out, const float* nothing, Range range, long long by) {
  if (threadIdx.x >= range.first && threadIdx.x < range.last && !nothing) out[threadIdx.x] = static_cast<int>(by);
}
template <class T> __global__ void deduced(T* out, T added) { out[threadIdx.x] += added; }

extern "C" int run(const int*, int* out, int) {
  converted<<<1, 64>>>(out, NULL, {0, 32}, 5);
  converted<<<1, 64>>>(out, 0, {32, 64}, 6u);
  deduced<<<1, 64>>>(out, Config::kAdded);
  return hipDeviceSynchronize();
}
