// Blocks are independent, so OS threads take them from a counter.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "block.h"
#include "host_state.h"
#include "module_tls.h"

namespace hipcpu {

static unsigned number(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

const Options& options() {
  static const Options o = [] {
#ifdef HIPCPU_ONE_THREAD
    const unsigned threads = 1;
#else
    const unsigned threads = number("HIPCPU_THREADS", std::thread::hardware_concurrency());
#endif
    return Options{number("HIPCPU_SHUFFLE", 0), number("HIPCPU_STRICT", 0) != 0,
                   number("HIPCPU_POISON", 1) != 0, threads ? threads : 1,
                   static_cast<double>(number("HIPCPU_LIVELOCK_SECONDS", 10))};
  }();
  return o;
}

namespace {

struct Work {
  const Grid* grid;
  size_t blocks;
  std::atomic<size_t> next{0};
  std::mutex mutex{};
  std::string failure{};

  uint3 position(size_t i) const {
    const dim3 g = grid->config.grid;
    if (options().shuffle == 1) i = blocks - 1 - i;
    // A step coprime to the count visits every block once, in an order that depends on the seed.
    if (options().shuffle > 1) i = (i * stride() + options().shuffle) % blocks;
    return {static_cast<uint32_t>(i % g.x), static_cast<uint32_t>(i / g.x % g.y), static_cast<uint32_t>(i / g.x / g.y)};
  }
  size_t stride() const {
    size_t s = options().shuffle % blocks | 1;
    while (std::gcd(s, blocks) != 1) ++s;
    return s;
  }
  void take_blocks() {
    static thread_local std::unique_ptr<BlockRunner> mine;
    if (!mine) mine = std::make_unique<BlockRunner>();
    runner = mine.get();
    const Bytes shared = options().poison ? module_tls(reinterpret_cast<const void*>(grid->invoke)) : Bytes{nullptr, 0};
    // The block may hold host-side thread-locals as well (pybind11 keeps some), which the launching thread needs again.
    const std::string host_state(static_cast<const char*>(shared.data), shared.size);
    for (size_t i; (i = next.fetch_add(1)) < blocks;) {
      if (shared.size) std::memset(shared.data, 0xff, shared.size);
      std::string why = mine->run(*grid, position(i));
      if (why.empty()) continue;
      const std::lock_guard lock(mutex);
      if (failure.empty()) failure = std::move(why);
      next = blocks;
    }
    if (shared.size) std::memcpy(shared.data, host_state.data(), shared.size);
    runner = nullptr;
  }
};

class Pool {
 public:
  explicit Pool(unsigned helpers) {
    for (unsigned i = 0; i < helpers; ++i) std::thread([this] { serve(); }).detach();
  }
  void run(Work& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      ++round_;
      open_ = true;
    }
    wake_.notify_all();
    work.take_blocks();
    std::unique_lock lock(mutex_);
    open_ = false;  // a helper that has not woken by now has nothing left to take
    idle_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void serve() {
    unsigned seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return open_ && round_ != seen; });
      seen = round_;
      Work* work = work_;
      ++busy_;
      lock.unlock();
      work->take_blocks();
      lock.lock();
      if (--busy_ == 0) idle_.notify_one();
    }
  }
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  Work* work_ = nullptr;
  unsigned round_ = 0, busy_ = 0;
  bool open_ = false;
};

// Never destroyed: its threads wait in it until the process ends. A forked child has no threads, so it makes a new one.
Pool& pool() {
  static Pool* p = nullptr;
  static pid_t owner = 0;
  if (owner != getpid()) {
    owner = getpid();
    p = new Pool(options().threads - 1);
  }
  return *p;
}

hipError_t refuse(hipError_t e, const LaunchConfig& c, const std::string& why) {
  report_refusal(std::string(c.name) + ": " + why);
  return e;
}

hipError_t check(const LaunchConfig& c) {
  const uint64_t threads = uint64_t{c.block.x} * c.block.y * c.block.z;
  const uint64_t blocks = uint64_t{c.grid.x} * c.grid.y * c.grid.z;
  if (threads == 0 || blocks == 0) return refuse(hipErrorInvalidConfiguration, c, "launched with an empty grid or block");
  if (threads > threads_per_block)
    return refuse(hipErrorInvalidConfiguration, c,
                  "launched with " + std::to_string(threads) + " threads a block, at most " + std::to_string(threads_per_block) + " fit");
  if (c.dynamic_shared > shared_bytes_per_block)
    return refuse(hipErrorInvalidValue, c,
                  "launched with " + std::to_string(c.dynamic_shared) + " bytes of dynamic shared memory, at most " +
                      std::to_string(shared_bytes_per_block) + " fit");
  return hipSuccess;
}

}  // namespace

hipError_t run_grid(const LaunchConfig& config, void (*invoke)(const void*), const void* context) {
  if (const hipError_t e = check(config)) return e;
  static std::mutex one_grid_at_a_time;
  const std::lock_guard lock(one_grid_at_a_time);
  const Grid grid{config, invoke, context};
  Work work{.grid = &grid, .blocks = size_t{config.grid.x} * config.grid.y * config.grid.z};
  if (options().threads == 1 || work.blocks == 1)
    work.take_blocks();
  else
    pool().run(work);
  if (work.failure.empty()) return hipSuccess;
  std::fprintf(stderr, "hipcpu: %s\n", work.failure.c_str());
  report_fault(std::move(work.failure));
  return hipErrorLaunchFailure;
}

}  // namespace hipcpu
