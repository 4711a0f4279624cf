// Measures which CUDA driver calls wait for a busy stream, and which streams wait because of them.
//
// One stream, the busy one, runs a kernel that spins until the host stops it. One call is made.
// Then the program asks: had the busy stream ended when the call returned (the host waits)? And for
// each kind of stream: does work that is queued there after the call run after the busy stream's?
// Streams share hardware queues, so that one may follow another by accident: a stream counts as
// later only if it is so three times, with other streams each time.
//
// Build: g++ -std=c++17 order.cpp -lcuda -lpthread   (cuda.h comes in the PyPI package
// nvidia-cuda-runtime). `order table [PREFIX [PART]]` measures the calls whose name begins with
// PREFIX and whose second column contains PART, `order further` calls that `table` leaves out, and
// `order remaining` calls that both leave out. `order devices` measures what two devices have to do
// with each other: context B is of the second one. `order copies` measures when the bytes of a copy
// arrive, and `order remaining-copies` measures this for copies that `copies` leaves out.
//
// The files *_h200.tsv are the output on an NVIDIA H200: order_h200.tsv that of `order table`, each
// of the others that of the mode in its name. Columns of the first three, separated by tabs:
//   call     the driver function; `_ptds` and `_ptsz` forms are the per-thread ones
//   what     memory, sizes, arguments; "(none)" rows make no call
//   busy     the busy stream: blocking, non_blocking, legacy, per_thread (of the calling thread),
//            other_thread (the per-thread stream of another thread); `@B`: of another context
//   stream   the stream that the call is given: `busy` for the busy one, `-` for none
//   result   the CUresult
//   host     `waits` or `returns`
//   later    the streams whose next work comes after the busy stream's work; `-` if the host waits
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using u32 = unsigned;
using u64 = unsigned long long;
using Clock = std::chrono::steady_clock;

#define NEED(call) need(call, #call, __LINE__)
static void need(CUresult result, const char* call, int line) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "order.cpp:%d: %s = %d: the measurement cannot go on\n", line, call, result);
  exit(1);
}

// ---- the machine -------------------------------------------------------------------------------

static CUdevice device;
/// The device of context B: the second one if two devices are measured.
static CUdevice device_of_B;
static bool two_devices;
static CUcontext A, B;
static CUfunction spin_A, spin_B, nothing_A;
/// Pinned: `stop` ends the spinning kernel; `done` is set by the busy stream behind it.
static volatile u32 *stop, *done, *scratch;

static const char* PTX =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry spin(.param .u64 stop, .param .u64 cycles){\n"
    " .reg .u64 %p,%n,%a,%b,%c; .reg .u32 %v; .reg .pred %q;\n"
    " ld.param.u64 %p,[stop]; ld.param.u64 %n,[cycles]; mov.u64 %a,%clock64;\n"
    "L: ld.volatile.global.u32 %v,[%p]; setp.ne.u32 %q,%v,0; @%q bra E;\n"
    " mov.u64 %b,%clock64; sub.u64 %c,%b,%a; setp.lt.u64 %q,%c,%n; @%q bra L;\n"
    "E: ret; }\n"
    ".visible .entry nothing(.param .u64 a){ ret; }\n";

/// A thread that does what it is told, so that its per-thread stream is another one.
class OtherThread {
 public:
  OtherThread() : thread([this] { loop(); }) {}
  void run(std::function<void()> task) {
    std::unique_lock<std::mutex> lock(mutex);
    work = std::move(task);
    changed.notify_all();
    changed.wait(lock, [this] { return !work; });
  }
  void end() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      over = true;
    }
    changed.notify_all();
    thread.join();
  }

 private:
  void loop() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return over || work; });
      if (over) return;
      work();
      work = nullptr;
      changed.notify_all();
    }
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> work;
  bool over = false;
  std::thread thread;
};
static OtherThread* other_thread;

static void start() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  NEED(cuInit(0));
  NEED(cuDeviceGet(&device, 0));
  NEED(cuDeviceGet(&device_of_B, two_devices ? 1 : 0));
  NEED(cuCtxCreate(&B, nullptr, 0, device_of_B));
  CUmodule module;
  NEED(cuModuleLoadData(&module, PTX));
  NEED(cuModuleGetFunction(&spin_B, module, "spin"));
  NEED(cuCtxCreate(&A, nullptr, 0, device));
  NEED(cuModuleLoadData(&module, PTX));
  NEED(cuModuleGetFunction(&spin_A, module, "spin"));
  NEED(cuModuleGetFunction(&nothing_A, module, "nothing"));
  void* host;
  NEED(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  memset(host, 0, 4096);
  stop = (volatile u32*)host;
  done = stop + 64;
  scratch = stop + 128;
  other_thread = new OtherThread;
}

// ---- streams -----------------------------------------------------------------------------------

enum Kind { BLOCKING, NON_BLOCKING, LEGACY, PER_THREAD, OTHER_THREAD };
struct StreamKind {
  Kind kind;
  bool of_B;
};
static const char* KIND_NAMES[] = {"blocking", "non_blocking", "legacy", "per_thread",
                                   "other_thread"};

static std::string name_of(StreamKind kind) {
  return std::string(KIND_NAMES[kind.kind]) + (kind.of_B ? "@B" : "");
}

/// A stream made anew for each measurement.
struct Stream {
  StreamKind of;
  CUstream handle = nullptr;
  explicit Stream(StreamKind kind) : of(kind) {
    Enter entered(kind.of_B);
    if (kind.kind == BLOCKING) NEED(cuStreamCreate(&handle, CU_STREAM_DEFAULT));
    if (kind.kind == NON_BLOCKING) NEED(cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING));
    if (kind.kind == LEGACY) handle = CU_STREAM_LEGACY;
    if (kind.kind == PER_THREAD || kind.kind == OTHER_THREAD) handle = CU_STREAM_PER_THREAD;
  }
  ~Stream() {
    if (of.kind == BLOCKING || of.kind == NON_BLOCKING) {
      Enter entered(of.of_B);
      cuStreamDestroy(handle);
    }
  }
  /// Runs a task with the stream's context current, on the thread whose stream it is.
  void on(std::function<void()> task) const {
    auto inside = [&] {
      Enter entered(of.of_B);
      task();
    };
    if (of.kind == OTHER_THREAD)
      other_thread->run(inside);
    else
      inside();
  }
  struct Enter {
    explicit Enter(bool of_B) { NEED(cuCtxPushCurrent(of_B ? B : A)); }
    ~Enter() {
      CUcontext gone;
      cuCtxPopCurrent(&gone);
    }
  };
};

static const u64 CYCLES_PER_MS = 1800 * 1000;
/// Longer than another context waits for its turn.
static const u64 TURN_MS = 25;

/// Queues the spinning kernel and, behind it, the flag that it is over.
static void make_busy(const Stream& stream, u64 milliseconds) {
  *stop = 0;
  *done = 0;
  stream.on([&] {
    CUdeviceptr flag = (CUdeviceptr)stop;
    u64 cycles = milliseconds * CYCLES_PER_MS;
    void* arguments[] = {&flag, &cycles};
    CUfunction spin = stream.of.of_B ? spin_B : spin_A;
    NEED(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream.handle, arguments, nullptr));
    NEED(cuMemsetD32Async((CUdeviceptr)done, 1, 1, stream.handle));
  });
}

/// Whether work that is queued on the stream now runs after the busy stream's work.
static bool comes_after(const Stream& stream, bool turns) {
  bool after = false;
  // Contexts take turns on a GPU: work of another one may have to wait for its turn.
  stream.on([&] {
    CUevent event;
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    NEED(cuMemsetD32Async((CUdeviceptr)scratch, 7, 1, stream.handle));
    NEED(cuEventRecord(event, stream.handle));
    auto limit = Clock::now() + std::chrono::milliseconds(turns ? TURN_MS : 2);
    CUresult result;
    do result = cuEventQuery(event);
    while (result == CUDA_ERROR_NOT_READY && Clock::now() < limit);
    if (result == CUDA_ERROR_NOT_READY) {
      after = true;
    } else {
      NEED(result);
      after = *done != 0;
    }
    *stop = 1;
    NEED(cuEventSynchronize(event));
    NEED(cuEventDestroy(event));
  });
  return after;
}

static void settle() {
  *stop = 1;
  NEED(cuCtxPushCurrent(B));
  NEED(cuCtxSynchronize());
  CUcontext gone;
  NEED(cuCtxPopCurrent(&gone));
  NEED(cuCtxSynchronize());
}

// ---- memory ------------------------------------------------------------------------------------

enum Memory {
  DEVICE,
  POOL,
  MANAGED,
  PINNED,
  REGISTERED,
  PAGEABLE,
  DEVICE_B,
  SYNC_MEMOPS,
  MANAGED_B,
  MANAGED_NO_SYNC
};
static const char* MEMORY_NAMES[] = {"device",
                                     "pool",
                                     "managed",
                                     "pinned",
                                     "registered",
                                     "pageable",
                                     "device of B",
                                     "device with SYNC_MEMOPS",
                                     "managed of B",
                                     "managed without SYNC_MEMOPS"};

static std::string size_text(size_t bytes) {
  char text[32];
  if (bytes >= (1 << 20) && bytes % (1 << 20) == 0)
    snprintf(text, sizeof text, "%zu MiB", bytes >> 20);
  else if (bytes >= 1024 && bytes % 1024 == 0)
    snprintf(text, sizeof text, "%zu KiB", bytes >> 10);
  else
    snprintf(text, sizeof text, "%zu B", bytes);
  return text;
}

/// An allocation, freed at the end unless the call under test frees it.
struct Block {
  Memory memory;
  size_t size;
  CUdeviceptr at = 0;
  bool gone = false;
  Block(Memory memory, size_t size) : memory(memory), size(std::max<size_t>(size, 1)) {
    void* host = nullptr;
    switch (memory) {
      case DEVICE:
      case SYNC_MEMOPS:
        NEED(cuMemAlloc(&at, this->size));
        break;
      case POOL: {
        CUstream stream;
        NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        NEED(cuMemAllocAsync(&at, this->size, stream));
        NEED(cuStreamSynchronize(stream));
        NEED(cuStreamDestroy(stream));
        break;
      }
      case MANAGED:
      case MANAGED_NO_SYNC:
        NEED(cuMemAllocManaged(&at, this->size, CU_MEM_ATTACH_GLOBAL));
        break;
      case MANAGED_B: {
        Stream::Enter entered(true);
        NEED(cuMemAllocManaged(&at, this->size, CU_MEM_ATTACH_GLOBAL));
        break;
      }
      case PINNED:
        NEED(cuMemHostAlloc(&host, this->size, CU_MEMHOSTALLOC_PORTABLE));
        break;
      case REGISTERED:
      case PAGEABLE:
        host =
            mmap(nullptr, this->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        // The table writes 28 GB of new memory. Small pages take most of the time of the software
        // driver's table; the H200 was measured with them.
        if (getenv("ORDER_HUGE_PAGES")) madvise(host, this->size, MADV_HUGEPAGE);
        memset(host, 1, this->size);
        if (memory == REGISTERED) NEED(cuMemHostRegister(host, this->size, 0));
        break;
      case DEVICE_B: {
        Stream::Enter entered(true);
        NEED(cuMemAlloc(&at, this->size));
        break;
      }
    }
    if (host) at = (CUdeviceptr)host;
    if (memory == SYNC_MEMOPS || memory == MANAGED_NO_SYNC) {
      u32 on = memory == SYNC_MEMOPS;
      NEED(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
    }
  }
  void* host() const { return (void*)at; }
  ~Block() {
    switch (memory) {
      case PINNED:
        if (!gone) cuMemFreeHost(host());
        break;
      case REGISTERED:
        if (!gone) cuMemHostUnregister(host());
        munmap(host(), size);
        break;
      case PAGEABLE:
        munmap(host(), size);
        break;
      default:
        if (!gone) cuMemFree(at);
    }
  }
};

// ---- the calls ---------------------------------------------------------------------------------

/// What one measurement has prepared: `call` makes the call, `after` cleans up.
struct Prepared {
  std::function<CUresult(CUstream)> call;
  std::function<void()> after = [] {};
};
struct Entry {
  std::string call, what;
  bool takes_stream;
  std::function<Prepared(const Stream& busy)> prepare;
  /// Only beside the busy streams that tell most: for memory and sizes that differ little.
  bool brief = false;
  /// Whether the work that it queues belongs to context B, too.
  bool is_of_B() const {
    for (const char* part : {"of B", "A to B", "B to", "in B", "context B"})
      if (what.find(part) != std::string::npos) return true;
    return false;
  }
};
static std::vector<Entry> entries;

/// Whether the work of an entry or of a stream waits until the busy stream's context has had its
/// turn on their device.
static bool takes_turns(const Entry& entry, StreamKind asked, StreamKind busy) {
  return !two_devices && (entry.is_of_B() || asked.of_B != busy.of_B);
}

static void add(std::string call, std::string what, bool takes_stream,
                std::function<Prepared(const Stream&)> prepare) {
  entries.push_back({std::move(call), std::move(what), takes_stream, std::move(prepare)});
}

static void add_simple(std::string call, std::string what, std::function<CUresult()> make) {
  add(std::move(call), std::move(what), false,
      [make](const Stream&) { return Prepared{[make](CUstream) { return make(); }}; });
}

using Copy = CUresult (*)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
static bool on_host(Memory memory) {
  return memory == PINNED || memory == REGISTERED || memory == PAGEABLE;
}

template <typename F>
static F per_thread(const char* name, int version) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  NEED(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                        &status));
  return (F)found;
}

static void add_between_blocks(std::string call, bool async, Memory from, Memory to, size_t size,
                               Copy copy) {
  std::string what =
      std::string(MEMORY_NAMES[from]) + " to " + MEMORY_NAMES[to] + " " + size_text(size);
  add(call, what, async, [=](const Stream&) {
    auto source = std::make_shared<Block>(from, size), target = std::make_shared<Block>(to, size);
    return Prepared{[=](CUstream stream) { return copy(target->at, source->at, size, stream); },
                    [source, target]() mutable {
                      source.reset();
                      target.reset();
                    }};
  });
}

static void add_copy(std::string call, bool async, Memory from, Memory to, size_t size, Copy copy) {
  bool usual = (from == DEVICE || to == DEVICE) && from != REGISTERED && to != REGISTERED &&
               from != SYNC_MEMOPS && to != SYNC_MEMOPS;
  bool of_B = from == DEVICE_B || to == DEVICE_B;
  // Around the size that the driver stages at once.
  bool border = size == (2 << 20) || size == (5 << 19);
  if (border && (call != "cuMemcpyHtoDAsync_v2" || from != PAGEABLE || to != DEVICE)) return;
  if (size != 64 && size != (1 << 20) && (!usual || of_B)) return;
  if (of_B && (from == POOL || to == POOL || from == REGISTERED || to == REGISTERED ||
               from == SYNC_MEMOPS || to == SYNC_MEMOPS))
    return;
  add_between_blocks(call, async, from, to, size, copy);
  bool host_to_host = from == PINNED && to == PINNED && size == 64;
  entries.back().brief = !of_B && !border && !(host_to_host && async) &&
                         (!usual || size != 64 || call == "cuMemcpyAsync");
}

static CUDA_MEMCPY2D rows(CUdeviceptr to, Memory to_memory, CUdeviceptr from, Memory from_memory,
                          size_t width, size_t height, bool unified) {
  CUDA_MEMCPY2D copy = {};
  auto type = [&](Memory memory) {
    return unified           ? CU_MEMORYTYPE_UNIFIED
           : on_host(memory) ? CU_MEMORYTYPE_HOST
                             : CU_MEMORYTYPE_DEVICE;
  };
  copy.srcMemoryType = type(from_memory);
  copy.dstMemoryType = type(to_memory);
  copy.srcDevice = from;
  copy.srcHost = (void*)from;
  copy.srcPitch = width;
  copy.dstDevice = to;
  copy.dstHost = (void*)to;
  copy.dstPitch = width;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

static void add_2d(std::string call, bool async, Memory from, Memory to, size_t width,
                   size_t height, bool unified,
                   std::function<CUresult(const CUDA_MEMCPY2D*, CUstream)> copy) {
  std::string what = std::string(MEMORY_NAMES[from]) + " to " + MEMORY_NAMES[to] + " " +
                     size_text(width * height) + (unified ? " as unified" : "");
  add(call, what, async, [=](const Stream&) {
    auto source = std::make_shared<Block>(from, width * height),
         target = std::make_shared<Block>(to, width * height);
    CUDA_MEMCPY2D described = rows(target->at, to, source->at, from, width, height, unified);
    return Prepared{[=](CUstream stream) { return copy(&described, stream); },
                    [source, target]() mutable {
                      source.reset();
                      target.reset();
                    }};
  });
  entries.back().brief = from != DEVICE || to != DEVICE || width > 16 || unified;
}

static void add_frees() {
  for (Memory memory : {DEVICE, MANAGED, POOL, DEVICE_B})
    for (size_t size : {size_t(64), size_t(64 << 10), size_t(4 << 20)})
      add("cuMemFree_v2", std::string(MEMORY_NAMES[memory]) + " " + size_text(size), false,
          [=](const Stream&) {
            auto block = std::make_shared<Block>(memory, size);
            return Prepared{[=](CUstream) {
              block->gone = true;
              return cuMemFree(block->at);
            }};
          });
  add("cuMemFree_v2", "device 4 MiB, context B current", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 4 << 20);
    return Prepared{[=](CUstream) {
      block->gone = true;
      Stream::Enter entered(true);
      return cuMemFree(block->at);
    }};
  });
  add("cuMemFree_v2", "device 4 MiB, no context current", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 4 << 20);
    return Prepared{[=](CUstream) {
      block->gone = true;
      CUcontext current;
      NEED(cuCtxPopCurrent(&current));
      CUresult result = cuMemFree(block->at);
      NEED(cuCtxPushCurrent(current));
      return result;
    }};
  });
  add("cuMemFree_v2", "pool 64 KiB in use by the busy stream", false, [](const Stream& busy) {
    CUdeviceptr at = 0;
    CUstream stream = busy.of.of_B ? CU_STREAM_LEGACY : busy.handle;
    if (busy.of.kind == OTHER_THREAD) stream = CU_STREAM_LEGACY;
    NEED(cuMemAllocAsync(&at, 64 << 10, stream));
    return Prepared{[=](CUstream) { return cuMemFree(at); }};
  });
  add_simple("cuMemFree_v2", "0", [] { return cuMemFree(0); });
  for (size_t size : {size_t(64), size_t(1 << 20), size_t(64 << 20)})
    add("cuMemFreeHost", "pinned " + size_text(size), false, [=](const Stream&) {
      auto block = std::make_shared<Block>(PINNED, size);
      return Prepared{[=](CUstream) {
        block->gone = true;
        return cuMemFreeHost(block->host());
      }};
    });
  add("cuMemFreeHost", "pinned 1 MiB of B", false, [](const Stream&) {
    void* host;
    {
      Stream::Enter entered(true);
      NEED(cuMemHostAlloc(&host, 1 << 20, 0));
    }
    return Prepared{[=](CUstream) { return cuMemFreeHost(host); }};
  });
  add_simple("cuMemFreeHost", "0", [] { return cuMemFreeHost(nullptr); });
  for (size_t size : {size_t(4096), size_t(1 << 20)})
    add("cuMemHostUnregister", "registered " + size_text(size), false, [=](const Stream&) {
      auto block = std::make_shared<Block>(REGISTERED, size);
      return Prepared{[=](CUstream) {
        block->gone = true;
        return cuMemHostUnregister(block->host());
      }};
    });
  add("cuMemHostUnregister", "registered 1 MiB in B", false, [](const Stream&) {
    auto block = std::make_shared<Block>(PAGEABLE, 1 << 20);
    {
      Stream::Enter entered(true);
      NEED(cuMemHostRegister(block->host(), 1 << 20, 0));
    }
    return Prepared{[=](CUstream) { return cuMemHostUnregister(block->host()); }};
  });
  for (Memory memory : {POOL, DEVICE})
    for (size_t size : {size_t(64), size_t(4 << 20)})
      add("cuMemFreeAsync", std::string(MEMORY_NAMES[memory]) + " " + size_text(size), true,
          [=](const Stream&) {
            auto block = std::make_shared<Block>(memory, size);
            return Prepared{[=](CUstream stream) {
              CUresult result = cuMemFreeAsync(block->at, stream);
              block->gone = result == CUDA_SUCCESS;
              return result;
            }};
          });
}

static void add_allocations() {
  for (size_t size : {size_t(64), size_t(1 << 20), size_t(64 << 20)}) {
    add("cuMemAlloc_v2", size_text(size), false, [=](const Stream&) {
      auto at = std::make_shared<CUdeviceptr>(0);
      return Prepared{[=](CUstream) { return cuMemAlloc(at.get(), size); },
                      [=] { cuMemFree(*at); }};
    });
    add("cuMemAllocManaged", size_text(size), false, [=](const Stream&) {
      auto at = std::make_shared<CUdeviceptr>(0);
      return Prepared{
          [=](CUstream) { return cuMemAllocManaged(at.get(), size, CU_MEM_ATTACH_GLOBAL); },
          [=] { cuMemFree(*at); }};
    });
    add("cuMemHostAlloc", size_text(size), false, [=](const Stream&) {
      auto at = std::make_shared<void*>(nullptr);
      return Prepared{[=](CUstream) { return cuMemHostAlloc(at.get(), size, 0); },
                      [=] { cuMemFreeHost(*at); }};
    });
    add("cuMemAllocHost_v2", size_text(size), false, [=](const Stream&) {
      auto at = std::make_shared<void*>(nullptr);
      return Prepared{[=](CUstream) { return cuMemAllocHost(at.get(), size); },
                      [=] { cuMemFreeHost(*at); }};
    });
    add("cuMemHostRegister_v2", size_text(size), false, [=](const Stream&) {
      auto block = std::make_shared<Block>(PAGEABLE, size);
      return Prepared{[=](CUstream) { return cuMemHostRegister(block->host(), block->size, 0); },
                      [=] { cuMemHostUnregister(block->host()); }};
    });
    add("cuMemAllocAsync", size_text(size), true, [=](const Stream&) {
      auto at = std::make_shared<CUdeviceptr>(0);
      return Prepared{[=](CUstream stream) { return cuMemAllocAsync(at.get(), size, stream); },
                      [=] { cuMemFree(*at); }};
    });
  }
  add("cuMemAllocPitch_v2", "100 by 100", false, [](const Stream&) {
    auto at = std::make_shared<CUdeviceptr>(0);
    return Prepared{[=](CUstream) {
                      size_t pitch;
                      return cuMemAllocPitch(at.get(), &pitch, 100, 100, 4);
                    },
                    [=] { cuMemFree(*at); }};
  });
  add("cuMemAllocFromPoolAsync", "64 KiB", true, [](const Stream&) {
    auto at = std::make_shared<CUdeviceptr>(0);
    CUmemoryPool pool;
    NEED(cuDeviceGetDefaultMemPool(&pool, device));
    return Prepared{
        [=](CUstream stream) { return cuMemAllocFromPoolAsync(at.get(), 64 << 10, pool, stream); },
        [=] { cuMemFree(*at); }};
  });
  for (size_t size : {size_t(64 << 10), size_t(40 << 20)})
    add("cuMemAllocAsync",
        size_text(size) + ", the same freed in the busy stream behind the kernel", true,
        [=](const Stream& busy) {
          auto at = std::make_shared<CUdeviceptr>(0);
          auto first = std::make_shared<CUdeviceptr>(0);
          CUstream made;
          NEED(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
          NEED(cuMemAllocAsync(first.get(), size, made));
          NEED(cuStreamSynchronize(made));
          NEED(cuStreamDestroy(made));
          const Stream* freed_on = &busy;
          return Prepared{[=](CUstream stream) {
                            freed_on->on([&] { NEED(cuMemFreeAsync(*first, freed_on->handle)); });
                            return cuMemAllocAsync(at.get(), size, stream);
                          },
                          [=] { cuMemFree(*at); }};
        });
  add_simple("cuMemGetInfo_v2", "-", [] {
    size_t a, b;
    return cuMemGetInfo(&a, &b);
  });
  add("cuMemGetAddressRange_v2", "device", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 64);
    return Prepared{[=](CUstream) {
      CUdeviceptr base;
      size_t size;
      return cuMemGetAddressRange(&base, &size, block->at);
    }};
  });
  add("cuPointerGetAttribute", "device, memory type", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 64);
    return Prepared{[=](CUstream) {
      u32 type;
      return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block->at);
    }};
  });
  add("cuPointerSetAttribute", "device, SYNC_MEMOPS", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 64);
    return Prepared{[=](CUstream) {
      u32 yes = 1;
      return cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block->at);
    }};
  });
}

static CUDA_MEMCPY3D wide(const CUDA_MEMCPY2D* c) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = c->srcMemoryType;
  copy.srcHost = c->srcHost;
  copy.srcDevice = c->srcDevice;
  copy.srcPitch = c->srcPitch;
  copy.srcHeight = c->Height;
  copy.dstMemoryType = c->dstMemoryType;
  copy.dstHost = c->dstHost;
  copy.dstDevice = c->dstDevice;
  copy.dstPitch = c->dstPitch;
  copy.dstHeight = c->Height;
  copy.WidthInBytes = c->WidthInBytes;
  copy.Height = c->Height;
  copy.Depth = 1;
  return copy;
}

static void add_3d(Memory from, Memory to, size_t width, size_t height, bool unified) {
  add_2d("cuMemcpy3D_v2", false, from, to, width, height, unified,
         [](const CUDA_MEMCPY2D* c, CUstream) {
           CUDA_MEMCPY3D copy = wide(c);
           return cuMemcpy3D(&copy);
         });
  add_2d("cuMemcpy3DAsync_v2", true, from, to, width, height, unified,
         [](const CUDA_MEMCPY2D* c, CUstream s) {
           CUDA_MEMCPY3D copy = wide(c);
           return cuMemcpy3DAsync(&copy, s);
         });
}

static void add_peer_copies() {
  for (size_t size : {size_t(64), size_t(1 << 20)})
    for (auto [from, to] : {std::pair{DEVICE, DEVICE},
                            {DEVICE, DEVICE_B},
                            {DEVICE_B, DEVICE},
                            {DEVICE_B, DEVICE_B}}) {
      CUcontext from_context = from == DEVICE_B ? B : A, to_context = to == DEVICE_B ? B : A;
      std::string what = std::string(from == DEVICE_B ? "B" : "A") + " to " +
                         (to == DEVICE_B ? "B " : "A ") + size_text(size);
      for (bool async : {false, true})
        add(async ? "cuMemcpyPeerAsync" : "cuMemcpyPeer", what, async,
            [=, from = from, to = to](const Stream&) {
              auto source = std::make_shared<Block>(from, size),
                   target = std::make_shared<Block>(to, size);
              return Prepared{[=](CUstream stream) {
                                return async ? cuMemcpyPeerAsync(target->at, to_context, source->at,
                                                                 from_context, size, stream)
                                             : cuMemcpyPeer(target->at, to_context, source->at,
                                                            from_context, size);
                              },
                              [source, target]() mutable {
                                source.reset();
                                target.reset();
                              }};
            });
    }
}

static void add_copies() {
  const size_t sizes[] = {0,       64,      64 << 10, (64 << 10) + 4, 1 << 20,
                          2 << 20, 5 << 19, 4 << 20,  8 << 20};
  const Memory host[] = {PAGEABLE, PINNED, REGISTERED, MANAGED},
               board[] = {DEVICE, POOL, MANAGED, DEVICE_B};
  static auto s_HtoD =
      per_thread<CUresult (*)(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD", 7000);
  static auto s_DtoH = per_thread<CUresult (*)(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH", 7000);
  static auto s_DtoD =
      per_thread<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t)>("cuMemcpyDtoD", 7000);
  static auto s_copy = per_thread<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t)>("cuMemcpy", 7000);
  for (size_t size : sizes) {
    for (Memory from : host)
      for (Memory to : board) {
        if (to == DEVICE_B && size > 64) continue;
        add_copy("cuMemcpyHtoD_v2", false, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                   return cuMemcpyHtoD(to, (void*)from, n);
                 });
        add_copy("cuMemcpyHtoDAsync_v2", true, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                   return cuMemcpyHtoDAsync(to, (void*)from, n, s);
                 });
        if (to == DEVICE || (to == DEVICE_B && two_devices))
          add_copy("cuMemcpyHtoD_v2_ptds", false, from, to, size,
                   [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                     return s_HtoD(to, (void*)from, n);
                   });
      }
    for (Memory from : board)
      for (Memory to : host) {
        if (from == DEVICE_B && size > 64) continue;
        add_copy("cuMemcpyDtoH_v2", false, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                   return cuMemcpyDtoH((void*)to, from, n);
                 });
        add_copy("cuMemcpyDtoHAsync_v2", true, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                   return cuMemcpyDtoHAsync((void*)to, from, n, s);
                 });
        if (from == DEVICE || (from == DEVICE_B && two_devices))
          add_copy("cuMemcpyDtoH_v2_ptds", false, from, to, size,
                   [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                     return s_DtoH((void*)to, from, n);
                   });
      }
    for (Memory from : {DEVICE, POOL, MANAGED, DEVICE_B, SYNC_MEMOPS})
      for (Memory to : {DEVICE, POOL, MANAGED, DEVICE_B, SYNC_MEMOPS}) {
        if ((from == DEVICE_B || to == DEVICE_B || from == SYNC_MEMOPS || to == SYNC_MEMOPS) &&
            size != 64)
          continue;
        add_copy("cuMemcpyDtoD_v2", false, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                   return cuMemcpyDtoD(to, from, n);
                 });
        add_copy("cuMemcpyDtoDAsync_v2", true, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                   return cuMemcpyDtoDAsync(to, from, n, s);
                 });
        bool between = (from == DEVICE && to == DEVICE_B) || (from == DEVICE_B && to == DEVICE);
        if ((from == DEVICE && to == DEVICE) || (between && two_devices))
          add_copy("cuMemcpyDtoD_v2_ptds", false, from, to, size,
                   [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                     return s_DtoD(to, from, n);
                   });
      }
    for (Memory from : {DEVICE, POOL, MANAGED, PINNED, REGISTERED, PAGEABLE, DEVICE_B})
      for (Memory to : {DEVICE, POOL, MANAGED, PINNED, REGISTERED, PAGEABLE, DEVICE_B}) {
        if ((from == DEVICE_B || to == DEVICE_B) && size != 64) continue;
        add_copy("cuMemcpy", false, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                   return cuMemcpy(to, from, n);
                 });
        add_copy("cuMemcpyAsync", true, from, to, size,
                 [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                   return cuMemcpyAsync(to, from, n, s);
                 });
        bool between = (from == DEVICE && to == DEVICE_B) || (from == DEVICE_B && to == DEVICE);
        if ((from == PAGEABLE && to == DEVICE) || (between && two_devices))
          add_copy("cuMemcpy_ptds", false, from, to, size,
                   [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                     return s_copy(to, from, n);
                   });
      }
  }
  add_peer_copies();
  for (auto [width, height] : {std::pair<size_t, size_t>{16, 16}, {1024, 1024}})
    for (auto [from, to] : {std::pair{DEVICE, DEVICE},
                            {PINNED, DEVICE},
                            {PAGEABLE, DEVICE},
                            {DEVICE, PINNED},
                            {DEVICE, PAGEABLE},
                            {DEVICE, MANAGED},
                            {MANAGED, DEVICE},
                            {DEVICE, POOL},
                            {REGISTERED, DEVICE},
                            {DEVICE, REGISTERED},
                            {PINNED, PINNED}})
      for (bool unified : {false, true}) {
        if (unified && width > 16) continue;
        add_2d("cuMemcpy2D_v2", false, from, to, width, height, unified,
               [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2D(c); });
        add_2d("cuMemcpy2DUnaligned_v2", false, from, to, width, height, unified,
               [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2DUnaligned(c); });
        add_2d("cuMemcpy2DAsync_v2", true, from, to, width, height, unified,
               [](const CUDA_MEMCPY2D* c, CUstream s) { return cuMemcpy2DAsync(c, s); });
        add_3d(from, to, width, height, unified);
      }
}

static void add_fills(Memory only = PAGEABLE) {
  for (Memory memory : {DEVICE, POOL, MANAGED, PINNED, REGISTERED, SYNC_MEMOPS, DEVICE_B})
    for (size_t size : {size_t(0), size_t(64), size_t(8 << 20)}) {
      if (only != PAGEABLE && memory != only) continue;
      std::string what = std::string(MEMORY_NAMES[memory]) + " " + size_text(size);
      auto fill = [&](std::string call, bool async,
                      std::function<CUresult(CUdeviceptr, size_t, CUstream)> make) {
        add(call, what, async, [=](const Stream&) {
          auto block = std::make_shared<Block>(memory, size);
          return Prepared{[=](CUstream stream) { return make(block->at, size, stream); },
                          [block]() mutable { block.reset(); }};
        });
        entries.back().brief = memory != DEVICE && memory != DEVICE_B;
      };
      fill("cuMemsetD8_v2", false,
           [](CUdeviceptr p, size_t n, CUstream) { return cuMemsetD8(p, 1, n); });
      fill("cuMemsetD16_v2", false,
           [](CUdeviceptr p, size_t n, CUstream) { return cuMemsetD16(p, 1, n / 2); });
      fill("cuMemsetD32_v2", false,
           [](CUdeviceptr p, size_t n, CUstream) { return cuMemsetD32(p, 1, n / 4); });
      fill("cuMemsetD8Async", true,
           [](CUdeviceptr p, size_t n, CUstream s) { return cuMemsetD8Async(p, 1, n, s); });
      fill("cuMemsetD32Async", true,
           [](CUdeviceptr p, size_t n, CUstream s) { return cuMemsetD32Async(p, 1, n / 4, s); });
      fill("cuMemsetD2D8_v2", false,
           [](CUdeviceptr p, size_t n, CUstream) { return cuMemsetD2D8(p, n / 4, 1, n / 4, 4); });
      fill("cuMemsetD2D32_v2", false,
           [](CUdeviceptr p, size_t n, CUstream) { return cuMemsetD2D32(p, n / 4, 1, n / 16, 4); });
      fill("cuMemsetD2D8Async", true, [](CUdeviceptr p, size_t n, CUstream s) {
        return cuMemsetD2D8Async(p, n / 4, 1, n / 4, 4, s);
      });
      fill("cuMemsetD2D32Async", true, [](CUdeviceptr p, size_t n, CUstream s) {
        return cuMemsetD2D32Async(p, n / 4, 1, n / 16, 4, s);
      });
    }
}

static void CUDA_CB host_function(void*) {}
static void CUDA_CB stream_callback(CUstream, CUresult, void*) {}

static void add_streams_and_events() {
  add("cuStreamCreate", "blocking", false, [](const Stream&) {
    auto made = std::make_shared<CUstream>();
    return Prepared{[=](CUstream) { return cuStreamCreate(made.get(), 0); },
                    [=] { cuStreamDestroy(*made); }};
  });
  add("cuStreamCreateWithPriority", "non-blocking", false, [](const Stream&) {
    auto made = std::make_shared<CUstream>();
    return Prepared{[=](CUstream) { return cuStreamCreateWithPriority(made.get(), 1, 0); },
                    [=] { cuStreamDestroy(*made); }};
  });
  add("cuStreamDestroy_v2", "an idle one", false, [](const Stream&) {
    CUstream made;
    NEED(cuStreamCreate(&made, 0));
    return Prepared{[=](CUstream) { return cuStreamDestroy(made); }};
  });
  add("cuStreamSynchronize", "-", true,
      [](const Stream&) { return Prepared{[](CUstream s) { return cuStreamSynchronize(s); }}; });
  add("cuStreamQuery", "-", true,
      [](const Stream&) { return Prepared{[](CUstream s) { return cuStreamQuery(s); }}; });
  add("cuStreamGetCtx", "-", true, [](const Stream&) {
    return Prepared{[](CUstream s) {
      CUcontext c;
      return cuStreamGetCtx(s, &c);
    }};
  });
  add("cuStreamGetFlags", "-", true, [](const Stream&) {
    return Prepared{[](CUstream s) {
      u32 f;
      return cuStreamGetFlags(s, &f);
    }};
  });
  add("cuLaunchHostFunc", "-", true, [](const Stream&) {
    return Prepared{[](CUstream s) { return cuLaunchHostFunc(s, host_function, nullptr); }};
  });
  add("cuStreamAddCallback", "-", true, [](const Stream&) {
    return Prepared{[](CUstream s) { return cuStreamAddCallback(s, stream_callback, nullptr, 0); }};
  });
  auto with_event = [](std::string call, std::string what, bool takes_stream,
                       std::function<void(CUevent, const Stream&)> before,
                       std::function<CUresult(CUevent, CUstream, const Stream&)> make) {
    add(call, what, takes_stream, [=](const Stream& busy) {
      CUevent event;
      NEED(cuEventCreate(&event, 0));
      before(event, busy);
      const Stream* stream = &busy;
      return Prepared{[=](CUstream s) { return make(event, s, *stream); },
                      [=] { cuEventDestroy(event); }};
    });
  };
  auto nothing = [](CUevent, const Stream&) {};
  with_event("cuStreamWaitEvent", "never recorded", true, nothing,
             [](CUevent e, CUstream s, const Stream&) { return cuStreamWaitEvent(s, e, 0); });
  with_event(
      "cuStreamWaitEvent", "recorded before the busy stream was busy", true,
      [](CUevent e, const Stream&) { NEED(cuEventRecord(e, CU_STREAM_LEGACY)); },
      [](CUevent e, CUstream s, const Stream&) { return cuStreamWaitEvent(s, e, 0); });
  with_event("cuEventRecord", "-", true, nothing,
             [](CUevent e, CUstream s, const Stream&) { return cuEventRecord(e, s); });
  with_event("cuEventRecordWithFlags", "-", true, nothing,
             [](CUevent e, CUstream s, const Stream&) { return cuEventRecordWithFlags(e, s, 0); });
  auto record_and = [](std::function<CUresult(CUevent)> then) {
    return [then](CUevent e, CUstream s, const Stream&) {
      CUresult r = cuEventRecord(e, s);
      return r ? r : then(e);
    };
  };
  with_event("cuEventQuery", "recorded in the stream while the busy one is busy", true, nothing,
             record_and([](CUevent e) { return cuEventQuery(e); }));
  with_event("cuEventSynchronize", "recorded in the stream while the busy one is busy", true,
             nothing, record_and([](CUevent e) { return cuEventSynchronize(e); }));
  with_event("cuEventQuery", "never recorded", false, nothing,
             [](CUevent e, CUstream, const Stream&) { return cuEventQuery(e); });
  with_event("cuEventSynchronize", "never recorded", false, nothing,
             [](CUevent e, CUstream, const Stream&) { return cuEventSynchronize(e); });
  add("cuEventCreate", "-", false, [](const Stream&) {
    auto made = std::make_shared<CUevent>();
    return Prepared{[=](CUstream) { return cuEventCreate(made.get(), 0); },
                    [=] { cuEventDestroy(*made); }};
  });
  add("cuEventDestroy_v2", "recorded in the stream while the busy one is busy", true,
      [](const Stream&) {
        CUevent event;
        NEED(cuEventCreate(&event, 0));
        return Prepared{[=](CUstream s) {
          CUresult r = cuEventRecord(event, s);
          return r ? r : cuEventDestroy(event);
        }};
      });
  add("cuEventElapsedTime", "two events recorded before", false, [](const Stream&) {
    CUevent first, second;
    NEED(cuEventCreate(&first, 0));
    NEED(cuEventCreate(&second, 0));
    NEED(cuEventRecord(first, CU_STREAM_LEGACY));
    NEED(cuEventRecord(second, CU_STREAM_LEGACY));
    NEED(cuCtxSynchronize());
    return Prepared{[=](CUstream) {
                      float ms;
                      return cuEventElapsedTime(&ms, first, second);
                    },
                    [=] {
                      cuEventDestroy(first);
                      cuEventDestroy(second);
                    }};
  });
  for (Memory memory : {DEVICE, PINNED}) {
    std::string what = MEMORY_NAMES[memory];
    auto value = [&](std::string call, std::string suffix,
                     std::function<CUresult(CUstream, CUdeviceptr)> make) {
      add(call, what + suffix, true, [=](const Stream&) {
        auto block = std::make_shared<Block>(memory, 64);
        NEED(cuMemsetD32(block->at, 0, 16));
        NEED(cuCtxSynchronize());
        return Prepared{[=](CUstream s) { return make(s, block->at); },
                        [block]() mutable { block.reset(); }};
      });
    };
    value("cuStreamWriteValue32_v2", "",
          [](CUstream s, CUdeviceptr p) { return cuStreamWriteValue32(s, p, 1, 0); });
    value("cuStreamWriteValue64_v2", "",
          [](CUstream s, CUdeviceptr p) { return cuStreamWriteValue64(s, p, 1, 0); });
    value("cuStreamWaitValue32_v2", ", already there", [](CUstream s, CUdeviceptr p) {
      return cuStreamWaitValue32(s, p, 0, CU_STREAM_WAIT_VALUE_EQ);
    });
    value("cuStreamWaitValue64_v2", ", already there", [](CUstream s, CUdeviceptr p) {
      return cuStreamWaitValue64(s, p, 0, CU_STREAM_WAIT_VALUE_EQ);
    });
    value("cuStreamBatchMemOp_v2", ", one write", [](CUstream s, CUdeviceptr p) {
      CUstreamBatchMemOpParams op = {};
      op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      op.writeValue.address = p;
      op.writeValue.value = 1;
      return cuStreamBatchMemOp(s, 1, &op, 0);
    });
  }
}

static void add_graphs_and_launches() {
  auto captured = [](std::function<void(CUstream)> work) {
    CUstream stream;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph;
    CUgraphExec exec = nullptr;
    if (cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS) {
      work(stream);
      NEED(cuStreamEndCapture(stream, &graph));
      NEED(cuGraphInstantiate(&exec, graph, 0));
      NEED(cuGraphDestroy(graph));
    }
    NEED(cuStreamDestroy(stream));
    return exec;
  };
  auto launch = [captured](std::string what, std::function<void(CUstream)> work) {
    add("cuGraphLaunch", what, true, [=](const Stream&) {
      CUgraphExec exec = captured(work);
      if (exec) {
        NEED(cuGraphLaunch(exec, CU_STREAM_LEGACY));
        NEED(cuCtxSynchronize());
      }
      return Prepared{
          [=](CUstream s) { return exec ? cuGraphLaunch(exec, s) : CUDA_ERROR_NOT_SUPPORTED; },
          [=] {
            if (exec) cuGraphExecDestroy(exec);
          }};
    });
  };
  static Block* target = new Block(DEVICE, 64);
  launch("one memset", [](CUstream s) { NEED(cuMemsetD8Async(target->at, 1, 64, s)); });
  launch("one kernel", [](CUstream s) {
    u64 zero = 0;
    void* arguments[] = {&zero};
    NEED(cuLaunchKernel(nothing_A, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr));
  });
  add("cuGraphInstantiateWithFlags", "one memset", false, [](const Stream&) {
    CUstream stream;
    CUgraph graph = nullptr;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS) {
      NEED(cuMemsetD8Async(target->at, 1, 64, stream));
      NEED(cuStreamEndCapture(stream, &graph));
    }
    NEED(cuStreamDestroy(stream));
    auto exec = std::make_shared<CUgraphExec>(nullptr);
    return Prepared{[=](CUstream) {
                      return graph ? cuGraphInstantiate(exec.get(), graph, 0)
                                   : CUDA_ERROR_NOT_SUPPORTED;
                    },
                    [=] {
                      if (*exec) cuGraphExecDestroy(*exec);
                      if (graph) cuGraphDestroy(graph);
                    }};
  });
  add("cuStreamBeginCapture_v2", "relaxed, and ended", true, [](const Stream&) {
    return Prepared{[](CUstream s) {
      CUresult r = cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED);
      CUgraph graph;
      if (r == CUDA_SUCCESS && (r = cuStreamEndCapture(s, &graph)) == CUDA_SUCCESS)
        cuGraphDestroy(graph);
      return r;
    }};
  });
  add("cuLaunchKernel", "known kernel", true, [](const Stream&) {
    return Prepared{[](CUstream s) {
      u64 zero = 0;
      void* arguments[] = {&zero};
      return cuLaunchKernel(nothing_A, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr);
    }};
  });
  add("cuLaunchCooperativeKernel", "known kernel", true, [](const Stream&) {
    return Prepared{[](CUstream s) {
      u64 zero = 0;
      void* arguments[] = {&zero};
      return cuLaunchCooperativeKernel(nothing_A, 1, 1, 1, 1, 1, 1, 0, s, arguments);
    }};
  });
  for (int attribute : {0, int(CU_LAUNCH_ATTRIBUTE_PRIORITY),
                        int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)})
    add("cuLaunchKernelEx",
        attribute == 0                              ? "no attribute"
        : attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ? "priority"
                                                    : "programmatic stream serialization",
        true, [=](const Stream&) {
          return Prepared{[=](CUstream s) {
            CUlaunchAttribute one = {};
            one.id = (CUlaunchAttributeID)attribute;
            one.value.programmaticStreamSerializationAllowed =
                attribute == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            CUlaunchConfig config = {};
            config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX =
                config.blockDimY = config.blockDimZ = 1;
            config.hStream = s;
            config.attrs = &one;
            config.numAttrs = attribute ? 1 : 0;
            u64 zero = 0;
            void* arguments[] = {&zero};
            return cuLaunchKernelEx(&config, nothing_A, arguments, nullptr);
          }};
        });
  add("cuLaunchKernel", "first launch of a new module's kernel", true, [](const Stream&) {
    CUmodule module;
    CUfunction function;
    NEED(cuModuleLoadData(&module, PTX));
    NEED(cuModuleGetFunction(&function, module, "nothing"));
    return Prepared{[=](CUstream s) {
                      u64 zero = 0;
                      void* arguments[] = {&zero};
                      return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, arguments, nullptr);
                    },
                    [=] { cuModuleUnload(module); }};
  });
  add("cuModuleLoadData", "PTX", false, [](const Stream&) {
    auto module = std::make_shared<CUmodule>();
    return Prepared{[=](CUstream) { return cuModuleLoadData(module.get(), PTX); },
                    [=] { cuModuleUnload(*module); }};
  });
  add("cuModuleUnload", "not used", false, [](const Stream&) {
    CUmodule module;
    NEED(cuModuleLoadData(&module, PTX));
    return Prepared{[=](CUstream) { return cuModuleUnload(module); }};
  });
  add("cuModuleGetFunction", "-", false, [](const Stream&) {
    CUmodule module;
    NEED(cuModuleLoadData(&module, PTX));
    return Prepared{[=](CUstream) {
                      CUfunction f;
                      return cuModuleGetFunction(&f, module, "nothing");
                    },
                    [=] { cuModuleUnload(module); }};
  });
}

static void add_contexts_and_pools() {
  add_simple("cuCtxSynchronize", "-", [] { return cuCtxSynchronize(); });
  add_simple("cuCtxGetLimit", "stack size", [] {
    size_t v;
    return cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE);
  });
  add_simple("cuCtxSetLimit", "stack size", [] {
    static size_t v = 1024;
    v += 1024;
    return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024 + v % 8192);
  });
  add_simple("cuCtxSetCurrent", "the same", [] { return cuCtxSetCurrent(A); });
  add("cuCtxDestroy_v2", "an idle one", false, [](const Stream&) {
    CUcontext made;
    NEED(cuCtxCreate(&made, nullptr, 0, device));
    CUcontext gone;
    NEED(cuCtxPopCurrent(&gone));
    return Prepared{[=](CUstream) { return cuCtxDestroy(made); }};
  });
  add("cuCtxCreate_v4", "-", false, [](const Stream&) {
    auto made = std::make_shared<CUcontext>();
    return Prepared{[=](CUstream) {
                      CUresult r = cuCtxCreate(made.get(), nullptr, 0, device);
                      CUcontext gone;
                      cuCtxPopCurrent(&gone);
                      return r;
                    },
                    [=] { cuCtxDestroy(*made); }};
  });
  add("cuDevicePrimaryCtxRetain", "the first time", false, [](const Stream&) {
    return Prepared{[](CUstream) {
                      CUcontext c;
                      return cuDevicePrimaryCtxRetain(&c, device);
                    },
                    [] { cuDevicePrimaryCtxRelease(device); }};
  });
  add("cuDevicePrimaryCtxRelease_v2", "the last one, the busy stream in another context", false,
      [](const Stream&) {
        CUcontext c;
        NEED(cuDevicePrimaryCtxRetain(&c, device));
        return Prepared{[](CUstream) { return cuDevicePrimaryCtxRelease(device); }};
      });
  add("cuDevicePrimaryCtxReset_v2", "the busy stream in another context", false, [](const Stream&) {
    CUcontext c;
    NEED(cuDevicePrimaryCtxRetain(&c, device));
    return Prepared{[](CUstream) { return cuDevicePrimaryCtxReset(device); },
                    [] { cuDevicePrimaryCtxRelease(device); }};
  });
  auto properties = [] {
    CUmemPoolProps props = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = device;
    return props;
  };
  add("cuMemPoolCreate", "-", false, [=](const Stream&) {
    auto pool = std::make_shared<CUmemoryPool>();
    return Prepared{[=](CUstream) {
                      CUmemPoolProps props = properties();
                      return cuMemPoolCreate(pool.get(), &props);
                    },
                    [=] { cuMemPoolDestroy(*pool); }};
  });
  add("cuMemPoolDestroy", "empty", false, [=](const Stream&) {
    CUmemoryPool pool;
    CUmemPoolProps props = properties();
    NEED(cuMemPoolCreate(&pool, &props));
    return Prepared{[=](CUstream) { return cuMemPoolDestroy(pool); }};
  });
  add("cuMemPoolTrimTo", "default pool, 0", false, [](const Stream&) {
    CUmemoryPool pool;
    NEED(cuDeviceGetDefaultMemPool(&pool, device));
    {
      Block block(POOL, 4 << 20);
    }
    NEED(cuCtxSynchronize());
    return Prepared{[=](CUstream) { return cuMemPoolTrimTo(pool, 0); }};
  });
  add("cuMemPrefetchAsync_v2", "managed to the device", true, [](const Stream&) {
    auto block = std::make_shared<Block>(MANAGED, 1 << 20);
    return Prepared{[=](CUstream s) {
                      CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, device};
                      return cuMemPrefetchAsync(block->at, 1 << 20, where, 0, s);
                    },
                    [block]() mutable { block.reset(); }};
  });
  add("cuMemPrefetchAsync_v2", "managed to the host", true, [](const Stream&) {
    auto block = std::make_shared<Block>(MANAGED, 1 << 20);
    return Prepared{[=](CUstream s) {
                      CUmemLocation where = {CU_MEM_LOCATION_TYPE_HOST, 0};
                      return cuMemPrefetchAsync(block->at, 1 << 20, where, 0, s);
                    },
                    [block]() mutable { block.reset(); }};
  });
  add("cuMemAdvise_v2", "managed, read mostly", false, [](const Stream&) {
    auto block = std::make_shared<Block>(MANAGED, 1 << 20);
    return Prepared{[=](CUstream) {
                      CUmemLocation where = {CU_MEM_LOCATION_TYPE_DEVICE, device};
                      return cuMemAdvise(block->at, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, where);
                    },
                    [block]() mutable { block.reset(); }};
  });
  add("cuStreamAttachMemAsync", "managed", true, [](const Stream&) {
    auto block = std::make_shared<Block>(MANAGED, 1 << 20);
    return Prepared{
        [=](CUstream s) { return cuStreamAttachMemAsync(s, block->at, 0, CU_MEM_ATTACH_GLOBAL); },
        [block]() mutable { block.reset(); }};
  });
  add("cuIpcGetMemHandle", "device 2 MiB", false, [](const Stream&) {
    auto block = std::make_shared<Block>(DEVICE, 2 << 20);
    return Prepared{[=](CUstream) {
                      CUipcMemHandle handle;
                      return cuIpcGetMemHandle(&handle, block->at);
                    },
                    [block]() mutable { block.reset(); }};
  });
}

/// Physical memory and the addresses that it is mapped at.
struct Mapping {
  CUmemAllocationProp prop = {};
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr at = 0;
  size_t size = 2 << 20;
  CUresult upto(int step) {
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    CUresult r = CUDA_SUCCESS;
    if (step > 0) r = cuMemCreate(&handle, size, &prop, 0);
    if (step > 1 && !r) r = cuMemAddressReserve(&at, size, 0, 0, 0);
    if (step > 2 && !r) r = cuMemMap(at, size, 0, handle, 0);
    if (step > 3 && !r) r = access();
    return r;
  }
  CUresult access() {
    CUmemAccessDesc desc = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemSetAccess(at, size, &desc, 1);
  }
  ~Mapping() {
    if (at) {
      cuMemUnmap(at, size);
      cuMemAddressFree(at, size);
    }
    if (handle) cuMemRelease(handle);
  }
};

static void add_virtual_memory() {
  auto step = [](std::string call, int before, std::function<CUresult(Mapping&)> make) {
    add(call, "2 MiB", false, [=](const Stream&) {
      auto mapping = std::make_shared<Mapping>();
      mapping->upto(before);
      return Prepared{[=](CUstream) { return make(*mapping); },
                      [mapping]() mutable { mapping.reset(); }};
    });
  };
  step("cuMemCreate", 0, [](Mapping& m) { return m.upto(1); });
  step("cuMemAddressReserve", 1,
       [](Mapping& m) { return cuMemAddressReserve(&m.at, m.size, 0, 0, 0); });
  step("cuMemMap", 2, [](Mapping& m) { return cuMemMap(m.at, m.size, 0, m.handle, 0); });
  step("cuMemSetAccess", 3, [](Mapping& m) { return m.access(); });
  step("cuMemUnmap", 4, [](Mapping& m) { return cuMemUnmap(m.at, m.size); });
  step("cuMemRelease", 4, [](Mapping& m) {
    CUresult r = cuMemRelease(m.handle);
    m.handle = 0;
    return r;
  });
}

/// A function as a version of CUDA has it; null if the driver has none.
static void* of_version(const char* name, int version) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  return found;
}

static void add_synchronize_named() {
  static auto synchronize = (CUresult(*)(CUcontext))of_version("cuCtxSynchronize", 13000);
  if (!synchronize) return;
  add_simple("cuCtxSynchronize_v2", "the current one", [] { return synchronize(A); });
  add_simple("cuCtxSynchronize_v2", "context B", [] { return synchronize(B); });
}

/// What the first measurement left out: `order further`.
static void add_further() {
  const Memory all[] = {DEVICE, POOL, MANAGED, PINNED, REGISTERED, PAGEABLE};
  for (Memory from : all)
    for (Memory to : all)
      for (size_t width : {size_t(16), size_t(0)}) {
        if (width == 0 && (from != PAGEABLE || to != DEVICE) && (from != DEVICE || to != DEVICE))
          continue;
        add_2d("cuMemcpy2D_v2", false, from, to, width, 16, false,
               [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2D(c); });
        entries.back().brief = true;
        add_2d("cuMemcpy2DUnaligned_v2", false, from, to, width, 16, false,
               [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2DUnaligned(c); });
        entries.back().brief = true;
        add_2d("cuMemcpy2DAsync_v2", true, from, to, width, 16, false,
               [](const CUDA_MEMCPY2D* c, CUstream s) { return cuMemcpy2DAsync(c, s); });
        entries.back().brief = true;
        add_3d(from, to, width, 16, false);
        (entries.end() - 2)->brief = entries.back().brief = true;
      }
  // Host memory has one address for both sides, so that "device" functions take it.
  for (Memory from : {DEVICE, POOL, PINNED, REGISTERED, SYNC_MEMOPS})
    for (Memory to : {DEVICE, POOL, PINNED, REGISTERED, SYNC_MEMOPS}) {
      add_copy("cuMemcpyDtoD_v2", false, from, to, 64,
               [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                 return cuMemcpyDtoD(to, from, n);
               });
      add_copy("cuMemcpyDtoDAsync_v2", true, from, to, 64,
               [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                 return cuMemcpyDtoDAsync(to, from, n, s);
               });
      add_copy("cuMemcpy", false, from, to, 64,
               [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
                 return cuMemcpy(to, from, n);
               });
    }
  for (Memory memory : {DEVICE, POOL, MANAGED})
    add_copy("cuMemcpyHtoDAsync_v2", true, PAGEABLE, memory, 2 << 20,
             [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
               return cuMemcpyHtoDAsync(to, (void*)from, n, s);
             });
  for (Memory memory : {DEVICE, POOL, MANAGED, PINNED})
    for (size_t size : {size_t(0), size_t(64)})
      add("cuMemsetD16Async", std::string(MEMORY_NAMES[memory]) + " " + size_text(size), true,
          [=](const Stream&) {
            auto block = std::make_shared<Block>(memory, size);
            return Prepared{
                [=](CUstream stream) { return cuMemsetD16Async(block->at, 1, size / 2, stream); },
                [block]() mutable { block.reset(); }};
          });
  for (Memory memory : all)
    for (size_t size : {size_t(0), size_t(64)}) {
      if (memory == PAGEABLE) continue;
      std::string what = std::string(MEMORY_NAMES[memory]) + " " + size_text(size);
      add("cuMemsetD2D16_v2", what, false, [=](const Stream&) {
        auto block = std::make_shared<Block>(memory, size);
        return Prepared{
            [=](CUstream) { return cuMemsetD2D16(block->at, size / 4, 1, size / 8, 4); },
            [block]() mutable { block.reset(); }};
      });
      entries.back().brief = true;
      add("cuMemsetD2D16Async", what, true, [=](const Stream&) {
        auto block = std::make_shared<Block>(memory, size);
        return Prepared{
            [=](CUstream s) { return cuMemsetD2D16Async(block->at, size / 4, 1, size / 8, 4, s); },
            [block]() mutable { block.reset(); }};
      });
      entries.back().brief = true;
    }
  add_synchronize_named();
  static auto prefetch =
      (CUresult(*)(CUdeviceptr, size_t, CUdevice, CUstream))of_version("cuMemPrefetchAsync", 8000);
  if (prefetch)
    add("cuMemPrefetchAsync", "managed to the device", true, [](const Stream&) {
      auto block = std::make_shared<Block>(MANAGED, 1 << 20);
      return Prepared{[=](CUstream s) { return prefetch(block->at, 1 << 20, device, s); },
                      [block]() mutable { block.reset(); }};
    });
  add("cuModuleLoadDataEx", "PTX", false, [](const Stream&) {
    auto module = std::make_shared<CUmodule>();
    return Prepared{
        [=](CUstream) { return cuModuleLoadDataEx(module.get(), PTX, 0, nullptr, nullptr); },
        [=] { cuModuleUnload(*module); }};
  });
  add("cuModuleGetFunction", "the second time", false, [](const Stream&) {
    CUmodule module;
    NEED(cuModuleLoadData(&module, PTX));
    CUfunction first;
    NEED(cuModuleGetFunction(&first, module, "nothing"));
    return Prepared{[=](CUstream) {
                      CUfunction f;
                      return cuModuleGetFunction(&f, module, "nothing");
                    },
                    [=] { cuModuleUnload(module); }};
  });
  add("cuModuleUnload", "its kernel was looked up", false, [](const Stream&) {
    CUmodule module;
    CUfunction first;
    NEED(cuModuleLoadData(&module, PTX));
    NEED(cuModuleGetFunction(&first, module, "nothing"));
    return Prepared{[=](CUstream) { return cuModuleUnload(module); }};
  });
  add("cuLibraryLoadData", "PTX", false, [](const Stream&) {
    auto library = std::make_shared<CUlibrary>();
    return Prepared{[=](CUstream) {
                      return cuLibraryLoadData(library.get(), PTX, nullptr, nullptr, 0, nullptr,
                                               nullptr, 0);
                    },
                    [=] { cuLibraryUnload(*library); }};
  });
  add("cuLibraryUnload", "its module was made", false, [](const Stream&) {
    CUlibrary library;
    CUmodule module;
    NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
    NEED(cuLibraryGetModule(&module, library));
    return Prepared{[=](CUstream) { return cuLibraryUnload(library); }};
  });
  add_peer_copies();
  add_fills(DEVICE_B);
}

/// A copy of slices, from the second slice and the third row of a higher source.
static CUDA_MEMCPY3D slices(CUdeviceptr to, Memory to_memory, CUdeviceptr from,
                            Memory from_memory) {
  CUDA_MEMCPY2D flat = rows(to, to_memory, from, from_memory, 16, 4, false);
  CUDA_MEMCPY3D copy = wide(&flat);
  copy.Depth = 4;
  copy.srcZ = 1;
  copy.srcY = 2;
  copy.srcHeight = 8;
  return copy;
}

static void add_remaining_table_copies() {
  static auto copy_2d = per_thread<CUresult (*)(const CUDA_MEMCPY2D*)>("cuMemcpy2D", 7000);
  static auto copy_3d = per_thread<CUresult (*)(const CUDA_MEMCPY3D*)>("cuMemcpy3D", 7000);
  for (auto [from, to] : {std::pair{DEVICE, DEVICE}, {PAGEABLE, DEVICE}, {DEVICE, PINNED}})
    add("cuMemcpy3D_v2",
        std::string(MEMORY_NAMES[from]) + " to " + MEMORY_NAMES[to] + " 256 B in 4 slices", false,
        [=, from = from, to = to](const Stream&) {
          auto source = std::make_shared<Block>(from, 1024),
               target = std::make_shared<Block>(to, 256);
          CUDA_MEMCPY3D copy = slices(target->at, to, source->at, from);
          return Prepared{[=](CUstream) { return cuMemcpy3D(&copy); },
                          [source, target]() mutable {
                            source.reset();
                            target.reset();
                          }};
        });
  for (size_t width : {size_t(16), size_t(1024)}) {
    add_2d("cuMemcpy2D_v2_ptds", false, PAGEABLE, DEVICE, width, width, false,
           [](const CUDA_MEMCPY2D* c, CUstream) { return copy_2d(c); });
    add_2d("cuMemcpy3D_v2_ptds", false, PAGEABLE, DEVICE, width, width, false,
           [](const CUDA_MEMCPY2D* c, CUstream) {
             CUDA_MEMCPY3D copy = wide(c);
             return copy_3d(&copy);
           });
    static auto unaligned =
        per_thread<CUresult (*)(const CUDA_MEMCPY2D*)>("cuMemcpy2DUnaligned", 7000);
    add_2d("cuMemcpy2DUnaligned_v2_ptds", false, PAGEABLE, DEVICE, width, width, false,
           [](const CUDA_MEMCPY2D* c, CUstream) { return unaligned(c); });
    for (size_t last = entries.size() - 3; last < entries.size(); last++)
      entries[last].brief = false;
  }
  // The border between staging at once and staging piece by piece.
  for (size_t size : {(2 << 20) + 4, (2 << 20) + (64 << 10), (2 << 20) + (128 << 10),
                      (2 << 20) + (256 << 10), (2 << 20) + (384 << 10), (5 << 19) - 4}) {
    add_between_blocks("cuMemcpyHtoDAsync_v2", true, PAGEABLE, DEVICE, size,
                       [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
                         return cuMemcpyHtoDAsync(to, (void*)from, n, s);
                       });
    entries.back().brief = true;
  }
  for (bool managed : {false, true})
    add("cuMemcpyAsync",
        std::string(managed ? "managed" : "pinned") + " memory of B to device 64 B", true,
        [=](const Stream&) {
          auto target = std::make_shared<Block>(DEVICE, 64);
          CUdeviceptr from;
          void* host = nullptr;
          Stream::Enter entered(true);
          if (managed)
            NEED(cuMemAllocManaged(&from, 64, CU_MEM_ATTACH_GLOBAL));
          else
            NEED(cuMemHostAlloc(&host, 64, 0));
          if (host) from = (CUdeviceptr)host;
          return Prepared{
              [=](CUstream stream) { return cuMemcpyAsync(target->at, from, 64, stream); },
              [=]() mutable {
                target.reset();
                if (host)
                  cuMemFreeHost(host);
                else
                  cuMemFree(from);
              }};
        });
}

/// Copies of managed memory that another context owns, or that demands no wait.
static void add_managed_copies() {
  struct Way {
    Memory from, to;
  };
  for (auto [from, to] : {Way{MANAGED_B, DEVICE}, {DEVICE, MANAGED_B}, {MANAGED_B, PAGEABLE},
                          {PAGEABLE, MANAGED_B}, {MANAGED_B, PINNED}, {PINNED, MANAGED_B},
                          {MANAGED_B, MANAGED}, {MANAGED_B, MANAGED_B},
                          {MANAGED_NO_SYNC, DEVICE}, {DEVICE, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, PAGEABLE}, {PAGEABLE, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, PINNED}, {PINNED, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, MANAGED_NO_SYNC}}) {
    auto add_each = [&](std::string call, bool async, Copy copy) {
      add_copy(call, async, from, to, 64, copy);
      entries.back().brief = from == MANAGED_NO_SYNC || to == MANAGED_NO_SYNC;
    };
    add_each("cuMemcpy", false, [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
      return cuMemcpy(to, from, n);
    });
    add_each("cuMemcpyAsync", true, [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
      return cuMemcpyAsync(to, from, n, s);
    });
    if (!on_host(to))
      add_each("cuMemcpyHtoD_v2", false, [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
        return cuMemcpyHtoD(to, (void*)from, n);
      });
    if (!on_host(from))
      add_each("cuMemcpyDtoH_v2", false, [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
        return cuMemcpyDtoH((void*)to, from, n);
      });
    if (on_host(from) || on_host(to)) continue;
    add_each("cuMemcpyDtoD_v2", false, [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
      return cuMemcpyDtoD(to, from, n);
    });
    add_each("cuMemcpyDtoDAsync_v2", true,
             [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
               return cuMemcpyDtoDAsync(to, from, n, s);
             });
  }
  for (Memory memory : {MANAGED_B, MANAGED_NO_SYNC}) {
    add("cuMemsetD8_v2", std::string(MEMORY_NAMES[memory]) + " 64 B", false, [=](const Stream&) {
      auto block = std::make_shared<Block>(memory, 64);
      return Prepared{[=](CUstream) { return cuMemsetD8(block->at, 1, 64); },
                      [block]() mutable { block.reset(); }};
    });
    add("cuMemsetD8Async", std::string(MEMORY_NAMES[memory]) + " 64 B", true, [=](const Stream&) {
      auto block = std::make_shared<Block>(memory, 64);
      return Prepared{[=](CUstream stream) { return cuMemsetD8Async(block->at, 1, 64, stream); },
                      [block]() mutable { block.reset(); }};
    });
  }
}

/// Copies of rows and slices of managed memory that demands no wait.
static void add_managed_rows() {
  for (auto [from, to] : {std::pair{MANAGED_NO_SYNC, DEVICE},
                          {DEVICE, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, PAGEABLE},
                          {PAGEABLE, MANAGED_NO_SYNC},
                          {MANAGED_NO_SYNC, PINNED},
                          {PINNED, MANAGED_NO_SYNC}}) {
    add_2d("cuMemcpy2D_v2", false, from, to, 16, 16, false,
           [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2D(c); });
    add_2d("cuMemcpy2DUnaligned_v2", false, from, to, 16, 16, false,
           [](const CUDA_MEMCPY2D* c, CUstream) { return cuMemcpy2DUnaligned(c); });
    add_2d("cuMemcpy2DAsync_v2", true, from, to, 16, 16, false, cuMemcpy2DAsync);
    add_3d(from, to, 16, 16, false);
  }
}

static void add_library_unloads() {
  for (bool launched : {false, true}) {
    std::string what = launched ? "its kernel ran" : "its function was made";
    add("cuLibraryUnload", what, false, [=](const Stream&) {
      CUlibrary library;
      CUkernel kernel;
      CUfunction function;
      NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
      NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
      NEED(cuKernelGetFunction(&function, kernel));
      u64 zero = 0;
      void* arguments[] = {&zero};
      if (launched)
        NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, arguments, nullptr));
      NEED(cuCtxSynchronize());
      return Prepared{[=](CUstream) { return cuLibraryUnload(library); }};
    });
  }
  add("cuModuleUnload", "its kernel ran", false, [=](const Stream&) {
    CUmodule module;
    CUfunction function;
    NEED(cuModuleLoadData(&module, PTX));
    NEED(cuModuleGetFunction(&function, module, "nothing"));
    u64 zero = 0;
    void* arguments[] = {&zero};
    NEED(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, arguments, nullptr));
    NEED(cuCtxSynchronize());
    return Prepared{[=](CUstream) { return cuModuleUnload(module); }};
  });
}

/// A handle of memory of another process, which waits until this one ends.
static CUipcMemHandle of_another_process;
static void start_another_process() {
  int ends[2];
  if (pipe(ends)) exit(1);
  if (fork() == 0) {
    CUcontext context;
    CUdeviceptr at;
    CUipcMemHandle handle;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, nullptr, 0, device) ||
        cuMemAlloc(&at, 2 << 20) || cuIpcGetMemHandle(&handle, at))
      _exit(1);
    if (write(ends[1], &handle, sizeof handle) < 0) _exit(1);
    for (pid_t parent = getppid(); getppid() == parent;) usleep(10000);
    _exit(0);
  }
  close(ends[1]);
  if (read(ends[0], &of_another_process, sizeof of_another_process) <
      (ssize_t)sizeof of_another_process) {
    fprintf(stderr, "order.cpp: the other process could not export memory\n");
    exit(1);
  }
}

/// Copies from pageable memory by the memory that they write: asynchronous ones around the size
/// that does not fit into the staging buffer, and those in per-thread streams.
static void add_staged_copies() {
  using OfRows = CUresult (*)(const CUDA_MEMCPY2D*, CUstream);
  static auto HtoD_ptds =
      per_thread<CUresult (*)(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD", 7000);
  static auto copy_ptds =
      per_thread<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t)>("cuMemcpy", 7000);
  static auto rows_ptds = per_thread<CUresult (*)(const CUDA_MEMCPY2D*)>("cuMemcpy2D", 7000);
  static auto unaligned_ptds =
      per_thread<CUresult (*)(const CUDA_MEMCPY2D*)>("cuMemcpy2DUnaligned", 7000);
  static auto wide_ptds = per_thread<CUresult (*)(const CUDA_MEMCPY3D*)>("cuMemcpy3D", 7000);
  auto flat = [](const char* call, bool async, Memory to, size_t size, Copy copy) {
    if (to == DEVICE) return;  // `table` asks this.
    add_between_blocks(call, async, PAGEABLE, to, size, copy);
    entries.back().brief = true;
  };
  auto of_rows = [](const char* call, bool async, Memory to, size_t size, OfRows copy) {
    size_t width = size < 2048 ? 16 : 2048;
    add_2d(call, async, PAGEABLE, to, width, size / width, false, copy);
    entries.back().brief = true;
  };
  for (Memory to : {DEVICE, POOL, MANAGED, SYNC_MEMOPS, REGISTERED, PINNED}) {
    for (size_t size : {(2 << 20) + 2048, 5 << 19, 4 << 20, 8 << 20}) {
      flat("cuMemcpyHtoDAsync_v2", true, to, size,
           [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
             return cuMemcpyHtoDAsync(to, (void*)from, n, s);
           });
      flat("cuMemcpyAsync", true, to, size,
           [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
             return cuMemcpyAsync(to, from, n, s);
           });
      of_rows("cuMemcpy2DAsync_v2", true, to, size,
              [](const CUDA_MEMCPY2D* c, CUstream s) { return cuMemcpy2DAsync(c, s); });
      of_rows("cuMemcpy3DAsync_v2", true, to, size, [](const CUDA_MEMCPY2D* c, CUstream s) {
        CUDA_MEMCPY3D copy = wide(c);
        return cuMemcpy3DAsync(&copy, s);
      });
    }
    for (size_t size : {size_t(64), size_t(256), size_t(4 << 20), size_t(8 << 20)}) {
      if (to == DEVICE && size == 256) continue;
      flat("cuMemcpyHtoD_v2_ptds", false, to, size,
           [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
             return HtoD_ptds(to, (void*)from, n);
           });
      flat("cuMemcpy_ptds", false, to, size,
           [](CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
             return copy_ptds(to, from, n);
           });
      of_rows("cuMemcpy2D_v2_ptds", false, to, size,
              [](const CUDA_MEMCPY2D* c, CUstream) { return rows_ptds(c); });
      of_rows("cuMemcpy2DUnaligned_v2_ptds", false, to, size,
              [](const CUDA_MEMCPY2D* c, CUstream) { return unaligned_ptds(c); });
      of_rows("cuMemcpy3D_v2_ptds", false, to, size, [](const CUDA_MEMCPY2D* c, CUstream) {
        CUDA_MEMCPY3D copy = wide(c);
        return wide_ptds(&copy);
      });
    }
  }
}

static void add_frees_of_B() {
  for (bool managed : {false, true})
    add("cuMemFree_v2", std::string(managed ? "managed" : "pool") + " 4 MiB of B", false,
        [=](const Stream&) {
          CUdeviceptr at;
          Stream::Enter entered(true);
          if (managed) {
            NEED(cuMemAllocManaged(&at, 4 << 20, CU_MEM_ATTACH_GLOBAL));
          } else {
            NEED(cuMemAllocAsync(&at, 4 << 20, CU_STREAM_PER_THREAD));
            NEED(cuStreamSynchronize(CU_STREAM_PER_THREAD));
          }
          return Prepared{[=](CUstream) { return cuMemFree(at); }};
        });
}

/// Questions, and changes that concern no work: about devices and contexts.
static void add_questions_about_contexts() {
  static int number, other;
  static u32 flags;
  static u64 id;
  static size_t size;
  static char text[256];
  static CUdevice found;
  static CUcontext context;
  static CUuuid uuid;
  auto ask = [](const char* call, std::function<CUresult()> make) {
    add_simple(call, "-", std::move(make));
    entries.back().brief = true;
  };
  ask("cuInit", [] { return cuInit(0); });
  ask("cuDriverGetVersion", [] { return cuDriverGetVersion(&number); });
  static const char* words;
  ask("cuGetErrorName", [] { return cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &words); });
  ask("cuGetErrorString", [] { return cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &words); });
  static void* function;
  static CUdriverProcAddressQueryResult symbol;
  static auto look_up = (CUresult(*)(const char*, void**, int, cuuint64_t))of_version(
      "cuGetProcAddress", 11030);
  ask("cuGetProcAddress", [] { return look_up("cuMemAlloc", &function, 12000, 0); });
  ask("cuGetProcAddress_v2",
      [] { return cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &symbol); });
  ask("cuDeviceGet", [] { return cuDeviceGet(&found, 0); });
  ask("cuDeviceGetCount", [] { return cuDeviceGetCount(&number); });
  ask("cuDeviceGetName", [] { return cuDeviceGetName(text, sizeof text, device); });
  static auto old_uuid = (CUresult(*)(CUuuid*, CUdevice))of_version("cuDeviceGetUuid", 9020);
  ask("cuDeviceGetUuid", [] { return old_uuid(&uuid, device); });
  static auto new_uuid = (CUresult(*)(CUuuid*, CUdevice))of_version("cuDeviceGetUuid", 11040);
  ask("cuDeviceGetUuid_v2", [] { return new_uuid(&uuid, device); });
  ask("cuDeviceTotalMem_v2", [] { return cuDeviceTotalMem(&size, device); });
  ask("cuDeviceGetAttribute", [] {
    return cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
  });
  ask("cuDeviceComputeCapability",
      [] { return cuDeviceComputeCapability(&number, &other, device); });
  ask("cuDeviceCanAccessPeer", [] { return cuDeviceCanAccessPeer(&number, device, device); });
  ask("cuDeviceGetPCIBusId", [] { return cuDeviceGetPCIBusId(text, sizeof text, device); });
  ask("cuDevicePrimaryCtxGetState",
      [] { return cuDevicePrimaryCtxGetState(device, &flags, &number); });
  static auto old_flags =
      (CUresult(*)(CUdevice, unsigned))of_version("cuDevicePrimaryCtxSetFlags", 7000);
  ask("cuDevicePrimaryCtxSetFlags", [] { return old_flags(device, 0); });
  ask("cuDevicePrimaryCtxSetFlags_v2", [] { return cuDevicePrimaryCtxSetFlags(device, 0); });
  ask("cuCtxPushCurrent_v2", [] {
    CUresult result = cuCtxPushCurrent(B);
    NEED(cuCtxPopCurrent(&context));
    return result;
  });
  ask("cuCtxPopCurrent_v2", [] {
    CUresult result = cuCtxPopCurrent(&context);
    NEED(cuCtxPushCurrent(context));
    return result;
  });
  ask("cuCtxGetCurrent", [] { return cuCtxGetCurrent(&context); });
  ask("cuCtxGetDevice", [] { return cuCtxGetDevice(&found); });
  static auto device_of =
      (CUresult(*)(CUdevice*, CUcontext))of_version("cuCtxGetDevice", 13000);
  ask("cuCtxGetDevice_v2", [] { return device_of(&found, A); });
  ask("cuCtxGetFlags", [] { return cuCtxGetFlags(&flags); });
  ask("cuCtxGetId", [] { return cuCtxGetId(A, &id); });
  ask("cuCtxGetApiVersion", [] { return cuCtxGetApiVersion(A, &flags); });
  ask("cuCtxGetStreamPriorityRange", [] { return cuCtxGetStreamPriorityRange(&number, &other); });
  static CUfunc_cache cache;
  ask("cuCtxGetCacheConfig", [] { return cuCtxGetCacheConfig(&cache); });
  ask("cuCtxSetCacheConfig", [] { return cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE); });
  ask("cuCtxEnablePeerAccess", [] { return cuCtxEnablePeerAccess(B, 0); });
  ask("cuCtxDisablePeerAccess", [] { return cuCtxDisablePeerAccess(B); });
  for (const char* name : {"cuProfilerStart", "cuProfilerStop"}) {
    auto profile = (CUresult(*)())of_version(name, 4000);
    ask(name, [=] { return profile(); });
  }
}

/// The older forms of functions whose newer ones `table` asks.
static void add_older_contexts() {
  using OfDevice = CUresult (*)(CUdevice);
  for (const char* name : {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxReset"}) {
    auto older = (OfDevice)of_version(name, 7000);
    add(name, "the only retention", false, [=](const Stream&) {
      CUcontext made;
      NEED(cuDevicePrimaryCtxRetain(&made, device));
      return Prepared{[=](CUstream) { return older(device); }};
    });
    entries.back().brief = true;
  }
  static auto create = (CUresult(*)(CUcontext*, unsigned, CUdevice))of_version("cuCtxCreate", 3020);
  add("cuCtxCreate_v2", "-", false, [](const Stream&) {
    auto made = std::make_shared<CUcontext>();
    return Prepared{[=](CUstream) {
                      CUresult result = create(made.get(), 0, device);
                      CUcontext current;
                      NEED(cuCtxPopCurrent(&current));
                      return result;
                    },
                    [=] { cuCtxDestroy(*made); }};
  });
  entries.back().brief = true;
}

/// Questions, and changes that concern no work: about memory and pools.
static void add_questions_about_memory() {
  static int number;
  static u32 flags;
  static size_t size;
  static CUmemoryPool pool;
  static CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  auto ask = [](const char* call, std::string what, Memory memory,
                std::function<CUresult(CUdeviceptr)> make) {
    add(call, what, false, [=](const Stream&) {
      auto block = std::make_shared<Block>(memory, 1 << 20);
      return Prepared{[=](CUstream) { return make(block->at); },
                      [block]() mutable { block.reset(); }};
    });
    entries.back().brief = true;
  };
  static auto advise = (CUresult(*)(CUdeviceptr, size_t, CUmem_advise, CUdevice))of_version(
      "cuMemAdvise", 8000);
  ask("cuMemAdvise", "managed 1 MiB", MANAGED, [](CUdeviceptr at) {
    return advise(at, 1 << 20, CU_MEM_ADVISE_SET_READ_MOSTLY, device);
  });
  for (Memory memory : {DEVICE, POOL, PINNED})
    ask("cuPointerGetAttributes", MEMORY_NAMES[memory], memory, [](CUdeviceptr at) {
      CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
      void* value = &flags;
      return cuPointerGetAttributes(1, &attribute, &value, at);
    });
  ask("cuMemHostGetDevicePointer_v2", "pinned", PINNED, [](CUdeviceptr at) {
    CUdeviceptr seen;
    return cuMemHostGetDevicePointer(&seen, (void*)at, 0);
  });
  ask("cuMemHostGetFlags", "pinned", PINNED,
      [](CUdeviceptr at) { return cuMemHostGetFlags(&flags, (void*)at); });
  add_simple("cuMemGetAllocationGranularity", "-", [] {
    CUmemAllocationProp asked = {};
    asked.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    asked.location = here;
    return cuMemGetAllocationGranularity(&size, &asked, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  });
  for (const char* name : {"cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2"}) {
    auto open = (CUresult(*)(CUdeviceptr*, CUipcMemHandle, unsigned))of_version(
        "cuIpcOpenMemHandle", strlen(name) > 18 ? 11000 : 4010);
    add(name, "of another process", false, [=](const Stream&) {
      auto at = std::make_shared<CUdeviceptr>();
      return Prepared{[=](CUstream) { return open(at.get(), of_another_process, 1); },
                      [=] { cuIpcCloseMemHandle(*at); }};
    });
  }
  auto of_pool = [](const char* call, std::function<CUresult(CUmemoryPool)> make) {
    add(call, "the pool of the device", false, [=](const Stream&) {
      CUmemoryPool used;
      NEED(cuDeviceGetMemPool(&used, device));
      return Prepared{[=](CUstream) { return make(used); }};
    });
    entries.back().brief = true;
  };
  of_pool("cuDeviceGetDefaultMemPool",
          [](CUmemoryPool) { return cuDeviceGetDefaultMemPool(&pool, device); });
  of_pool("cuDeviceGetMemPool", [](CUmemoryPool) { return cuDeviceGetMemPool(&pool, device); });
  of_pool("cuDeviceSetMemPool", [](CUmemoryPool used) { return cuDeviceSetMemPool(device, used); });
  of_pool("cuMemPoolGetAttribute", [](CUmemoryPool used) {
    return cuMemPoolGetAttribute(used, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &number);
  });
  of_pool("cuMemPoolSetAttribute", [](CUmemoryPool used) {
    int on = 1;
    return cuMemPoolSetAttribute(used, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &on);
  });
  of_pool("cuMemPoolGetAccess", [](CUmemoryPool used) {
    CUmemAccess_flags access;
    return cuMemPoolGetAccess(&access, used, &here);
  });
  of_pool("cuMemPoolSetAccess", [](CUmemoryPool used) {
    CUmemAccessDesc access = {here, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return cuMemPoolSetAccess(used, &access, 1);
  });
  using OfLocation = CUresult (*)(CUmemoryPool*, CUmemLocation*, CUmemAllocationType);
  static auto default_pool = (OfLocation)of_version("cuMemGetDefaultMemPool", 13000);
  of_pool("cuMemGetDefaultMemPool", [](CUmemoryPool) {
    return default_pool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED);
  });
  static auto used_pool = (OfLocation)of_version("cuMemGetMemPool", 13000);
  of_pool("cuMemGetMemPool", [](CUmemoryPool) {
    return used_pool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED);
  });
  static auto use_pool = (CUresult(*)(CUmemLocation*, CUmemAllocationType,
                                      CUmemoryPool))of_version("cuMemSetMemPool", 13000);
  of_pool("cuMemSetMemPool", [](CUmemoryPool used) {
    return use_pool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, used);
  });
}

/// Questions about streams and events.
static void add_questions_about_streams() {
  auto ask = [](const char* call, std::function<CUresult(CUstream)> make) {
    add(call, "-", true, [=](const Stream&) { return Prepared{make}; });
    entries.back().brief = true;
  };
  static int number;
  static u64 id;
  static CUdevice found;
  static CUstreamCaptureStatus status;
  static auto device_of = (CUresult(*)(CUstream, CUdevice*))of_version("cuStreamGetDevice", 12080);
  ask("cuStreamGetPriority", [](CUstream s) { return cuStreamGetPriority(s, &number); });
  ask("cuStreamGetId", [](CUstream s) { return cuStreamGetId(s, &id); });
  ask("cuStreamGetDevice", [](CUstream s) { return device_of(s, &found); });
  ask("cuStreamIsCapturing", [](CUstream s) { return cuStreamIsCapturing(s, &status); });
  static auto elapsed =
      (CUresult(*)(float*, CUevent, CUevent))of_version("cuEventElapsedTime", 12080);
  add("cuEventElapsedTime_v2", "both done", false, [](const Stream&) {
    CUevent first, second;
    for (CUevent* event : {&first, &second}) {
      NEED(cuEventCreate(event, 0));
      NEED(cuEventRecord(*event, CU_STREAM_LEGACY));
    }
    NEED(cuCtxSynchronize());
    return Prepared{[=](CUstream) {
                      float milliseconds;
                      return elapsed(&milliseconds, first, second);
                    },
                    [=] {
                      cuEventDestroy(first);
                      cuEventDestroy(second);
                    }};
  });
  entries.back().brief = true;
}

/// Questions about code: of a module that nobody has used, and of a kernel that is known.
static void add_questions_about_code() {
  static const char* WITH_A_VARIABLE =
      ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .u32 kept;\n"
      ".visible .entry nothing(.param .u64 a){ ret; }\n";
  static int number, other;
  static size_t offset, size;
  static CUmoduleLoadingMode mode;
  add_simple("cuModuleGetLoadingMode", "-", [] { return cuModuleGetLoadingMode(&mode); });
  add("cuModuleGetGlobal_v2", "the first time", false, [](const Stream&) {
    CUmodule module;
    NEED(cuModuleLoadData(&module, WITH_A_VARIABLE));
    return Prepared{[=](CUstream) {
                      CUdeviceptr at;
                      return cuModuleGetGlobal(&at, &size, module, "kept");
                    },
                    [=] { cuModuleUnload(module); }};
  });
  using OfLibrary = std::function<CUresult(CUlibrary, CUkernel)>;
  auto of_library = [](const char* call, const char* what, OfLibrary before, OfLibrary make) {
    add(call, what, false, [=](const Stream&) {
      CUlibrary library;
      CUkernel kernel;
      NEED(cuLibraryLoadData(&library, WITH_A_VARIABLE, nullptr, nullptr, 0, nullptr, nullptr, 0));
      NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
      if (before) NEED(before(library, kernel));
      bool unloads = !strcmp(call, "cuLibraryUnload");
      return Prepared{[=](CUstream) { return make(library, kernel); },
                      [=] {
                        if (!unloads) cuLibraryUnload(library);
                      }};
    });
  };
  OfLibrary get_module = [](CUlibrary library, CUkernel) {
    CUmodule module;
    return cuLibraryGetModule(&module, library);
  };
  OfLibrary get_function = [](CUlibrary, CUkernel kernel) {
    CUfunction function;
    return cuKernelGetFunction(&function, kernel);
  };
  OfLibrary get_attribute = [](CUlibrary, CUkernel kernel) {
    return cuKernelGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device);
  };
  OfLibrary set_attribute = [](CUlibrary, CUkernel kernel) {
    return cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64, kernel,
                                device);
  };
  OfLibrary get_parameter = [](CUlibrary, CUkernel kernel) {
    return cuKernelGetParamInfo(kernel, 0, &offset, &size);
  };
  OfLibrary unload = [](CUlibrary library, CUkernel) { return cuLibraryUnload(library); };
  struct {
    const char* call;
    OfLibrary make;
  } asked[] = {{"cuLibraryGetModule", get_module},
               {"cuKernelGetAttribute", get_attribute},
               {"cuKernelSetAttribute", set_attribute},
               {"cuKernelGetParamInfo", get_parameter}};
  for (auto& [call, make] : asked) {
    of_library(call, "of a new library", nullptr, make);
    of_library(call, "the second time", make, make);
    of_library(call, "its function was made", get_function, make);
  }
  of_library("cuLibraryUnload", "its module with a variable was made", get_module, unload);
  of_library("cuLibraryUnload", "its parameter was asked for", get_parameter, unload);
  of_library("cuKernelGetFunction", "its module was made", get_module, get_function);
  of_library("cuKernelGetFunction", "its attribute was set", set_attribute, get_function);
  of_library("cuKernelGetFunction", "its parameter was asked for", get_parameter, get_function);
  of_library("cuKernelSetAttribute", "its module was made", get_module, set_attribute);
  of_library("cuKernelGetParamInfo", "its module was made", get_module, get_parameter);
  auto of_function = [](const char* call, std::function<CUresult()> make) {
    add_simple(call, "known kernel", std::move(make));
    entries.back().brief = true;
  };
  of_function("cuFuncGetAttribute", [] {
    return cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, nothing_A);
  });
  of_function("cuFuncSetAttribute", [] {
    return cuFuncSetAttribute(nothing_A, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64);
  });
  of_function("cuFuncSetBlockShape", [] { return cuFuncSetBlockShape(nothing_A, 1, 1, 1); });
  of_function("cuFuncGetParamInfo",
              [] { return cuFuncGetParamInfo(nothing_A, 0, &offset, &size); });
  of_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", [] {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, nothing_A, 32, 0);
  });
  of_function("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [] {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&number, nothing_A, 32, 0, 0);
  });
  of_function("cuOccupancyMaxPotentialBlockSize", [] {
    return cuOccupancyMaxPotentialBlockSize(&number, &other, nothing_A, nullptr, 0, 0);
  });
  of_function("cuOccupancyMaxPotentialBlockSizeWithFlags", [] {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(&number, &other, nothing_A, nullptr, 0, 0, 0);
  });
}

/// What neither `table` nor `further` asks: `order remaining`.
static void add_remaining() {
  add_remaining_table_copies();
  for (int opens : {1, 2})
    add("cuIpcCloseMemHandle", opens == 1 ? "the last one" : "one of two", false,
        [=](const Stream&) {
          CUdeviceptr at;
          for (int open = 0; open < opens; open++)
            NEED(cuIpcOpenMemHandle(&at, of_another_process, 1));
          return Prepared{[=](CUstream) { return cuIpcCloseMemHandle(at); },
                          [=] {
                            if (opens == 2) cuIpcCloseMemHandle(at);
                          }};
        });
  for (bool of_kernel : {false, true})
    add(of_kernel ? "cuKernelGetFunction" : "cuLibraryGetKernel", "the first time", false,
        [=](const Stream&) {
          CUlibrary library;
          auto kernel = std::make_shared<CUkernel>();
          NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
          if (of_kernel) NEED(cuLibraryGetKernel(kernel.get(), library, "nothing"));
          return Prepared{[=](CUstream) {
                            CUfunction function;
                            return of_kernel ? cuKernelGetFunction(&function, *kernel)
                                             : cuLibraryGetKernel(kernel.get(), library, "nothing");
                          },
                          [=] { cuLibraryUnload(library); }};
        });
  add("cuLibraryUnload", "no module of it was made", false, [](const Stream&) {
    CUlibrary library;
    NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
    return Prepared{[=](CUstream) { return cuLibraryUnload(library); }};
  });
  add_simple("cuCtxSetLimit", "printf buffer size", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, (size_t)(1 + turn++ % 4) << 20);
  });
  add_simple("cuCtxSetLimit", "heap size of malloc", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)(8 + turn++ % 4) << 20);
  });
  add_simple("cuCtxSetLimit", "L2 fetch granularity", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, turn++ % 2 ? 64 : 128);
  });
  add_simple("cuCtxSetLimit", "persisting L2 cache size", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, turn++ % 2 ? 0 : 1 << 20);
  });
  add_simple("cuCtxSetLimit", "pending launches of the device", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048 + 1024 * (turn++ % 2));
  });
  add_simple("cuCtxSetLimit", "depth of synchronisation of the device", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2 + turn++ % 2);
  });
  add_simple("cuCtxSetLimit", "shared memory of graphics", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1024 * (1 + turn++ % 2));
  });
  add_simple("cuCtxSetLimit", "compute in graphics", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_CIG_ENABLED, turn++ % 2);
  });
  add_simple("cuCtxSetLimit", "shared memory in graphics may fall back", [] {
    static size_t turn = 0;
    return cuCtxSetLimit(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, turn++ % 2);
  });
  add_managed_copies();
  add_managed_rows();
  add_library_unloads();
  add_staged_copies();
  add_frees_of_B();
  add_questions_about_contexts();
  add_older_contexts();
  add_questions_about_memory();
  add_questions_about_streams();
  add_questions_about_code();
}

/// Fills of memory of a pool of device B, which this device may reach or not.
static void add_fills_of_a_pool_of_B() {
  for (bool reached : {false, true})
    for (bool async : {false, true}) {
      std::string what = std::string("pool of B 64 B, ") + (reached ? "reached" : "not reached");
      add(async ? "cuMemsetD8Async" : "cuMemsetD8_v2", what, async, [=](const Stream&) {
        CUmemPoolProps props = {};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_of_B};
        CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        CUmemoryPool pool;
        CUdeviceptr at;
        NEED(cuMemPoolCreate(&pool, &props));
        if (reached) NEED(cuMemPoolSetAccess(pool, &access, 1));
        {
          Stream::Enter entered(true);
          NEED(cuMemAllocFromPoolAsync(&at, 64, pool, CU_STREAM_PER_THREAD));
          NEED(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        }
        return Prepared{[=](CUstream stream) {
                          return async ? cuMemsetD8Async(at, 1, 64, stream)
                                       : cuMemsetD8(at, 1, 64);
                        },
                        [=] {
                          cuMemFree(at);
                          cuMemPoolDestroy(pool);
                        }};
      });
    }
}

/// What two devices have to do with each other: `order devices`. Calls that name nothing of context
/// B are here where they might wait for it.
static void add_devices() {
  add_simple("(none)", "-", [] { return CUDA_SUCCESS; });
  add_frees();
  add_allocations();
  add_copies();
  add_fills();
  add_contexts_and_pools();
  add_fills_of_a_pool_of_B();
  add_managed_copies();
  add_synchronize_named();
  std::set<std::string> names_nothing_of_B = {
      "(none)",           "cuCtxSynchronize",    "cuCtxDestroy_v2", "cuDevicePrimaryCtxReset_v2",
      "cuMemAllocHost_v2", "cuMemAllocManaged",   "cuMemFreeHost",   "cuMemFree_v2",
      "cuMemHostAlloc",   "cuMemHostRegister_v2", "cuMemHostUnregister"};
  auto says_nothing = [&](const Entry& entry) {
    if (!entry.is_of_B()) return !names_nothing_of_B.count(entry.call);
    // One form and one size of fill says what the others do.
    bool fill = entry.call.compare(0, 8, "cuMemset") == 0;
    bool plain = entry.call.compare(0, 10, "cuMemsetD8") == 0 || entry.call == "cuMemsetD2D8_v2";
    return fill && !(plain && entry.what.find(" 64 B") != std::string::npos);
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), says_nothing), entries.end());
  add("cuStreamWaitEvent", "recorded in the busy stream", true, [](const Stream& busy) {
    auto event = std::make_shared<CUevent>();
    busy.on([&] { NEED(cuEventCreate(event.get(), CU_EVENT_DISABLE_TIMING)); });
    const Stream* recorded = &busy;
    return Prepared{[=](CUstream stream) {
                      recorded->on([&] { NEED(cuEventRecord(*event, recorded->handle)); });
                      return cuStreamWaitEvent(stream, *event, 0);
                    },
                    [=] { cuEventDestroy(*event); }};
  });
}

// ---- the measurement ---------------------------------------------------------------------------

static const StreamKind LATER[] = {{BLOCKING, false},    {NON_BLOCKING, false}, {LEGACY, false},
                                   {PER_THREAD, false},  {OTHER_THREAD, false}, {BLOCKING, true},
                                   {NON_BLOCKING, true}, {LEGACY, true}};
static const StreamKind BUSY[] = {{BLOCKING, false},    {NON_BLOCKING, false}, {LEGACY, false},
                                  {PER_THREAD, false},  {OTHER_THREAD, false}, {BLOCKING, true},
                                  {NON_BLOCKING, true}, {LEGACY, true}};

struct Outcome {
  CUresult result;
  bool host_waits;
  bool after;
};

/// One measurement: the call beside a busy stream, and one stream after it if `later` is given.
static Outcome measure(const Entry& entry, StreamKind busy_kind, const StreamKind* given_kind,
                       const StreamKind* later_kind, bool later_is_given, u64 milliseconds) {
  Outcome outcome = {};
  std::unique_ptr<Stream> busy(new Stream(busy_kind)), given, later;
  if (given_kind) given.reset(new Stream(*given_kind));
  if (later_kind) later.reset(new Stream(*later_kind));
  Prepared prepared = entry.prepare(*busy);
  settle();
  make_busy(*busy, milliseconds);
  CUstream stream = given ? given->handle : busy->handle;
  outcome.result = prepared.call(stream);
  outcome.host_waits = *done != 0;
  const Stream* asked = later_is_given ? (given ? given : busy).get() : later.get();
  if (asked)
    outcome.after = comes_after(*asked, takes_turns(entry, asked->of, busy_kind));
  settle();
  prepared.after();
  settle();
  return outcome;
}

/// How long the busy stream must be busy so that a slow call is not taken for one that waits.
static u64 patience(const Entry& entry) {
  Stream idle({NON_BLOCKING, false});
  double longest = 0;
  for (int round = 0; round < 2; round++) {
    Prepared prepared = entry.prepare(idle);
    settle();
    auto begin = Clock::now();
    prepared.call(entry.takes_stream ? idle.handle : nullptr);
    longest =
        std::max(longest, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    settle();
    prepared.after();
  }
  return 6 + u64(4 * longest);
}

/// Whether the stream is later than the busy one in every one of three tries.
static bool always_later(const Entry& entry, StreamKind busy, const StreamKind* given,
                         const StreamKind* later, u64 milliseconds) {
  bool turns = takes_turns(entry, later ? *later : given ? *given : busy, busy);
  u64 patience = turns ? std::max(milliseconds, 2 * TURN_MS) : milliseconds;
  for (int tries = 0; tries < 3; tries++) {
    // Other streams beside them move the measured ones to other hardware queues.
    std::vector<std::unique_ptr<Stream>> padding;
    for (int streams = 0; streams < tries; streams++)
      padding.emplace_back(new Stream({BLOCKING, false}));
    if (!measure(entry, busy, given, later, later == nullptr, patience).after) return false;
  }
  return true;
}

static void row(const Entry& entry, StreamKind busy, const StreamKind* given,
                const std::string& stream, u64 milliseconds) {
  Outcome first = measure(entry, busy, given, nullptr, false, milliseconds);
  std::string later;
  if (!first.host_waits) {
    for (const StreamKind& kind : LATER)
      if (!(entry.brief && kind.of_B) && always_later(entry, busy, given, &kind, milliseconds))
        later += " " + name_of(kind);
    if (given && always_later(entry, busy, given, nullptr, milliseconds)) later += " given";
  }
  printf("%s\t%s\t%s\t%s\t%d\t%s\t%s\n", entry.call.c_str(), entry.what.c_str(),
         name_of(busy).c_str(), stream.c_str(), first.result,
         first.host_waits ? "waits" : "returns", later.empty() ? "-" : later.c_str() + 1);
  fflush(stdout);
}

static void rows(const Entry& entry) {
  u64 milliseconds = patience(entry);
  for (StreamKind busy : BUSY) {
    if (entry.brief && (busy.kind == OTHER_THREAD || busy.of_B)) continue;
    if (!entry.takes_stream) {
      row(entry, busy, nullptr, "-", milliseconds);
      continue;
    }
    if (entry.brief) {
      StreamKind legacy = {LEGACY, false};
      if (!busy.of_B && (busy.kind == NON_BLOCKING || busy.kind == PER_THREAD))
        row(entry, busy, nullptr, "busy", milliseconds);
      if (busy.kind == BLOCKING) row(entry, busy, &legacy, "legacy", milliseconds);
      continue;
    }
    if (!busy.of_B && busy.kind != OTHER_THREAD) row(entry, busy, nullptr, "busy", milliseconds);
    for (StreamKind given :
         {StreamKind{BLOCKING, false}, {NON_BLOCKING, false}, {LEGACY, false}, {PER_THREAD, false}})
      if (busy.of_B || busy.kind != given.kind || busy.kind == BLOCKING ||
          busy.kind == NON_BLOCKING)
        row(entry, busy, &given, name_of(given), milliseconds);
  }
}

/// The rows of `order devices` once each context reaches the memory of the other.
static void rows_with_peer_access() {
  int reaches = 0;
  NEED(cuDeviceCanAccessPeer(&reaches, device, device_of_B));
  if (!reaches) return;
  NEED(cuCtxEnablePeerAccess(B, 0));
  {
    Stream::Enter entered(true);
    NEED(cuCtxEnablePeerAccess(A, 0));
  }
  for (Entry entry : entries) {
    if (!entry.is_of_B()) continue;
    entry.what += ", peer access";
    rows(entry);
  }
}

// ---- whether copies are over when they return -------------------------------------------------

struct Arrival {
  int first = 0, last = 0;
};

/// How often of `rounds` the first and the last byte had arrived when the call returned, as seen by
/// a read in a non-blocking stream.
static Arrival arrivals(const std::string& call, Memory from, Memory to, size_t size,
                        StreamKind busy_kind, bool busy, int rounds) {
  Arrival arrival;
  static auto HtoD_ptds =
      per_thread<CUresult (*)(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD", 7000);
  static auto copy_ptds =
      per_thread<CUresult (*)(CUdeviceptr, CUdeviceptr, size_t)>("cuMemcpy", 7000);
  static auto copy_2d_ptds = per_thread<CUresult (*)(const CUDA_MEMCPY2D*)>("cuMemcpy2D", 7000);
  static auto copy_3d_ptds = per_thread<CUresult (*)(const CUDA_MEMCPY3D*)>("cuMemcpy3D", 7000);
  for (int round = 0; round < rounds; round++) {
    Block source(from, size), target(to, size), seen(PINNED, 2);
    Stream stream(busy_kind), reader({NON_BLOCKING, false});
    NEED(cuMemsetD8(target.at, 0, size));
    if (from == DEVICE || from == MANAGED)
      NEED(cuMemsetD8(source.at, 9, size));
    else
      memset(source.host(), 9, size);
    settle();
    if (busy) make_busy(stream, 6);
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    if (call == "cuMemcpyHtoD_v2") result = cuMemcpyHtoD(target.at, source.host(), size);
    if (call == "cuMemcpy") result = cuMemcpy(target.at, source.at, size);
    if (call == "cuMemcpyDtoD_v2") result = cuMemcpyDtoD(target.at, source.at, size);
    if (call == "cuMemcpyHtoD_v2_ptds") result = HtoD_ptds(target.at, source.host(), size);
    if (call == "cuMemcpy_ptds") result = copy_ptds(target.at, source.at, size);
    if (call == "cuMemsetD8_v2") result = cuMemsetD8(target.at, 9, size);
    CUDA_MEMCPY2D flat = rows(target.at, to, source.at, from, size, 1, false);
    CUDA_MEMCPY3D deep = wide(&flat);
    if (call == "cuMemcpy2D_v2") result = cuMemcpy2D(&flat);
    if (call == "cuMemcpy2D_v2_ptds") result = copy_2d_ptds(&flat);
    if (call == "cuMemcpy3D_v2_ptds") result = copy_3d_ptds(&deep);
    NEED(result);
    auto bytes = (volatile unsigned char*)seen.host();
    NEED(cuMemcpyDtoHAsync(seen.host(), target.at, 1, reader.handle));
    NEED(cuMemcpyDtoHAsync((char*)seen.host() + 1, target.at + size - 1, 1, reader.handle));
    NEED(cuStreamSynchronize(reader.handle));
    arrival.first += bytes[0] == 9;
    arrival.last += bytes[1] == 9;
    settle();
  }
  return arrival;
}

/// Whether an asynchronous copy behind a busy stream copies what the source held when it was
/// called.
static bool staged(bool unified, Memory from, size_t size) {
  Block source(from, size), target(DEVICE, size), seen(PINNED, size);
  Stream busy({NON_BLOCKING, false});
  if (from == MANAGED) {
    NEED(cuMemsetD8(source.at, 9, size));
  } else
    memset(source.host(), 9, size);
  settle();
  make_busy(busy, 6);
  NEED(unified ? cuMemcpyAsync(target.at, source.at, size, busy.handle)
               : cuMemcpyHtoDAsync(target.at, source.host(), size, busy.handle));
  bool waited = *done != 0;
  if (!waited && from != MANAGED) memset(source.host(), 5, size);
  settle();
  NEED(cuMemcpyDtoH(seen.host(), target.at, size));
  auto bytes = (unsigned char*)seen.host();
  return waited || (bytes[0] == 9 && bytes[size - 1] == 9);
}

static void copies() {
  const int ROUNDS = 6;
  printf("# call\twhat\tbusy\trounds\tfirst byte there\tlast byte there\n");
  const StreamKind kinds[] = {{NON_BLOCKING, false}, {BLOCKING, false}, {LEGACY, false}};
  for (const char* call : {"cuMemcpyHtoD_v2", "cuMemcpy", "cuMemcpyHtoD_v2_ptds", "cuMemcpy_ptds",
                           "cuMemcpyDtoD_v2", "cuMemcpy2D_v2", "cuMemsetD8_v2"})
    for (Memory from : {PAGEABLE, PINNED, REGISTERED, MANAGED, DEVICE})
      for (size_t size :
           {size_t(64), size_t(4096), size_t(32 << 10), size_t(64 << 10), size_t(64 << 10) + 4,
            size_t(256 << 10), size_t(384 << 10), size_t(512 << 10), size_t(1 << 20),
            size_t(8 << 20)})
        for (int busy = -1; busy < 3; busy++) {
          bool fill = !strcmp(call, "cuMemsetD8_v2"), inside = !strcmp(call, "cuMemcpyDtoD_v2");
          if ((fill || inside) != (from == DEVICE)) continue;
          if (size != 64 && from != PAGEABLE && size != (8 << 20)) continue;
          StreamKind kind = kinds[std::max(busy, 0)];
          Arrival arrival = arrivals(call, from, DEVICE, size, kind, busy >= 0, ROUNDS);
          printf("%s\t%s to device %s\t%s\t%d\t%d\t%d\n", call, fill ? "fill" : MEMORY_NAMES[from],
                 size_text(size).c_str(), busy < 0 ? "none" : name_of(kind).c_str(), ROUNDS,
                 arrival.first, arrival.last);
        }
  printf("# call\twhat\tbusy\tstaged (the source may change once the call has returned)\n");
  for (bool unified : {false, true})
    for (Memory from : {PAGEABLE, PINNED, REGISTERED})
      for (size_t size : {size_t(64), size_t(64 << 10), size_t(64 << 10) + 4, size_t(1 << 20),
                          size_t(4 << 20), size_t(8 << 20)})
        printf("%s\t%s to device %s\tnon_blocking, given\t%s\n",
               unified ? "cuMemcpyAsync" : "cuMemcpyHtoDAsync_v2", MEMORY_NAMES[from],
               size_text(size).c_str(), staged(unified, from, size) ? "staged" : "read later");
}

/// What `copies` leaves out: `order remaining-copies`.
/// One row for each size and each busy stream.
static void rows_of_arrivals(const char* call, Memory to) {
  const StreamKind kinds[] = {{NON_BLOCKING, false}, {BLOCKING, false}, {LEGACY, false}};
  for (size_t size : {size_t(64), size_t(64 << 10), size_t(64 << 10) + 4, size_t(512 << 10),
                      size_t(1 << 20), size_t(8 << 20)})
    for (int busy = -1; busy < 3; busy++) {
      StreamKind kind = kinds[std::max(busy, 0)];
      Arrival arrival = arrivals(call, PAGEABLE, to, size, kind, busy >= 0, 6);
      printf("%s\tpageable to %s %s\t%s\t6\t%d\t%d\n", call, MEMORY_NAMES[to],
             size_text(size).c_str(), busy < 0 ? "none" : name_of(kind).c_str(), arrival.first,
             arrival.last);
      fflush(stdout);
    }
}

static void remaining_copies() {
  printf("# call\twhat\tbusy\trounds\tfirst byte there\tlast byte there\n");
  for (const char* call : {"cuMemcpyHtoD_v2", "cuMemcpy2D_v2_ptds", "cuMemcpy3D_v2_ptds"})
    rows_of_arrivals(call, strcmp(call, "cuMemcpyHtoD_v2") ? DEVICE : MANAGED);
  for (Memory to : {POOL, SYNC_MEMOPS, PINNED, REGISTERED}) {
    rows_of_arrivals("cuMemcpyHtoD_v2", to);
    rows_of_arrivals("cuMemcpy", to);
  }
  for (Memory to : {POOL, SYNC_MEMOPS, MANAGED, PINNED, REGISTERED}) {
    rows_of_arrivals("cuMemcpyHtoD_v2_ptds", to);
    rows_of_arrivals("cuMemcpy_ptds", to);
    rows_of_arrivals("cuMemcpy2D_v2_ptds", to);
  }
}

int main(int count, char** arguments) {
  std::string mode = count > 1 ? arguments[1] : "", prefix = count > 2 ? arguments[2] : "",
              part = count > 3 ? arguments[3] : "";
  if (mode != "table" && mode != "further" && mode != "remaining" && mode != "copies" &&
      mode != "remaining-copies" && mode != "devices") {
    fprintf(stderr,
            "usage: order table|further|remaining|devices [PREFIX [PART]] | "
            "order copies|remaining-copies\n");
    return 2;
  }
  two_devices = mode == "devices";
  if (mode == "remaining") start_another_process();
  start();
  char name[128];
  int version;
  NEED(cuDeviceGetName(name, sizeof name, device));
  NEED(cuDriverGetVersion(&version));
  printf("# %s, CUDA driver %d: `order %s`\n", name, version, mode.c_str());
  if (mode == "copies" || mode == "remaining-copies") {
    mode == "copies" ? copies() : remaining_copies();
    other_thread->end();
    return 0;
  }
  printf("# call\twhat\tbusy\tstream\tresult\thost\tlater\n");
  if (mode == "further") {
    add_further();
  } else if (mode == "remaining") {
    add_remaining();
  } else if (mode == "devices") {
    add_devices();
  } else {
    add_simple("(none)", "-", [] { return CUDA_SUCCESS; });
    add_frees();
    add_allocations();
    add_copies();
    add_fills();
    add_streams_and_events();
    add_graphs_and_launches();
    add_contexts_and_pools();
    add_virtual_memory();
  }
  auto is_unasked = [&](const Entry& entry) {
    return entry.call.compare(0, prefix.size(), prefix) != 0 ||
           entry.what.find(part) == std::string::npos;
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), is_unasked), entries.end());
  for (const Entry& entry : entries) rows(entry);
  if (two_devices) rows_with_peer_access();
  other_thread->end();
}
