#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "block.h"
#include "host_state.h"

struct hipcpu_stream {};
struct hipcpu_event {
  double time;
};

namespace hipcpu {

static thread_local hipError_t last_error = hipSuccess;
// A fault inside a kernel shows at the next synchronising call, as on hardware. Unlike there it clears once it was read, so
// that one process can go on to the next kernel.
static thread_local hipError_t fault = hipSuccess;
// The process's, as a source may launch from threads of its own.
static std::mutex words_mutex;
static std::string fault_words, refusal_words;
static thread_local std::string told;

void report_fault(std::string why) {
  const std::lock_guard lock(words_mutex);
  fault_words = std::move(why);
}
void report_refusal(std::string why) {
  const std::lock_guard lock(words_mutex);
  refusal_words = std::move(why);
}

void record(hipError_t e) {
  if (e == hipSuccess) return;
  last_error = e;
  if (e == hipErrorLaunchFailure) fault = e;
}

static hipError_t returning(hipError_t e) {
  record(e);
  return e;
}

static hipError_t take(hipError_t& e) {
  const hipError_t was = e;
  e = hipSuccess;
  return was;
}

}  // namespace hipcpu

using namespace hipcpu;

hipError_t hipMalloc(void** p, size_t bytes) {
  if (!p) return returning(hipErrorInvalidValue);
  *p = nullptr;
  if (bytes == 0) return hipSuccess;
  // Not rounded up to the alignment: AddressSanitizer then sees the first byte past the end.
  if (posix_memalign(p, 256, bytes)) return returning(hipErrorOutOfMemory);
  if (options().poison) std::memset(*p, 0xff, bytes);
  return hipSuccess;
}
hipError_t hipFree(void* p) {
  std::free(p);
  return hipSuccess;
}
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) return returning(hipErrorInvalidMemcpyDirection);
  if (bytes && (!to || !from)) return returning(hipErrorInvalidValue);
  if (bytes) std::memmove(to, from, bytes);
  return take(fault);
}
hipError_t hipMemset(void* p, int value, size_t bytes) {
  if (bytes && !p) return returning(hipErrorInvalidValue);
  if (bytes) std::memset(p, value, bytes);
  return hipSuccess;
}
hipError_t hipMemGetInfo(size_t* available, size_t* total) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (available) *available = page * static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES));
  if (total) *total = page * static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  return hipSuccess;
}
hipError_t hipDeviceSynchronize() { return take(fault); }
hipError_t hipDeviceReset() {
  last_error = fault = hipSuccess;
  return hipSuccess;
}
hipError_t hipGetLastError() {
  {
    const std::lock_guard lock(words_mutex);
    refusal_words.clear();
  }
  return take(last_error);
}
hipError_t hipPeekAtLastError() { return last_error; }
const char* hipcpu_take_failure() {
  last_error = fault = hipSuccess;
  const std::lock_guard lock(words_mutex);
  told = fault_words.empty() ? std::exchange(refusal_words, {}) : std::exchange(fault_words, {});
  return told.empty() ? nullptr : told.c_str();
}

const char* hipGetErrorName(hipError_t e) {
  switch (e) {
    case hipSuccess: return "hipSuccess";
    case hipErrorInvalidValue: return "hipErrorInvalidValue";
    case hipErrorOutOfMemory: return "hipErrorOutOfMemory";
    case hipErrorInvalidConfiguration: return "hipErrorInvalidConfiguration";
    case hipErrorInvalidMemcpyDirection: return "hipErrorInvalidMemcpyDirection";
    case hipErrorInvalidDevice: return "hipErrorInvalidDevice";
    case hipErrorLaunchFailure: return "hipErrorLaunchFailure";
    default: return "hipErrorUnknown";
  }
}
const char* hipGetErrorString(hipError_t e) {
  switch (e) {
    case hipSuccess: return "no error";
    case hipErrorInvalidValue: return "invalid argument";
    case hipErrorOutOfMemory: return "out of memory";
    case hipErrorInvalidConfiguration: return "invalid configuration argument";
    case hipErrorInvalidMemcpyDirection: return "invalid copy direction for memcpy";
    case hipErrorInvalidDevice: return "invalid device ordinal";
    case hipErrorLaunchFailure: return "unspecified launch failure";
    default: return "unknown error";
  }
}

hipError_t hipGetDeviceCount(int* n) {
  *n = 1;
  return hipSuccess;
}
hipError_t hipGetDevice(int* d) {
  *d = 0;
  return hipSuccess;
}
hipError_t hipSetDevice(int d) { return d == 0 ? hipSuccess : returning(hipErrorInvalidDevice); }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int d) {
  if (d != 0) return returning(hipErrorInvalidDevice);
  *p = {};
  std::strcpy(p->name, "CPU cores");
  std::strcpy(p->gcnArchName, "hipcpu");
  size_t unused;
  hipMemGetInfo(&unused, &p->totalGlobalMem);
  p->sharedMemPerBlock = p->maxSharedMemoryPerMultiProcessor = shared_bytes_per_block;
  p->regsPerBlock = 65536;
  p->warpSize = HIPCPU_WARP_SIZE;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  for (int& n : p->maxThreadsDim) n = 1024;
  for (int& n : p->maxGridSize) n = 2147483647;
  p->clockRate = 1000000;
  p->major = 9;
  p->minor = 4;
  p->multiProcessorCount = static_cast<int>(std::thread::hardware_concurrency());
  return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int* v, hipDeviceAttribute_t a, int d) {
  hipDeviceProp_t p;
  if (const hipError_t e = hipGetDeviceProperties(&p, d)) return e;
  switch (a) {
    case hipDeviceAttributeWarpSize: *v = p.warpSize; break;
    case hipDeviceAttributeMaxThreadsPerBlock: *v = p.maxThreadsPerBlock; break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: *v = static_cast<int>(p.sharedMemPerBlock); break;
    case hipDeviceAttributeMultiprocessorCount: *v = p.multiProcessorCount; break;
    case hipDeviceAttributeMaxGridDimX: *v = p.maxGridSize[0]; break;
    case hipDeviceAttributeClockRate: *v = p.clockRate; break;
    case hipDeviceAttributeComputeCapabilityMajor: *v = p.major; break;
    case hipDeviceAttributeComputeCapabilityMinor: *v = p.minor; break;
    default: return returning(hipErrorInvalidValue);
  }
  return hipSuccess;
}

static double now_ms() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}
hipError_t hipEventCreate(hipEvent_t* e) {
  *e = new hipcpu_event{};
  return hipSuccess;
}
hipError_t hipEventDestroy(hipEvent_t e) {
  delete e;
  return hipSuccess;
}
hipError_t hipcpu_event_record(hipEvent_t e) {
  if (!e) return returning(hipErrorInvalidResourceHandle);
  e->time = now_ms();
  return hipSuccess;
}
hipError_t hipEventElapsedTime(float* ms, hipEvent_t from, hipEvent_t to) {
  *ms = static_cast<float>(to->time - from->time);
  return hipSuccess;
}
hipError_t hipcpu_stream_create(hipStream_t* s) {
  *s = new hipcpu_stream;
  return hipSuccess;
}
hipError_t hipStreamDestroy(hipStream_t s) {
  delete s;
  return hipSuccess;
}
