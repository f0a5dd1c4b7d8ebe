// The host API that kernel sources and their launchers use. Device memory is host memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include "vector_types.h"

enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorMemoryAllocation = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInvalidDeviceFunction = 98,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidResourceHandle = 400,
  hipErrorNotReady = 600,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999,
};
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum hipDeviceAttribute_t {
  hipDeviceAttributeWarpSize,
  hipDeviceAttributeMaxThreadsPerBlock,
  hipDeviceAttributeMaxSharedMemoryPerBlock,
  hipDeviceAttributeMultiprocessorCount,
  hipDeviceAttributeMaxGridDimX,
  hipDeviceAttributeClockRate,
  hipDeviceAttributeComputeCapabilityMajor,
  hipDeviceAttributeComputeCapabilityMinor,
};
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8, hipFuncAttributePreferredSharedMemoryCarveout = 9 };
enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual };

struct hipcpu_stream;
struct hipcpu_event;
using hipStream_t = hipcpu_stream*;
using hipEvent_t = hipcpu_event*;
using hipDevice_t = int;
using hipDeviceptr_t = void*;
#define hipStreamDefault 0u
#define hipStreamNonBlocking 1u
#define hipEventDefault 0u
#define hipEventDisableTiming 2u
#define hipHostMallocDefault 0u

struct hipDeviceProp_t {
  char name[256];
  char gcnArchName[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate, major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, cooperativeLaunch;
  size_t maxSharedMemoryPerMultiProcessor;
};

extern "C" {
hipError_t hipMalloc(void** p, size_t bytes);
hipError_t hipFree(void* p);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemset(void* p, int value, size_t bytes);
hipError_t hipMemGetInfo(size_t* available, size_t* total);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char* hipGetErrorString(hipError_t e);
const char* hipGetErrorName(hipError_t e);
hipError_t hipGetDeviceCount(int* n);
hipError_t hipGetDevice(int* d);
hipError_t hipSetDevice(int d);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int d);
hipError_t hipDeviceGetAttribute(int* v, hipDeviceAttribute_t a, int d);
hipError_t hipEventCreate(hipEvent_t* e);
hipError_t hipEventDestroy(hipEvent_t e);
hipError_t hipEventElapsedTime(float* ms, hipEvent_t from, hipEvent_t to);
hipError_t hipcpu_event_record(hipEvent_t e);
hipError_t hipcpu_stream_create(hipStream_t* s);
hipError_t hipStreamDestroy(hipStream_t s);
// Why a launch failed since this was last asked, in words, or null. Faults in a kernel are always told, refused launches only
// where the source has not called hipGetLastError itself.
const char* hipcpu_take_failure();
}

namespace hipcpu {
void record(hipError_t e);
}

template <class T> hipError_t hipMalloc(T** p, size_t bytes) { return hipMalloc(reinterpret_cast<void**>(p), bytes); }
template <class T> hipError_t hipMallocAsync(T** p, size_t bytes, hipStream_t) { return hipMalloc(p, bytes); }
template <class T> hipError_t hipMallocManaged(T** p, size_t bytes, unsigned = 1) { return hipMalloc(p, bytes); }
template <class T> hipError_t hipHostMalloc(T** p, size_t bytes, unsigned = 0) { return hipMalloc(p, bytes); }
inline hipError_t hipHostFree(void* p) { return hipFree(p); }
inline hipError_t hipFreeAsync(void* p, hipStream_t) { return hipFree(p); }
inline hipError_t hipMemcpyAsync(void* to, const void* from, size_t n, hipMemcpyKind k, hipStream_t = nullptr) { return hipMemcpy(to, from, n, k); }
inline hipError_t hipMemcpyWithStream(void* to, const void* from, size_t n, hipMemcpyKind k, hipStream_t) { return hipMemcpy(to, from, n, k); }
inline hipError_t hipMemsetAsync(void* p, int v, size_t n, hipStream_t = nullptr) { return hipMemset(p, v, n); }
template <class T>
hipError_t hipMemcpyToSymbol(const T& symbol, const void* from, size_t n, size_t offset = 0, hipMemcpyKind k = hipMemcpyHostToDevice) {
  return hipMemcpy(reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(&symbol)) + offset, from, n, k);
}
template <class T>
hipError_t hipMemcpyFromSymbol(void* to, const T& symbol, size_t n, size_t offset = 0, hipMemcpyKind k = hipMemcpyDeviceToHost) {
  return hipMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, n, k);
}
template <class T>
hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* from, size_t n, size_t offset, hipMemcpyKind k, hipStream_t = nullptr) {
  return hipMemcpyToSymbol(symbol, from, n, offset, k);
}
template <class T>
hipError_t hipMemcpyFromSymbolAsync(void* to, const T& symbol, size_t n, size_t offset, hipMemcpyKind k, hipStream_t = nullptr) {
  return hipMemcpyFromSymbol(to, symbol, n, offset, k);
}
inline hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind k) {
  for (size_t row = 0; row < height; ++row)
    if (const hipError_t e = hipMemcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, k)) return e;
  return hipSuccess;
}
inline hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, hipMemcpyKind k,
                                   hipStream_t = nullptr) {
  return hipMemcpy2D(to, to_pitch, from, from_pitch, width, height, k);
}
inline hipError_t hipMemsetD32(hipDeviceptr_t p, int value, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<int*>(p)[i] = value;
  return hipSuccess;
}
inline hipError_t hipMemsetD32Async(hipDeviceptr_t p, int value, size_t count, hipStream_t = nullptr) { return hipMemsetD32(p, value, count); }
template <class T> hipError_t hipGetSymbolSize(size_t* n, const T&) {
  *n = sizeof(T);
  return hipSuccess;
}
template <class T> hipError_t hipGetSymbolAddress(void** p, const T& symbol) {
  *p = const_cast<std::remove_const_t<T>*>(&symbol);
  return hipSuccess;
}
inline hipError_t hipStreamCreate(hipStream_t* s) { return hipcpu_stream_create(s); }
inline hipError_t hipStreamCreateWithFlags(hipStream_t* s, unsigned) { return hipcpu_stream_create(s); }
inline hipError_t hipStreamCreateWithPriority(hipStream_t* s, unsigned, int) { return hipcpu_stream_create(s); }
inline hipError_t hipStreamSynchronize(hipStream_t) { return hipDeviceSynchronize(); }
inline hipError_t hipStreamQuery(hipStream_t) { return hipSuccess; }
inline hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned = 0) { return hipSuccess; }
inline hipError_t hipEventCreateWithFlags(hipEvent_t* e, unsigned) { return hipEventCreate(e); }
inline hipError_t hipEventRecord(hipEvent_t e, hipStream_t = nullptr) { return hipcpu_event_record(e); }
inline hipError_t hipEventSynchronize(hipEvent_t) { return hipDeviceSynchronize(); }
inline hipError_t hipEventQuery(hipEvent_t) { return hipSuccess; }
template <class F> hipError_t hipFuncSetAttribute(F, hipFuncAttribute, int) { return hipSuccess; }
template <class F> hipError_t hipFuncSetCacheConfig(F, hipFuncCache_t) { return hipSuccess; }
template <class F>
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) {
  int units = 1;
  hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0);
  *grid = units;
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  return hipSuccess;
}
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int block_size, size_t shared) {
  const int by_threads = 2048 / (block_size > 0 ? block_size : 1);
  const int by_shared = shared ? static_cast<int>(65536 / shared) : by_threads;
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  return hipSuccess;
}
