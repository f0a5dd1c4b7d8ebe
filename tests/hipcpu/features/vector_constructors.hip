#include <hip/hip_runtime.h>

__global__ void k(const float* in, float* out) {
  const int i = threadIdx.x;
  const float4 all(in[i]), each{in[i], 1, 2.0, 3u}, none{};
  const int4 bits = (make_int4(i, 1, 2, 3) & int4(3)) << int4(1);
  out[i] = all.x + all.w + each.y + each.w + none.z + static_cast<float>(bits.x + bits.w) + (bits == bits);
}
extern "C" int run(const float* in, float* out, int) {
  k<<<1, 64>>>(in, out);
  return hipDeviceSynchronize();
}
