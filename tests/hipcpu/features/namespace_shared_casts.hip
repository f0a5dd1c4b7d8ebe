#include <hip/hip_runtime.h>

#define DYNAMIC(T, name) extern __shared__ T name[]
extern __shared__ char bytes[];
extern __shared__ char bytes[];

__global__ void cast(const float* in, float* out) {
  float* floats = reinterpret_cast<float*>(bytes);
  float* same = (float*)bytes;
  floats[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = same[63 - threadIdx.x];
}
__global__ void from_macro(float* out) {
  DYNAMIC(float, values);
  values[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 2 * values[threadIdx.x];
}
extern "C" int run(const float* in, float* out, int) {
  cast<<<1, 64, 64 * sizeof(float)>>>(in, out);
  from_macro<<<1, 64, 64 * sizeof(float)>>>(out);
  return hipDeviceSynchronize();
}
