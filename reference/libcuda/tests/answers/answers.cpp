// Asks a CUDA driver what single calls answer in situations that random sequences meet seldom: one
// line for each question. Each scene runs in a process of its own, so that a crash or an error that
// stays costs one scene.
//
// Build: g++ -std=c++17 answers.cpp -lcuda   (cuda.h comes in nvidia-cuda-runtime).
//   answers [PREFIX]    the scenes whose name begins with PREFIX; those of two devices are left out
//                       if there is only one
//
// Columns, separated by tabs: scene, situation, answer. An answer is a CUresult, or what the
// situation says. answers_h200.tsv is the output on an NVIDIA H200.
#include <cuda.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using u32 = unsigned;
using u64 = unsigned long long;
using Clock = std::chrono::steady_clock;

static const u64 PAGE = 4096;
static const char* scene_name;
static CUdevice device;
/// The primary context and two others. A is current when a scene begins.
static CUcontext P, A, B;

static void say(const std::string& situation, const std::string& answer) {
  printf("%s\t%s\t%s\n", scene_name, situation.c_str(), answer.c_str());
  fflush(stdout);
}
static void say(const std::string& situation, CUresult answer) {
  say(situation, std::to_string((int)answer));
}

#define NEED(call) need(call, #call, __LINE__)
static void need(CUresult result, const char* call, int line) {
  if (result == CUDA_SUCCESS) return;
  say(std::string("cannot be asked: ") + call, result);
  fprintf(stderr, "answers.cpp:%d: %s = %d\n", line, call, result);
  _exit(1);
}

/// Makes a context current, or none, for as long as it lives.
struct With {
  std::vector<CUcontext> taken_away;
  explicit With(CUcontext context) {
    CUcontext top = nullptr;
    if (context) NEED(cuCtxPushCurrent(context));
    while (!context && cuCtxGetCurrent(&top) == CUDA_SUCCESS && top) {
      NEED(cuCtxPopCurrent(&top));
      taken_away.push_back(top);
    }
  }
  ~With() {
    CUcontext gone;
    if (taken_away.empty()) cuCtxPopCurrent(&gone);
    for (size_t left = taken_away.size(); left-- > 0;) NEED(cuCtxPushCurrent(taken_away[left]));
  }
};

static const char* PTX =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry spin(.param .u64 stop, .param .u64 cycles){\n"
    " .reg .u64 %p,%n,%a,%b,%c; .reg .u32 %v; .reg .pred %q;\n"
    " ld.param.u64 %p,[stop]; ld.param.u64 %n,[cycles]; mov.u64 %a,%clock64;\n"
    "L: ld.volatile.global.u32 %v,[%p]; setp.ne.u32 %q,%v,0; @%q bra E;\n"
    " mov.u64 %b,%clock64; sub.u64 %c,%b,%a; setp.lt.u64 %q,%c,%n; @%q bra L;\n"
    "E: ret; }\n"
    ".visible .entry nothing(.param .u64 a){ ret; }\n";

// ---- memory ------------------------------------------------------------------------------------

static CUdeviceptr device_memory(size_t size) {
  CUdeviceptr at;
  NEED(cuMemAlloc(&at, size));
  return at;
}
static CUdeviceptr managed_memory(size_t size) {
  CUdeviceptr at;
  NEED(cuMemAllocManaged(&at, size, CU_MEM_ATTACH_GLOBAL));
  return at;
}
static CUdeviceptr pool_memory(size_t size) {
  CUdeviceptr at;
  NEED(cuMemAllocAsync(&at, size, nullptr));
  NEED(cuStreamSynchronize(nullptr));
  return at;
}
static CUdeviceptr pinned_memory(size_t size, u32 flags = 0) {
  void* at;
  NEED(cuMemHostAlloc(&at, size, flags));
  return (CUdeviceptr)at;
}
static CUdeviceptr pageable_memory(size_t size) {
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(at, 1, size);
  return (CUdeviceptr)at;
}
static CUdeviceptr registered_memory(size_t size, u32 flags = 0) {
  CUdeviceptr at = pageable_memory(size);
  NEED(cuMemHostRegister((void*)at, size, flags));
  return at;
}

// ---- launches ----------------------------------------------------------------------------------

static CUmodule load() {
  CUmodule module;
  NEED(cuModuleLoadData(&module, PTX));
  return module;
}
static CUfunction look_up(CUmodule module) {
  CUfunction function;
  NEED(cuModuleGetFunction(&function, module, "nothing"));
  return function;
}
static CUstream new_stream(CUcontext context) {
  With with(context);
  CUstream stream;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}
static CUresult launch(CUfunction function, CUstream stream, u32 grid = 1, u32 block = 1,
                       u32 shared = 0) {
  u64 zero = 0;
  void* arguments[] = {&zero};
  return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, arguments, nullptr);
}
static CUresult launch_ex(CUfunction function, CUstream stream) {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  u64 zero = 0;
  void* arguments[] = {&zero};
  return cuLaunchKernelEx(&config, function, arguments, nullptr);
}

/// Launches a function with each context current and in each stream.
static void launches_of(const std::string& what, CUfunction function) {
  CUstream of_A = new_stream(A), of_B = new_stream(B);
  struct {
    const char* name;
    CUcontext context;
  } contexts[] = {{"A", A}, {"B", B}, {"P", P}, {"none", nullptr}};
  struct {
    const char* name;
    CUstream stream;
  } streams[] = {{"0", nullptr}, {"1", CU_STREAM_LEGACY}, {"2", CU_STREAM_PER_THREAD},
                 {"of A", of_A}, {"of B", of_B}};
  for (auto& current : contexts)
    for (auto& stream : streams) {
      With with(current.context);
      std::string where =
          what + ", " + current.name + " current, stream " + std::string(stream.name);
      say(where, launch(function, stream.stream));
      if (stream.stream == nullptr || stream.stream == of_B) {
        say(where + ", cuLaunchKernelEx", launch_ex(function, stream.stream));
        say(where + ", no blocks", launch(function, stream.stream, 0));
        say(where + ", 1025 threads", launch(function, stream.stream, 1, 1025));
        say(where + ", 1 MiB shared", launch(function, stream.stream, 1, 1, 1 << 20));
        say(where + ", 65536 blocks", launch(function, stream.stream, 65536, 32));
      }
    }
}

static void launch_module() { launches_of("module loaded in A", look_up(load())); }
static void launch_looked_up_elsewhere() {
  CUmodule module = load();
  CUfunction function;
  With with(B);
  say("cuModuleGetFunction with B current", cuModuleGetFunction(&function, module, "nothing"));
  say("launched with B current", launch(function, nullptr));
  With back(A);
  say("launched with A current", launch(function, nullptr));
}
static void launch_kernel() {
  CUlibrary library;
  CUkernel kernel;
  NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
  launches_of("kernel of a library", (CUfunction)kernel);
}
static void launch_function_of_kernel() {
  CUlibrary library;
  CUkernel kernel;
  CUfunction function;
  NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
  {
    With with(nullptr);
    say("cuKernelGetFunction, no context", cuKernelGetFunction(&function, kernel));
  }
  NEED(cuKernelGetFunction(&function, kernel));
  launches_of("cuKernelGetFunction in A", function);
  CUfunction of_B;
  With with(B);
  say("cuKernelGetFunction in B", cuKernelGetFunction(&of_B, kernel));
  say("the function of B is that of A (1) or not (0)", std::to_string(of_B == function));
  say("it is the kernel (1) or not (0)", std::to_string((void*)function == (void*)kernel));
  say("function of B launched with B current", launch(of_B, nullptr));
}
static void launch_module_of_library() {
  CUlibrary library;
  CUmodule module;
  NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetModule(&module, library));
  launches_of("module of a library in A", look_up(module));
}
static void launch_unloaded_module() {
  CUmodule module = load();
  CUfunction function = look_up(module);
  NEED(cuModuleUnload(module));
  say("launched", launch(function, nullptr));
}
static void launch_unloaded_library() {
  CUlibrary library;
  CUkernel kernel;
  NEED(cuLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernel(&kernel, library, "nothing"));
  NEED(cuLibraryUnload(library));
  say("kernel launched", launch((CUfunction)kernel, nullptr));
}
static void launch_destroyed_context() {
  CUcontext context, gone;
  NEED(cuCtxCreate(&context, nullptr, 0, device));
  CUfunction function = look_up(load());
  NEED(cuCtxPopCurrent(&gone));
  NEED(cuCtxDestroy(context));
  say("launched with A current", launch(function, nullptr));
}
static void launch_null_function() { say("function 0", launch(nullptr, nullptr)); }
static void unload_elsewhere() {
  CUmodule module = load(), other = load();
  {
    With with(B);
    say("cuModuleUnload of A's module, B current", cuModuleUnload(module));
  }
  With with(nullptr);
  say("cuModuleUnload of A's module, none current", cuModuleUnload(other));
}

// ---- fills -------------------------------------------------------------------------------------

/// Every fill at an address with room for 256 bytes.
static void fills_of(const std::string& what, CUdeviceptr at) {
  CUstream stream = new_stream(A);
  auto ask = [&](const std::string& call, CUresult answer) {
    say(call + ", " + what, answer);
    CUresult after = cuCtxSynchronize();
    if (after != CUDA_SUCCESS) {
      say(call + ", " + what + ", cuCtxSynchronize afterwards", after);
      _exit(1);
    }
  };
  for (u64 offset : {0, 1, 2}) {
    std::string by = offset ? " at +" + std::to_string(offset) : "";
    ask("cuMemsetD8" + by, cuMemsetD8(at + offset, 1, 16));
    ask("cuMemsetD16" + by, cuMemsetD16(at + offset, 1, 16));
    ask("cuMemsetD32" + by, cuMemsetD32(at + offset, 1, 16));
    ask("cuMemsetD8Async" + by, cuMemsetD8Async(at + offset, 1, 16, stream));
    ask("cuMemsetD16Async" + by, cuMemsetD16Async(at + offset, 1, 16, stream));
    ask("cuMemsetD32Async" + by, cuMemsetD32Async(at + offset, 1, 16, stream));
  }
  ask("cuMemsetD8 of none", cuMemsetD8(at, 1, 0));
  ask("cuMemsetD32 of none at +1", cuMemsetD32(at + 1, 1, 0));
  ask("cuMemsetD32Async of none", cuMemsetD32Async(at, 1, 0, stream));
  struct {
    const char* name;
    u64 pitch, width, height;
  } shapes[] = {{"pitch 32, 4 by 4", 32, 4, 4}, {"pitch 0, 4 by 4", 0, 4, 4},
                {"pitch 4, 8 by 4", 4, 8, 4},   {"pitch 33, 4 by 4", 33, 4, 4},
                {"pitch 0, 4 by 1", 0, 4, 1},   {"pitch 33, 4 by 1", 33, 4, 1},
                {"pitch 32, 0 by 4", 32, 0, 4}, {"pitch 32, 4 by 0", 32, 4, 0}};
  for (auto& s : shapes) {
    std::string shape = std::string(", ") + s.name;
    ask("cuMemsetD2D8" + shape, cuMemsetD2D8(at, s.pitch, 1, s.width, s.height));
    ask("cuMemsetD2D16" + shape, cuMemsetD2D16(at, s.pitch, 1, s.width, s.height));
    ask("cuMemsetD2D32" + shape, cuMemsetD2D32(at, s.pitch, 1, s.width, s.height));
    ask("cuMemsetD2D32Async" + shape,
        cuMemsetD2D32Async(at, s.pitch, 1, s.width, s.height, stream));
  }
}

static void fill_device() { fills_of("device memory", device_memory(256)); }
static void fill_pool() { fills_of("pool memory", pool_memory(256)); }
static void fill_managed() { fills_of("managed memory", managed_memory(256)); }
static void fill_pinned() { fills_of("page-locked memory", pinned_memory(256)); }
static void fill_registered() { fills_of("registered memory", registered_memory(PAGE)); }
static void fill_registered_read_only() {
  int supported = 0;
  cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, device);
  say("read-only registration supported", std::to_string(supported));
  fills_of("memory registered as read-only",
           registered_memory(PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
}
static void fill_pageable() { fills_of("pageable memory", pageable_memory(PAGE)); }
static void fill_freed() {
  CUdeviceptr at = device_memory(4 << 20);
  NEED(cuMemFree(at));
  fills_of("device memory that is freed", at);
}
static void fill_freed_small() {
  device_memory(256);
  CUdeviceptr at = device_memory(256);
  NEED(cuMemFree(at));
  fills_of("small device memory that is freed", at);
}
static void fill_freed_pinned() {
  pinned_memory(256);
  CUdeviceptr at = pinned_memory(256);
  NEED(cuMemFreeHost((void*)at));
  say("cuMemsetD8, small page-locked memory that is freed", cuMemsetD8(at, 1, 16));
}
static void fill_beyond() {
  CUdeviceptr at = device_memory(256);
  say("cuMemsetD8, one byte beyond device memory of 256 B", cuMemsetD8(at, 1, 257));
  CUdeviceptr large = device_memory(4 << 20);
  say("cuMemsetD8, one byte beyond device memory of 4 MiB", cuMemsetD8(large, 1, (4 << 20) + 1));
  CUdeviceptr pinned = pinned_memory(256);
  say("cuMemsetD8, one byte beyond page-locked memory of 256 B", cuMemsetD8(pinned, 1, 257));
  CUdeviceptr registered = registered_memory(2 * PAGE);
  NEED(cuMemHostUnregister((void*)registered));
  NEED(cuMemHostRegister((void*)registered, 100, 0));
  say("cuMemsetD8, beyond 100 registered bytes, in the page", cuMemsetD8(registered, 1, 101));
  say("cuMemsetD8, at +200 of 100 registered bytes", cuMemsetD8(registered + 200, 1, 1));
  say("cuMemsetD8, beyond the registered page", cuMemsetD8(registered, 1, PAGE + 1));
  say("cuCtxSynchronize", cuCtxSynchronize());
}
static void fill_of_another_context() {
  CUdeviceptr at, pinned, registered = pageable_memory(PAGE), managed;
  {
    With with(B);
    at = device_memory(256);
    pinned = pinned_memory(256);
    managed = managed_memory(256);
    NEED(cuMemHostRegister((void*)registered, PAGE, 0));
  }
  CUstream of_A = new_stream(A), of_B = new_stream(B);
  struct {
    const char* name;
    CUdeviceptr at;
  } all[] = {{"device memory of B", at},
             {"page-locked memory of B", pinned},
             {"managed memory of B", managed},
             {"registered memory of B", registered}};
  for (auto& one : all) {
    std::string what = std::string(", ") + one.name;
    say("cuMemsetD8, A current" + what, cuMemsetD8(one.at, 1, 16));
    say("cuMemsetD32, A current" + what, cuMemsetD32(one.at, 1, 4));
    say("cuMemsetD8Async, stream of A" + what, cuMemsetD8Async(one.at, 1, 16, of_A));
    say("cuMemsetD8Async, stream of B" + what, cuMemsetD8Async(one.at, 1, 16, of_B));
    With with(nullptr);
    say("cuMemsetD8, none current" + what, cuMemsetD8(one.at, 1, 16));
    say("cuMemsetD8Async, none current, stream of A" + what,
        cuMemsetD8Async(one.at, 1, 16, of_A));
  }
}
/// Two registrations that share a page, one of them read-only.
static void fill_shared_page() {
  CUdeviceptr at = pageable_memory(PAGE);
  say("100 bytes registered as read-only",
      cuMemHostRegister((void*)at, 100, CU_MEMHOSTREGISTER_READ_ONLY));
  say("100 bytes at +200 registered as writable", cuMemHostRegister((void*)(at + 200), 100, 0));
  say("cuMemsetD8 of the writable ones", cuMemsetD8(at + 200, 1, 16));
  say("cuMemsetD8 of the read-only ones", cuMemsetD8(at, 1, 16));
  CUdeviceptr other = pageable_memory(PAGE);
  say("100 other bytes registered as writable", cuMemHostRegister((void*)other, 100, 0));
  say("100 bytes at +200 of them registered as read-only",
      cuMemHostRegister((void*)(other + 200), 100, CU_MEMHOSTREGISTER_READ_ONLY));
  say("cuMemsetD8 of the second ones", cuMemsetD8(other + 200, 1, 16));
  say("cuMemsetD8 of the first ones", cuMemsetD8(other, 1, 16));
}

// ---- registration ------------------------------------------------------------------------------

static CUresult register_at(CUdeviceptr at, size_t size, u32 flags = 0) {
  return cuMemHostRegister((void*)at, size, flags);
}
static CUresult unregister_at(CUdeviceptr at) { return cuMemHostUnregister((void*)at); }

static void unregister() {
  CUdeviceptr at = pageable_memory(8 * PAGE);
  say("never registered", unregister_at(at));
  say("0", unregister_at(0));
  NEED(register_at(at, 2 * PAGE));
  say("one byte into it", unregister_at(at + 1));
  say("a page into it", unregister_at(at + PAGE));
  say("its last byte", unregister_at(at + 2 * PAGE - 1));
  say("just behind it", unregister_at(at + 2 * PAGE));
  say("its begin", unregister_at(at));
  say("its begin again", unregister_at(at));
  NEED(register_at(at + 100, 100));
  say("the page of 100 bytes at +100", unregister_at(at));
  say("the 100 bytes", unregister_at(at + 100));
  say("an address of nobody", unregister_at(0x7000));
  say("an address beyond all", unregister_at(~0ull));
}
static void unregister_other_memory() {
  say("device memory", unregister_at(device_memory(256)));
  say("device memory at +1", unregister_at(device_memory(256) + 1));
  say("pool memory", unregister_at(pool_memory(256)));
  say("managed memory", unregister_at(managed_memory(256)));
  say("managed memory at +1", unregister_at(managed_memory(256) + 1));
  say("page-locked memory", unregister_at(pinned_memory(256)));
  say("page-locked memory at +1", unregister_at(pinned_memory(256) + 1));
}
static void unregister_freed_memory() {
  auto ask = [](const std::string& what, size_t size) {
    for (bool neighbour : {false, true}) {
      std::string by = what + (neighbour ? ", a neighbour lives" : "");
      if (neighbour) device_memory(size);
      CUdeviceptr at = device_memory(size);
      NEED(cuMemFree(at));
      say("device memory of " + by + ", freed", unregister_at(at));
      if (neighbour) pinned_memory(size);
      at = pinned_memory(size);
      NEED(cuMemFreeHost((void*)at));
      say("page-locked memory of " + by + ", freed", unregister_at(at));
      if (neighbour) managed_memory(size);
      at = managed_memory(size);
      NEED(cuMemFree(at));
      say("managed memory of " + by + ", freed", unregister_at(at));
      if (neighbour) pool_memory(size);
      at = pool_memory(size);
      NEED(cuMemFree(at));
      say("pool memory of " + by + ", freed", unregister_at(at));
      if (neighbour) device_memory(size);
      at = device_memory(size);
      NEED(cuMemFreeAsync(at, nullptr));
      NEED(cuCtxSynchronize());
      say("device memory of " + by + ", freed by cuMemFreeAsync", unregister_at(at));
    }
  };
  ask("64 B", 64);
  ask("64 KiB", 64 << 10);
  ask("4 MiB", 4 << 20);
}
static void unregister_elsewhere() {
  CUdeviceptr first = registered_memory(PAGE), second = registered_memory(PAGE),
              third = registered_memory(PAGE);
  {
    With with(B);
    say("registered in A, B current", unregister_at(first));
    say("the same again, B current", unregister_at(first));
  }
  {
    With with(nullptr);
    say("registered in A, none current", unregister_at(second));
    say("never registered, none current", unregister_at(pageable_memory(PAGE)));
    say("0, none current", unregister_at(0));
  }
  say("registered in A, A current", unregister_at(third));
  CUcontext context, gone;
  NEED(cuCtxCreate(&context, nullptr, 0, device));
  CUdeviceptr last = registered_memory(PAGE), locked = pinned_memory(PAGE),
              small = pinned_memory(64);
  NEED(cuCtxPopCurrent(&gone));
  NEED(cuCtxDestroy(context));
  say("registered in a destroyed context", unregister_at(last));
  say("page-locked in a destroyed context", unregister_at(locked));
  say("64 page-locked bytes of a destroyed context", unregister_at(small));
  say("cuMemHostRegister of what a destroyed context had registered", register_at(last, PAGE));
}

/// Memory that is freed while another context is current, or in a stream that has not got there.
static void unregister_freed_elsewhere() {
  for (bool used : {false, true})
    for (size_t size : {size_t(1000), size_t(64 << 10), size_t(0x200001)}) {
      std::string what = std::to_string(size) + " B" + (used ? ", filled" : "");
      CUdeviceptr keep = device_memory(size), of_pool = pool_memory(size), at = device_memory(size),
                  async = pool_memory(size);
      if (used)
        for (CUdeviceptr one : {of_pool, at, async}) NEED(cuMemsetD8(one, 1, 1000));
      {
        With with(B);
        NEED(cuMemFree(of_pool));
        say("pool memory of A of " + what + ", freed in B, B current", unregister_at(of_pool));
        NEED(cuMemFree(at));
        say("device memory of A of " + what + ", freed in B, B current", unregister_at(at));
        NEED(cuMemFreeAsync(async, CU_STREAM_LEGACY));
        say("pool memory of A of " + what + ", freed in a stream of B", unregister_at(async));
      }
      say("the first " + what + ", A current", unregister_at(of_pool));
      say("the first " + what + ", at +100", unregister_at(of_pool + 100));
      say("the second " + what + ", at +100", unregister_at(at + 100));
      NEED(cuCtxSynchronize());
      say("the first " + what + ", synchronised", unregister_at(of_pool));
      say("the third " + what + ", synchronised", unregister_at(async));
      NEED(cuMemFree(keep));
    }
}

/// A second registration over a first one, each made anew.
static void overlap(const std::string& what, u64 first, size_t first_size, u32 first_flags,
                    u64 second, size_t second_size, u32 second_flags) {
  CUdeviceptr at = pageable_memory(8 * PAGE);
  NEED(register_at(at + first, first_size, first_flags));
  CUresult answer = register_at(at + second, second_size, second_flags);
  say(what, answer);
  u32 flags = 99;
  CUresult asked = cuMemHostGetFlags(&flags, (void*)(at + first));
  if (first_flags != second_flags)
    say(what + ", cuMemHostGetFlags of the first",
        std::to_string((int)asked) + " " + std::to_string(flags));
  if (answer == CUDA_SUCCESS) unregister_at(at + second);
  unregister_at(at + first);
  munmap((void*)at, 8 * PAGE);
}
static void register_twice() {
  const u32 flags[] = {0, 1, 2, 3, 8};
  for (u32 first : flags)
    for (u32 second : flags) {
      std::string by = ", flags " + std::to_string(first) + " and then " + std::to_string(second);
      overlap("the same page" + by, 0, PAGE, first, 0, PAGE, second);
      overlap("100 bytes, and 100 at +200 of the page" + by, 0, 100, first, 200, 100, second);
      overlap("100 bytes, and 100 at +50" + by, 0, 100, first, 50, 100, second);
      overlap("100 bytes, and the whole page" + by, 0, 100, first, 0, PAGE, second);
      overlap("a page, and 4 pages from it on" + by, 0, PAGE, first, 0, 4 * PAGE, second);
      overlap("4 pages, and the second of them" + by, 0, 4 * PAGE, first, PAGE, PAGE, second);
      overlap("2 pages, and 2 from the second on" + by, 0, 2 * PAGE, first, PAGE, 2 * PAGE, second);
      overlap("the third page, and the 4 from the first on" + by, 2 * PAGE, PAGE, first, 0,
              4 * PAGE, second);
      overlap("a page, and the next" + by, 0, PAGE, first, PAGE, PAGE, second);
      overlap("100 bytes, and from +200 into the next page" + by, 0, 100, first, 200, PAGE, second);
    }
}
/// Both ends of a range are registered, and the middle is not.
static void register_around() {
  CUdeviceptr at = pageable_memory(8 * PAGE);
  NEED(register_at(at, PAGE));
  NEED(register_at(at + 2 * PAGE, PAGE));
  say("the gap of a page", register_at(at + PAGE, PAGE));
  say("all three pages again", register_at(at, 3 * PAGE));
  say("the gap's unregistration", unregister_at(at + PAGE));
  say("all three pages, with a gap", register_at(at, 3 * PAGE));
}
static void register_other_memory() {
  say("device memory", register_at(device_memory(PAGE), 64));
  say("managed memory", register_at(managed_memory(PAGE), 64));
  say("page-locked memory", register_at(pinned_memory(PAGE), 64));
  CUdeviceptr small = pinned_memory(64);
  say("behind 64 page-locked bytes, in their page", register_at(small + 64, 64));
  CUdeviceptr freed = pinned_memory(64);
  NEED(cuMemFreeHost((void*)freed));
  say("64 page-locked bytes that are freed", register_at(freed, 64));
  CUdeviceptr locked = pinned_memory(PAGE);
  NEED(cuMemFreeHost((void*)locked));
  say("a page-locked page that is freed", register_at(locked, 64));
  CUdeviceptr gone = managed_memory(PAGE);
  NEED(cuMemFree(gone));
  say("managed memory that is freed", register_at(gone, 64));
  CUdeviceptr device_gone = device_memory(PAGE);
  NEED(cuMemFree(device_gone));
  say("device memory that is freed", register_at(device_gone, 64));
  say("memory that is not mapped", register_at(0x7000, 64));
  CUdeviceptr edge = pageable_memory(4 * PAGE);
  munmap((void*)(edge + PAGE), PAGE);
  say("a page, and a hole behind it", register_at(edge, 2 * PAGE));
  say("the page alone", register_at(edge, PAGE));
}
/// Ranges that begin and end anywhere in a few pages, beside those that are registered already.
static void register_at_random() {
  u64 state = 1;
  auto below = [&](u64 limit) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % limit;
  };
  const u64 PAGES = 6, INSIDE[] = {0, 0, 1, 2, 100, 2048, PAGE - 2, PAGE - 1};
  auto place = [&] { return below(PAGES) * PAGE + (below(3) ? INSIDE[below(8)] : below(PAGE)); };
  for (int round = 0; round < 60; round++) {
    CUdeviceptr pages = pageable_memory(PAGES * PAGE);
    std::vector<u64> registered;
    for (int turn = 0; turn < 20; turn++) {
      std::string number = std::to_string(round) + "." + std::to_string(turn) + ", ";
      if (!registered.empty() && below(4) == 0) {
        u64 index = below(registered.size()), at = registered[index];
        say(number + "unregister +" + std::to_string(at), unregister_at(pages + at));
        registered.erase(registered.begin() + index);
        continue;
      }
      u64 begin = place(), end = place();
      if (end <= begin) end = std::min(begin + 1 + below(2 * PAGE), PAGES * PAGE);
      u32 flags = below(2) ? CU_MEMHOSTREGISTER_READ_ONLY : 0;
      CUresult answer = register_at(pages + begin, end - begin, flags);
      say(number + "+" + std::to_string(begin) + " to +" + std::to_string(end) +
              (flags ? ", read-only" : ""),
          answer);
      if (answer == CUDA_SUCCESS) registered.push_back(begin);
    }
    for (u64 at : registered) NEED(unregister_at(pages + at));
  }
}
static void register_elsewhere() {
  CUdeviceptr at = pageable_memory(2 * PAGE);
  NEED(register_at(at, PAGE));
  {
    With with(B);
    say("registered in A, again in B", register_at(at, PAGE));
    say("registered in A, another part of the page in B", register_at(at + PAGE - 1, 1));
    say("the next page in B", register_at(at + PAGE, PAGE));
  }
  With with(nullptr);
  say("no context", register_at(pageable_memory(PAGE), PAGE));
}

// ---- what the table of order leaves open ------------------------------------------------------

static volatile u32 *stop_flag, *done_flag;
static CUfunction spin_function;
static void prepare_spinning() {
  void* host;
  NEED(cuMemHostAlloc(&host, PAGE, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  memset(host, 0, PAGE);
  stop_flag = (volatile u32*)host;
  done_flag = stop_flag + 64;
}
static void spin(CUstream stream, u64 milliseconds) {
  CUmodule module = load();
  NEED(cuModuleGetFunction(&spin_function, module, "spin"));
  CUdeviceptr flag = (CUdeviceptr)stop_flag;
  u64 cycles = milliseconds * 1800 * 1000;
  void* arguments[] = {&flag, &cycles};
  NEED(cuLaunchKernel(spin_function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  NEED(cuMemsetD32Async((CUdeviceptr)done_flag, 1, 1, stream));
}
static double milliseconds_of(const std::function<void()>& work) {
  auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}
static const char* yes(bool value) { return value ? "yes" : "no"; }

static void destroy_busy_context() {
  prepare_spinning();
  for (int form : {0, 1}) {
    *stop_flag = *done_flag = 0;
    CUcontext context, gone;
    NEED(cuCtxCreate(&context, nullptr, 0, device));
    CUstream stream;
    NEED(cuStreamCreate(&stream, form ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    spin(stream, 50);
    NEED(cuCtxPopCurrent(&gone));
    std::string by = form ? ", non-blocking stream" : ", blocking stream";
    CUresult answer;
    double took = milliseconds_of([&] { answer = cuCtxDestroy(context); });
    say("result" + by, answer);
    say("the kernel of 50 ms was over when it returned" + by, yes(*done_flag != 0));
    say("it took at least 40 ms" + by, yes(took >= 40));
    usleep(200000);
    say("the work behind the kernel was done 200 ms later" + by, yes(*done_flag != 0));
  }
}
/// Which calls that take managed memory wait for the legacy stream once SYNC_MEMOPS is off.
static void managed_without_sync_memops() {
  prepare_spinning();
  CUdeviceptr to = device_memory(64), pinned = pinned_memory(64), pageable = pageable_memory(64);
  struct {
    const char* name;
    std::function<CUresult(CUdeviceptr)> call;
  } calls[] = {
      {"cuMemsetD8", [](CUdeviceptr at) { return cuMemsetD8(at, 1, 64); }},
      {"cuMemsetD2D8", [](CUdeviceptr at) { return cuMemsetD2D8(at, 16, 1, 16, 4); }},
      {"cuMemcpyDtoD to device", [=](CUdeviceptr at) { return cuMemcpyDtoD(to, at, 64); }},
      {"cuMemcpyDtoD from device", [=](CUdeviceptr at) { return cuMemcpyDtoD(at, to, 64); }},
      {"cuMemcpy to device", [=](CUdeviceptr at) { return cuMemcpy(to, at, 64); }},
      {"cuMemcpy from device", [=](CUdeviceptr at) { return cuMemcpy(at, to, 64); }},
      {"cuMemcpyHtoD from page-locked",
       [=](CUdeviceptr at) { return cuMemcpyHtoD(at, (void*)pinned, 64); }},
      {"cuMemcpyHtoD from pageable",
       [=](CUdeviceptr at) { return cuMemcpyHtoD(at, (void*)pageable, 64); }},
      {"cuMemcpyDtoH to page-locked",
       [=](CUdeviceptr at) { return cuMemcpyDtoH((void*)pinned, at, 64); }},
  };
  for (u32 value : {1, 0})
    for (auto& one : calls) {
      *stop_flag = *done_flag = 0;
      CUdeviceptr at = managed_memory(64);
      NEED(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
      spin(CU_STREAM_LEGACY, 20);
      CUresult answer = one.call(at);
      std::string what = std::string(one.name) + ", SYNC_MEMOPS " + std::to_string(value);
      say(what + ", result", answer);
      say(what + ", waits for the legacy stream", yes(*done_flag != 0));
      *stop_flag = 1;
      NEED(cuCtxSynchronize());
      NEED(cuMemFree(at));
    }
}
/// Whether a synchronous copy of B's managed memory is work of B's legacy stream.
static void copy_of_managed_memory_of_another_context() {
  prepare_spinning();
  CUdeviceptr at, to = device_memory(64);
  {
    With with(B);
    at = managed_memory(64);
    spin(CU_STREAM_LEGACY, 100);
  }
  CUresult answer = cuMemcpy(to, at, 64);
  say("cuMemcpy, result", answer);
  say("cuMemcpy waits for B's legacy stream", yes(*done_flag != 0));
  NEED(cuCtxSynchronize());
  say("cuCtxSynchronize of A then waits for B's legacy stream", yes(*done_flag != 0));
}
static void reuse_of_pool_memory() {
  prepare_spinning();
  for (size_t size : {size_t(64 << 10), size_t(40 << 20)})
    for (bool same : {true, false}) {
      *stop_flag = *done_flag = 0;
      CUstream stream = new_stream(A), other = same ? stream : new_stream(A);
      CUdeviceptr first, second;
      NEED(cuMemAllocAsync(&first, size, stream));
      NEED(cuStreamSynchronize(stream));
      spin(stream, 20);
      NEED(cuMemFreeAsync(first, stream));
      NEED(cuMemAllocAsync(&second, size, other));
      say(std::to_string(size) + " B freed behind a kernel, taken " +
              (same ? "in the same stream" : "in another stream") + ": the same address",
          yes(first == second));
      *stop_flag = 1;
      NEED(cuCtxSynchronize());
      NEED(cuMemFree(second));
    }
}
static void sync_memops_of_managed() {
  CUdeviceptr at = managed_memory(4096);
  u32 value = 77;
  auto get = [&] {
    CUresult r = cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at);
    return std::to_string((int)r) + " " + std::to_string(value);
  };
  say("attribute at first", get());
  u32 no = 0;
  say("set to 0", cuPointerSetAttribute(&no, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
  say("attribute then", get());
  prepare_spinning();
  CUstream legacy = CU_STREAM_LEGACY;
  spin(legacy, 20);
  CUresult answer = cuMemsetD8(at, 1, 64);
  say("cuMemsetD8 of it, result", answer);
  say("cuMemsetD8 of it waits for the legacy stream", yes(*done_flag != 0));
}
static volatile int called;
static void CUDA_CB on_host(void*) { called = 1; }
static void host_function_alone() {
  CUstream stream = new_stream(A);
  double took = milliseconds_of([&] {
    NEED(cuLaunchHostFunc(stream, on_host, nullptr));
    for (int turn = 0; turn < 5000 && !called; turn++) usleep(1000);
  });
  say("nobody waits for the stream: it runs", yes(called));
  say("it runs within 10 ms", yes(called && took < 10));
  say("it runs within 100 ms", yes(called && took < 100));
}
static void host_function_waits_for_work() {
  prepare_spinning();
  CUstream stream = new_stream(A);
  called = 0;
  spin(stream, 20);
  NEED(cuLaunchHostFunc(stream, on_host, nullptr));
  say("runs before the kernel ahead of it is over", yes(called && !*done_flag));
  NEED(cuStreamSynchronize(stream));
  say("has run when cuStreamSynchronize returns", yes(called));
}

// ---- two devices -------------------------------------------------------------------------------

static CUdevice other_device;

static CUresult set_access(CUmemoryPool pool, CUdevice of, u32 flags) {
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, of}, (CUmemAccess_flags)flags};
  return cuMemPoolSetAccess(pool, &access, 1);
}
static std::string access_of(CUmemoryPool pool, CUdevice of) {
  CUmemAccess_flags flags = (CUmemAccess_flags)99;
  CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, of};
  CUresult result = cuMemPoolGetAccess(&flags, pool, &location);
  return std::to_string((int)result) + ", " + std::to_string((int)flags);
}
static CUmemoryPool pool_of_the_other_device() {
  CUmemPoolProps props = {};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, other_device};
  CUmemoryPool pool;
  NEED(cuMemPoolCreate(&pool, &props));
  return pool;
}

/// Which devices reach a pool, and who may change it.
static void access_to_pools() {
  CUmemoryPool theirs, ours, made = pool_of_the_other_device();
  NEED(cuDeviceGetDefaultMemPool(&theirs, other_device));
  NEED(cuDeviceGetDefaultMemPool(&ours, device));
  say("the default pool of device 1, device 0", access_of(theirs, device));
  say("the default pool of device 1, device 1", access_of(theirs, other_device));
  say("the default pool of device 0, device 0", access_of(ours, device));
  say("the default pool of device 0, device 1", access_of(ours, other_device));
  say("a new pool of device 1, device 0", access_of(made, device));
  say("a new pool of device 1, device 1", access_of(made, other_device));
  say("a new pool of device 1, device 99", access_of(made, 99));
  for (u32 flags : {3, 1, 0, 2, 4, 3, 0}) {
    std::string what = "cuMemPoolSetAccess of device 0 to " + std::to_string(flags);
    say(what, set_access(made, device, flags));
    say(what + ", cuMemPoolGetAccess", access_of(made, device));
  }
  for (u32 flags : {3, 1, 0}) {
    std::string what = "cuMemPoolSetAccess of device 1, its own, to " + std::to_string(flags);
    say(what, set_access(made, other_device, flags));
    say(what + ", cuMemPoolGetAccess", access_of(made, other_device));
  }
  say("cuMemPoolSetAccess of device 99", set_access(made, 99, 3));
  say("cuMemPoolSetAccess, 0 descriptions", cuMemPoolSetAccess(made, nullptr, 0));
  say("cuMemPoolSetAccess, null", cuMemPoolSetAccess(made, nullptr, 1));
  CUmemAccessDesc both[] = {
      {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
      {{CU_MEM_LOCATION_TYPE_DEVICE, 99}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
  say("cuMemPoolSetAccess of devices 0 and 99", cuMemPoolSetAccess(made, both, 2));
  say("cuMemPoolSetAccess of devices 0 and 99, device 0", access_of(made, device));
}

/// What device 0 may do with memory of a pool of device 1 that it has this access to.
static void use_of_their_pool(u32 flags, bool taken_away = false) {
  CUcontext context, gone;
  NEED(cuCtxCreate(&context, nullptr, 0, other_device));
  CUmemoryPool pool = pool_of_the_other_device();
  CUdeviceptr at, ours = device_memory(256), pinned = pinned_memory(256);
  NEED(cuMemAllocFromPoolAsync(&at, 256, pool, CU_STREAM_PER_THREAD));
  NEED(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  NEED(cuCtxPopCurrent(&gone));
  char bytes[64] = {};
  if (taken_away) NEED(set_access(pool, device, 3));
  if (flags || taken_away) NEED(set_access(pool, device, flags));
  CUdeviceptr mine = device_memory(256);
  auto ask = [&](const std::string& what, CUresult answer) {
    say(what, answer);
    say(what + ", cuCtxSynchronize", cuCtxSynchronize());
  };
  if (flags != 1) ask("cuMemsetD8", cuMemsetD8(at, 1, 64));
  if (flags != 1) ask("cuMemsetD8Async", cuMemsetD8Async(at, 1, 64, nullptr));
  ask("cuMemcpy from it", cuMemcpy(mine, at, 64));
  ask("cuMemcpyDtoD from it", cuMemcpyDtoD(mine, at, 64));
  ask("cuMemcpyAsync from it", cuMemcpyAsync(mine, at, 64, nullptr));
  ask("cuMemcpyDtoH from it", cuMemcpyDtoH(bytes, at, 64));
  ask("cuMemcpyDtoH from it, page-locked", cuMemcpyDtoH((void*)pinned, at, 64));
  ask("cuMemcpyPeer from it", cuMemcpyPeer(mine, A, at, context, 64));
  ask("cuMemcpy to it", cuMemcpy(at, mine, 64));
  ask("cuMemcpyDtoD to it", cuMemcpyDtoD(at, mine, 64));
  ask("cuMemcpyAsync to it", cuMemcpyAsync(at, mine, 64, nullptr));
  ask("cuMemcpyHtoD to it", cuMemcpyHtoD(at, bytes, 64));
  ask("cuMemcpyHtoDAsync to it", cuMemcpyHtoDAsync(at, bytes, 64, nullptr));
  ask("cuMemcpyPeer to it", cuMemcpyPeer(at, context, mine, A, 64));
  say("cuMemAllocFromPoolAsync in a stream of device 0",
      cuMemAllocFromPoolAsync(&ours, 64, pool, nullptr));
  say("cuMemFreeAsync in a stream of device 0", cuMemFreeAsync(at, nullptr));
  say("cuCtxSynchronize", cuCtxSynchronize());
}

static void attach_parts() {
  With with(A);
  CUstream stream;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr managed = managed_memory(8192);
  for (u64 offset : {0, 1, 4096, 8191}) {
    for (u64 length : {0, 1, 4096, 8192, 8192 - (int)offset}) {
      for (u32 flags : {1, 2, 4}) {
        say(std::to_string(length) + " bytes from " + std::to_string(offset) + " on, flags " +
                std::to_string(flags),
            cuStreamAttachMemAsync(stream, managed + offset, length, flags));
      }
    }
  }
}

// ---- memory of a pool, and the context of its stream --------------------------------------------

/// How a pool counts its bytes, with the stream busy or idle.
static void bytes_of_pool(bool busy) {
  prepare_spinning();
  With with(A);
  CUmemoryPool pool;
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  NEED(cuMemPoolCreate(&pool, &properties));
  CUstream stream = new_stream(A), other = new_stream(A);
  auto count = [&](const std::string& when) {
    const std::pair<const char*, CUmemPool_attribute> counts[] = {
        {"in use", CU_MEMPOOL_ATTR_USED_MEM_CURRENT},
        {"most in use", CU_MEMPOOL_ATTR_USED_MEM_HIGH},
        {"reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT},
        {"most reserved", CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH}};
    for (const auto& [name, attribute] : counts) {
      u64 now = 77;
      NEED(cuMemPoolGetAttribute(pool, attribute, &now));
      say(std::string(name) + " after " + when, std::to_string(now));
    }
  };
  auto take = [&](size_t size, CUstream stream) {
    CUdeviceptr at;
    NEED(cuMemAllocFromPoolAsync(&at, size, pool, stream));
    return at;
  };
  NEED(cuMemFreeAsync(take(64, stream), stream));
  NEED(cuStreamSynchronize(stream));
  count("64 bytes that were freed");
  if (busy) spin(stream, 100);
  std::vector<CUdeviceptr> taken;
  for (size_t size : {1, 255, 257, 512, 1000, 4097, 100000, 3 << 20, 40 << 20}) {
    taken.push_back(take(size, stream));
    count(std::to_string(size) + " bytes more");
  }
  NEED(cuMemFreeAsync(taken[4], stream));
  if (!busy) NEED(cuStreamSynchronize(stream));
  count("cuMemFreeAsync of 1000");
  taken[4] = take(700, stream);
  count("700 bytes in the same stream");
  NEED(cuMemFreeAsync(taken[5], stream));
  if (!busy) NEED(cuStreamSynchronize(stream));
  taken[5] = take(4097, other);
  count("4097 freed bytes, taken in another stream");
  *stop_flag = 1;
  NEED(cuStreamSynchronize(stream));
  count("cuStreamSynchronize");
  NEED(cuMemFree(taken[6]));
  count("cuMemFree of 100000");
  CUdeviceptr again = take(99999, stream);
  count("99999 bytes");
  NEED(cuMemFree(taken[7]));
  count("cuMemFree of 3 MiB");
  NEED(cuStreamSynchronize(stream));
  count("cuStreamSynchronize after cuMemFree");
  NEED(cuCtxSynchronize());
  count("cuCtxSynchronize after cuMemFree");
  NEED(cuMemFreeAsync(taken[8], other));
  NEED(cuStreamSynchronize(other));
  count("cuMemFreeAsync of 40 MiB");
  NEED(cuMemPoolTrimTo(pool, 0));
  count("cuMemPoolTrimTo");
  for (size_t i : {0, 1, 2, 3, 4, 5}) NEED(cuMemFreeAsync(taken[i], stream));
  NEED(cuMemFreeAsync(again, stream));
  NEED(cuCtxSynchronize());
  count("everything is freed");
  u64 none = 0;
  NEED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
  NEED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &none));
  count("the marks are set to 0");
  NEED(cuMemPoolTrimTo(pool, 0));
  count("a last cuMemPoolTrimTo");
}

/// What is left of memory of a pool after the context in whose stream it was asked for has ended.
static void pool_memory_of_ended_context(bool primary, bool made_pool, bool own_stream, bool wait) {
  CUcontext ending = P;
  if (!primary) NEED(cuCtxCreate(&ending, nullptr, 0, device));
  CUmemoryPool pool;
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  NEED(cuDeviceGetDefaultMemPool(&pool, device));
  if (made_pool) NEED(cuMemPoolCreate(&pool, &properties));
  CUdeviceptr kept, freed;
  char bytes[64] = {};
  {
    With with(ending);
    CUstream stream = nullptr;
    if (own_stream) NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAllocFromPoolAsync(&kept, 256, pool, stream));
    NEED(cuMemAllocFromPoolAsync(&freed, 256, pool, stream));
    NEED(cuMemsetD8Async(kept, 7, 256, stream));
    NEED(cuMemFreeAsync(freed, stream));
    if (wait) NEED(cuStreamSynchronize(stream));
  }
  auto used = [&](const char* when) {
    u64 now = 77;
    NEED(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &now));
    say(std::string("bytes in use ") + when, std::to_string(now));
  };
  used("before");
  say("the end", primary ? cuDevicePrimaryCtxReset(device) : cuCtxDestroy(ending));
  With with(A);
  used("afterwards");
  u32 type = 77;
  u64 owner = 77;
  say("memory type", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kept));
  say("context", cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, kept));
  say("context is", owner ? "one" : "null");
  say("copy from it", cuMemcpyDtoH(bytes, kept, 64));
  say("first byte", std::to_string(bytes[0]));
  say("fill it", cuMemsetD8(kept, 1, 64));
  say("memory that was freed, type",
      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, freed));
  say("cuMemFreeAsync", cuMemFreeAsync(kept, nullptr));
  say("cuStreamSynchronize", cuStreamSynchronize(nullptr));
  used("at last");
  CUdeviceptr again;
  say("allocate again", cuMemAllocFromPoolAsync(&again, 256, pool, nullptr));
  if (made_pool) say("cuMemPoolDestroy", cuMemPoolDestroy(pool));
}

// ---- images that cannot be loaded --------------------------------------------------------------

static void images() {
  const std::string good = PTX;
  auto replaced = [&](const char* what, const char* by) {
    std::string text = good;
    return text.replace(text.find(what), strlen(what), by);
  };
  const std::string elf_header("\x7f" "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\xbe\0\1\0\0\0", 24);
  const std::pair<const char*, std::string> tried[] = {
      {"PTX", good},
      {"PTX with CR LF", replaced("\n", "\r\n")},
      {"PTX behind a comment", "// by hand\n" + good},
      {"PTX behind blanks", "  \n\t" + good},
      {"nothing", ""},
      {"blanks", " \n "},
      {"a word", "hello"},
      {"a comment", "// nothing\n"},
      {"an unknown instruction", replaced("ret;", "frobnicate;")},
      {"an undeclared register", replaced("ret;", "mov.u64 %zz,1; ret;")},
      {"an unknown type", replaced(".param .u64 stop", ".param .u65 stop")},
      {"an unknown directive", replaced(".visible", ".visibly")},
      {"cut off within a kernel", good.substr(0, good.size() - 12)},
      {"cut off behind the header", good.substr(0, good.find(".visible"))},
      {"two kernels of one name", good + good.substr(good.find(".visible"))},
      {"text behind the last kernel", good + "hello\n"},
      {"no version", replaced(".version 7.0\n", "")},
      {"no target", replaced(".target sm_52\n", "")},
      {"no address size", replaced(".address_size 64\n", "")},
      {"address size 32", replaced("size 64", "size 32")},
      {"version 0.9", replaced("7.0", "0.9")},
      {"version 1.0", replaced("7.0", "1.0")},
      {"version 9.0", replaced("7.0", "9.0")},
      {"version 9.9", replaced("7.0", "9.9")},
      {"version 99.0", replaced("7.0", "99.0")},
      {"target sm_10", replaced("sm_52", "sm_10")},
      {"target sm_20", replaced("sm_52", "sm_20")},
      {"target sm_30", replaced("sm_52", "sm_30")},
      {"target sm_90a", replaced("sm_52", "sm_90a")},
      {"target sm_90 of version 7.8",
       ".version 7.8\n.target sm_90\n" + good.substr(good.find(".address_size"))},
      {"target sm_100", replaced("sm_52", "sm_100")},
      {"target sm_999", replaced("sm_52", "sm_999")},
      {"a header of ELF alone", elf_header + std::string(200, '\0')},
      {"LLVM's bitcode", std::string("BC\xc0\xde", 4) + std::string(200, '\0')},
      {"a header of a fatbin alone",
       std::string("\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0", 16) + std::string(64, '\0')},
  };
  for (const auto& [name, image] : tried) {
    CUmodule module = (CUmodule)7;
    CUlibrary library = (CUlibrary)7;
    CUresult of_module = cuModuleLoadData(&module, image.c_str());
    say(std::string("module of ") + name, of_module);
    say(std::string("module afterwards, ") + name, module == (CUmodule)7 ? "as before" : "set");
    say(std::string("module with options of ") + name,
        cuModuleLoadDataEx(&module, image.c_str(), 0, nullptr, nullptr));
    say(std::string("library of ") + name,
        cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  say("null to cuModuleLoadData", cuModuleLoadData(nullptr, PTX));
  CUmodule module;
  say("null image to cuModuleLoadData", cuModuleLoadData(&module, nullptr));
  With without(nullptr);
  say("a word, no context", cuModuleLoadData(&module, "hello"));
  CUlibrary library;
  say("a word, library, no context",
      cuLibraryLoadData(&library, "hello", nullptr, nullptr, 0, nullptr, nullptr, 0));
}

// ---- arguments that are refused ----------------------------------------------------------------

static void arguments_of_contexts() {
  CUdevice device = 0;
  u32 flags = 77;
  int active = 77;
  for (u32 tried : {3, 5, 6, 7, 8, 16, 24}) {
    CUcontext context = nullptr;
    const std::string name = std::to_string(tried);
    say("cuDevicePrimaryCtxSetFlags " + name, cuDevicePrimaryCtxSetFlags(device, tried));
    say("cuCtxCreate, flags " + name, cuCtxCreate(&context, nullptr, tried, device));
    if (context) NEED(cuCtxDestroy(context));
  }
  NEED(cuDevicePrimaryCtxSetFlags(device, 0));
  say("cuDevicePrimaryCtxGetState without flags",
      cuDevicePrimaryCtxGetState(-1, nullptr, &active));
  say("cuDevicePrimaryCtxGetState without active", cuDevicePrimaryCtxGetState(-1, &flags, nullptr));
  say("cuDevicePrimaryCtxRetain without a place, no such device",
      cuDevicePrimaryCtxRetain(nullptr, 7));
  say("cuCtxDestroy of null", cuCtxDestroy(nullptr));
  CUctxCreateParams none = {};
  CUcontext context = nullptr;
  say("cuCtxCreate, zeroed parameters", cuCtxCreate(&context, &none, 0, device));
  if (context) NEED(cuCtxDestroy(context));
  say("cuCtxCreate without a place, no such device", cuCtxCreate(nullptr, nullptr, 0, 5));
  say("cuDeviceGetAttribute without a place, no such device",
      cuDeviceGetAttribute(nullptr, (CUdevice_attribute)7, 3000));
  const std::pair<int, size_t> limits[] = {
      {0, 1000}, {0, 1 << 19}, {0, (1 << 19) + 16}, {1, 1}, {2, 1},
      {4, 1 << 24}, {5, 128}, {5, 129}};
  With with(A);
  for (const auto& [limit, value] : limits) {
    const std::string name = std::to_string(limit) + ", " + std::to_string(value);
    size_t kept = 77, before = 0;
    NEED(cuCtxGetLimit(&before, (CUlimit)limit));
    say("cuCtxSetLimit " + name, cuCtxSetLimit((CUlimit)limit, value));
    NEED(cuCtxGetLimit(&kept, (CUlimit)limit));
    say("cuCtxGetLimit after " + name, std::to_string(kept));
    NEED(cuCtxSetLimit((CUlimit)limit, before));
  }
}

static void arguments_of_memory() {
  With with(A);
  const CUdeviceptr managed = managed_memory(4096);
  for (int kind : {0, 1, 2, 3, 4, 9}) {
    CUmemLocation at = {};
    at.type = (CUmemLocationType)kind;
    const std::string name = ", location " + std::to_string(kind);
    for (int advice = 1; advice <= 6; ++advice) {
      say("cuMemAdvise " + std::to_string(advice) + name,
          cuMemAdvise(managed, 4096, (CUmem_advise)advice, at));
    }
    say("cuMemPrefetchAsync" + name, cuMemPrefetchAsync(managed, 4096, at, 0, nullptr));
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = at;
    CUmemoryPool pool = nullptr;
    say("cuMemPoolCreate" + name, cuMemPoolCreate(&pool, &properties));
    if (pool) NEED(cuMemPoolDestroy(pool));
  }
  CUmemLocation here = {};
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  for (size_t length : {0, 4096, 4097}) {
    const std::string name = std::to_string(length) + " bytes of 4096";
    say("cuMemAdvise, " + name,
        cuMemAdvise(managed, length, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    say("cuMemPrefetchAsync, " + name, cuMemPrefetchAsync(managed, length, here, 0, nullptr));
  }
  say("cuMemPrefetchAsync, flags 1", cuMemPrefetchAsync(managed, 4096, here, 1, nullptr));
  for (int handles : {1, 2, 3, 4, 8, 64}) {
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = (CUmemAllocationHandleType)handles;
    properties.location = here;
    CUmemoryPool pool = nullptr;
    say("cuMemPoolCreate, handles " + std::to_string(handles), cuMemPoolCreate(&pool, &properties));
    if (pool) NEED(cuMemPoolDestroy(pool));
  }
  static char host[8192];
  say("cuMemHostRegister, IOMEMORY", cuMemHostRegister(host, 8192, CU_MEMHOSTREGISTER_IOMEMORY));
  CUdeviceptr device = device_memory(4096);
  CUDA_POINTER_ATTRIBUTE_P2P_TOKENS tokens;
  u32 synchronous = 77;
  say("P2P tokens of device memory",
      cuPointerGetAttribute(&tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, device));
  NEED(cuPointerGetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
  say("SYNC_MEMOPS after P2P tokens", std::to_string(synchronous));
  CUdeviceptr at;
  size_t pitch;
  say("cuMemAllocPitch of too much", cuMemAllocPitch(&at, &pitch, (size_t)1 << 60, 100, 4));
  for (u32 flags : {1, 2, 5}) {
    const std::string name = "flags " + std::to_string(flags);
    say("cuEventRecordWithFlags of null, " + name, cuEventRecordWithFlags(nullptr, nullptr, flags));
    say("cuStreamWaitEvent of null, " + name, cuStreamWaitEvent(nullptr, nullptr, flags));
  }
}

static void arguments_of_modules() {
  With with(A);
  const std::string text = std::string(PTX) + ".visible .global .align 4 .u32 gv[3];\n";
  CUmodule module;
  NEED(cuModuleLoadData(&module, text.c_str()));
  CUfunction function;
  say("cuModuleGetFunction of no name", cuModuleGetFunction(&function, module, ""));
  for (const char* name : {"", "spin", "gv", "nothere"}) {
    CUdeviceptr at = 77;
    size_t bytes = 77;
    CUresult answer = cuModuleGetGlobal(&at, &bytes, module, name);
    say(std::string("cuModuleGetGlobal of ") + name,
        std::to_string((int)answer) + (at ? " somewhere " : " null ") + std::to_string(bytes));
    if (!answer) say("cuMemFree of a variable", cuMemFree(at));
  }
  NEED(cuModuleGetFunction(&function, module, "spin"));
  size_t offset, size;
  say("cuFuncGetParamInfo of null", cuFuncGetParamInfo(nullptr, 0, &offset, &size));
  int grid, block;
  say("cuOccupancyMaxPotentialBlockSize of null, limit -1",
      cuOccupancyMaxPotentialBlockSize(&grid, &block, nullptr, nullptr, 0, -1));
  NEED(cuModuleGetFunction(&function, module, "nothing"));
  CUdeviceptr none = 0;
  void* values[] = {&none};
  say("launch, 65 threads along z",
      cuLaunchKernel(function, 1, 1, 1, 1, 1, 65, 0, nullptr, values, nullptr));
  say("launch, 65536 blocks along y",
      cuLaunchKernel(function, 1, 65536, 1, 1, 1, 1, 0, nullptr, values, nullptr));
}

static void arguments_of_attributes() {
  for (int handles : {0, 1, 8}) {
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = (CUmemAllocationHandleType)handles;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool pool = nullptr;
    if (cuMemPoolCreate(&pool, &properties) != CUDA_SUCCESS) continue;
    CUdeviceptr at;
    NEED(cuMemAllocFromPoolAsync(&at, 256, pool, nullptr));
    u64 types = 77;
    NEED(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at));
    say("ALLOWED_HANDLE_TYPES of a pool with handles " + std::to_string(handles),
        std::to_string(types));
  }
  CUevent pending, other;
  float milliseconds;
  prepare_spinning();
  NEED(cuEventCreate(&pending, 0));
  NEED(cuEventCreate(&other, 0));
  spin(nullptr, 50);
  NEED(cuEventRecord(pending, nullptr));
  say("cuEventElapsedTime, pending and never recorded",
      cuEventElapsedTime(&milliseconds, pending, other));
  *stop_flag = 1;
  NEED(cuCtxSynchronize());
  const CUdeviceptr at = device_memory(256);
  u32 on = 1;
  With with(P);
  NEED(cuDevicePrimaryCtxReset(device));
  say("cuPointerSetAttribute, the current context was reset",
      cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
  u64 address = 77;
  say("DEVICE_POINTER, the current context was reset",
      cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at));
}

// ---- what calls leave to defaults, and limits of what they take --------------------------------

/// A copy of two rows from the host to the device, without pitches and heights.
static CUDA_MEMCPY3D two_rows(const void* from, CUdeviceptr to, size_t width, size_t depth) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.WidthInBytes = width;
  copy.Height = 2;
  copy.Depth = depth;
  return copy;
}

/// The same with one slice.
static CUDA_MEMCPY2D flat(const CUDA_MEMCPY3D& deep) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = deep.srcMemoryType;
  copy.srcHost = deep.srcHost;
  copy.srcPitch = deep.srcPitch;
  copy.srcXInBytes = deep.srcXInBytes;
  copy.srcY = deep.srcY;
  copy.dstMemoryType = deep.dstMemoryType;
  copy.dstDevice = deep.dstDevice;
  copy.dstPitch = deep.dstPitch;
  copy.dstXInBytes = deep.dstXInBytes;
  copy.dstY = deep.dstY;
  copy.WidthInBytes = deep.WidthInBytes;
  copy.Height = deep.Height;
  return copy;
}

/// Where the bytes of a copy in rows come from and go to if a pitch or a height is left out.
static void rows_without_a_pitch() {
  unsigned char bytes[512], seen[512];
  for (size_t byte = 0; byte < sizeof bytes; byte++) bytes[byte] = byte % 251;
  CUdeviceptr at = device_memory(sizeof bytes);
  auto copied = [&](const std::string& what, bool is_3d, const CUDA_MEMCPY3D& copy) {
    NEED(cuMemsetD8(at, 255, sizeof bytes));
    CUDA_MEMCPY2D rows = flat(copy);
    CUresult result = is_3d ? cuMemcpy3D(&copy) : cuMemcpy2D(&rows);
    NEED(cuMemcpyDtoH(seen, at, sizeof seen));
    std::string places;
    for (size_t byte = 0; byte < sizeof seen; byte++)
      if (seen[byte] != 255)
        places += " " + std::to_string(byte) + "=" + std::to_string(seen[byte]);
    say(what + ": bytes", std::to_string(result) + places);
  };
  for (bool is_3d : {false, true})
    for (bool source : {false, true})
      for (size_t x : {0, 3})
        for (size_t y : {0, 1}) {
          CUDA_MEMCPY3D copy = two_rows(bytes, at, 4, is_3d ? 2 : 1);
          (source ? copy.dstPitch : copy.srcPitch) = 16;
          (source ? copy.srcXInBytes : copy.dstXInBytes) = x;
          (source ? copy.srcY : copy.dstY) = y;
          copy.srcHeight = copy.dstHeight = is_3d ? 4 : 0;
          copied(std::string(is_3d ? "3D" : "2D") + ", no pitch of the " +
                     (source ? "source" : "target") + ", x " + std::to_string(x) + ", y " +
                     std::to_string(y),
                 is_3d, copy);
        }
  for (size_t height : {0, 1, 2, 3, 4})
    for (size_t y : {0, 1})
      for (size_t depth : {1, 2}) {
        CUDA_MEMCPY3D copy = two_rows(bytes, at, 2, depth);
        copy.srcPitch = copy.dstPitch = copy.dstHeight = 8;
        copy.srcHeight = height;
        copy.srcY = y;
        copied("3D, height " + std::to_string(height) + ", y " + std::to_string(y) + ", depth " +
                   std::to_string(depth),
               true, copy);
      }
  CUDA_MEMCPY2D array = {};
  array.srcMemoryType = CU_MEMORYTYPE_HOST;
  array.srcHost = bytes;
  array.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  array.WidthInBytes = 4;
  array.Height = 1;
  say("2D to no array", cuMemcpy2D(&array));
}

static void mapping_sizes() {
  const size_t sizes[] = {1, 100, 4096, (1 << 20) + 4, 2 << 20, (2 << 20) + 1, 33 << 20};
  for (size_t size : sizes) {
    struct {
      const char* name;
      CUdeviceptr at;
    } kinds[] = {{"device", device_memory(size)},
                 {"managed", managed_memory(size)},
                 {"pool", pool_memory(size)},
                 {"pinned", pinned_memory(size)},
                 {"registered", registered_memory(size)}};
    for (auto& [name, at] : kinds) {
      size_t mapped = 0;
      CUresult result = cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, at);
      say(std::string(name) + ", " + std::to_string(size) + " bytes",
          std::to_string(result) + " " + std::to_string(mapped));
    }
  }
  CUdeviceptr pages = pageable_memory(3 * PAGE);
  for (auto [start, size] : {std::pair{100, 200}, {100, 4096}, {4000, 200}}) {
    size_t mapped = 0;
    NEED(cuMemHostRegister((void*)(pages + start), size, 0));
    NEED(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, pages + start));
    say("registered, " + std::to_string(size) + " bytes from byte " + std::to_string(start),
        std::to_string(mapped));
    NEED(cuMemHostUnregister((void*)(pages + start)));
  }
}

static void look_ups_of_functions() {
  for (const char* name : {"cuMemAlloc", "cuMemcpyDtoH", "cuStreamSynchronize", "cuMemsetD8",
                           "cuStreamQuery", "cuCtxGetDevice", "cuNone"})
    for (int version : {-1, 2000, 3020, 5050, 6050, 7000, 12000})
      for (int flags : {0, 1, 2, 3}) {
        void *found = &found, *legacy = nullptr;
        CUdriverProcAddressQueryResult symbol = (CUdriverProcAddressQueryResult)77, ignored;
        CUresult result = cuGetProcAddress(name, &found, version, flags, &symbol);
        cuGetProcAddress(name, &legacy, version, 0, &ignored);
        say(std::string(name) + ", version " + std::to_string(version) + ", flags " +
                std::to_string(flags),
            std::to_string(result) + " " + std::to_string((int)symbol) +
                (found == &found ? " untouched" : !found ? " null" : found == legacy ? " legacy"
                                                                                    : " other"));
      }
  void* found = nullptr;
  CUdriverProcAddressQueryResult ignored;
  NEED(cuGetProcAddress("cuGetProcAddress", &found, 11030, 0, &ignored));
  auto first = (CUresult(*)(const char*, void**, int, cuuint64_t))found;
  for (const char* name : {"cuNone", "cuStreamGetId"}) {
    void* it = &it;
    CUresult result = first(name, &it, 11030, 0);
    say(std::string("the first form: ") + name,
        std::to_string(result) + (it == &it ? " untouched" : !it ? " null" : " set"));
  }
}

static void shown_flags_and_limits() {
  for (u32 flags : {0, 1, 2, 4, 8, 16, 32, 64, 96, 72, 128}) {
    CUcontext made;
    u32 shown = 0;
    CUresult result = cuCtxCreate(&made, nullptr, flags, device);
    if (result == CUDA_SUCCESS) {
      NEED(cuCtxGetFlags(&shown));
      NEED(cuCtxDestroy(made));
    }
    say("context with flags " + std::to_string(flags),
        std::to_string(result) + " " + std::to_string(shown));
  }
  for (size_t bytes :
       {0, 1, 16, 2048, 3840 << 10, (3840 << 10) + 1, 10 << 20, 30 << 20, 64 << 20}) {
    size_t kept = 0;
    CUresult result = cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes);
    NEED(cuCtxGetLimit(&kept, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
    say("persisting L2 cache of " + std::to_string(bytes) + " bytes",
        std::to_string(result) + " " + std::to_string(kept));
  }
}

static void pools_with_a_most() {
  for (size_t most : {0, 1, 33 << 20, 64 << 20})
    for (size_t size : {1, 32 << 20, (32 << 20) + 1, 64 << 20, (64 << 20) + 1}) {
      CUmemPoolProps props = {};
      props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
      props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
      props.maxSize = most;
      CUmemoryPool pool;
      CUdeviceptr first, second;
      NEED(cuMemPoolCreate(&pool, &props));
      CUresult result = cuMemAllocFromPoolAsync(&first, size, pool, nullptr);
      CUresult again = cuMemAllocFromPoolAsync(&second, size, pool, nullptr);
      say("pool of " + std::to_string(most) + " bytes: two of " + std::to_string(size),
          std::to_string(result) + " " + std::to_string(again));
      if (!result) NEED(cuMemFreeAsync(first, nullptr));
      if (!again) NEED(cuMemFreeAsync(second, nullptr));
      NEED(cuMemPoolDestroy(pool));
    }
}

static void library_images() {
  const char* images[][2] = {{"text", "no ptx at all"},
                             {"nothing", ""},
                             {"PTX that breaks off", ".version 7.0\n.target sm_70\n.entry x( {\n"},
                             {"PTX 99.0", ".version 99.0\n.target sm_70\n.address_size 64\n"},
                             {"PTX", PTX}};
  for (auto& [what, image] : images) {
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    CUresult result = cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    say(std::string("library of ") + what, result);
    if (result) continue;
    say(std::string("its kernel: ") + what, cuLibraryGetKernel(&kernel, library, "nothing"));
    say(std::string("its kernel, no such: ") + what, cuLibraryGetKernel(&kernel, library, "none"));
    say(std::string("its module: ") + what, cuLibraryGetModule(&module, library));
    say(std::string("its end: ") + what, cuLibraryUnload(library));
  }
}

static void register_memory_that_may_not_be_written() {
  auto pages = (char*)pageable_memory(3 * PAGE);
  mprotect(pages + PAGE, PAGE, PROT_READ);
  for (u32 flags : {0, 1, 2, 4, 8, 9, 10, 12})
    for (auto [first, count] : {std::pair{1, 1}, {0, 2}, {1, 2}, {0, 3}}) {
      CUresult result = cuMemHostRegister(pages + first * PAGE, count * PAGE, flags);
      say("pages " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
              " of which 1 may be read alone, flags " + std::to_string(flags),
          result);
      if (!result) NEED(cuMemHostUnregister(pages + first * PAGE));
    }
}

static void nodes_of_the_host() {
  CUdeviceptr at = managed_memory(PAGE);
  for (int node : {-1, 0, 1, 99})
    for (auto kind : {CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA,
                      CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}) {
      if (node == 1) continue;  // There may be a second one or not.
      CUmemLocation place = {kind, node};
      std::string where = ", kind " + std::to_string(kind) + ", id " + std::to_string(node);
      for (int advice : {1, 2, 3, 4})
        say("advice " + std::to_string(advice) + where,
            cuMemAdvise(at, PAGE, (CUmem_advise)advice, place));
      say("prefetch" + where, cuMemPrefetchAsync(at, PAGE, place, 0, nullptr));
    }
}

/// A kernel whose directives and variables are these, in PTX for a target.
static std::string kernel_with(const std::string& target, const std::string& variables,
                               const std::string& parameters, const std::string& directives,
                               const std::string& body) {
  return ".version 7.8\n.target " + target + "\n.address_size 64\n" + variables +
         "\n.visible .entry asked(" + parameters + ")" + directives + "{ " + body + " ret; }\n" +
         ".visible .entry beside(){ ret; }\n";
}

/// What kernels report of their PTX: the target, the limits of threads, constants, shared memory.
static void attributes_of_kernels() {
  const std::string uses_constant =
      ".reg .u32 %r; .reg .u64 %p; .reg .pred %q; ld.param.u64 %p,[a]; "
      "setp.ne.u64 %q,%p,0; ld.const.u32 %r,[four]; @%q st.global.u32 [%p],%r;";
  const std::string uses_shared = ".reg .u32 %r; mov.u32 %r,1; st.volatile.shared.u32 [tile],%r;";
  const std::string own_shared =
      ".shared .align 4 .b8 own[96]; .reg .u32 %r; mov.u32 %r,1; st.volatile.shared.u32 [own],%r;";
  struct {
    const char* what;
    std::string image;
  } kernels[] = {
      {"sm_50", kernel_with("sm_50", "", "", "", "")},
      {"sm_70", kernel_with("sm_70", "", "", "", "")},
      {"sm_90", kernel_with("sm_90", "", "", "", "")},
      {"a constant that it uses",
       kernel_with("sm_70", ".const .u32 four = 4;", ".param .u64 a", "", uses_constant)},
      {"a constant that it does not use",
       kernel_with("sm_70", ".const .u32 four = 4;", "", "", "")},
      {"two constants",
       kernel_with("sm_70", ".const .b8 one = 1; .const .align 8 .b8 more[12];", "", "", "")},
      {"shared memory of the module",
       kernel_with("sm_70", ".shared .align 4 .b8 tile[100];", "", "", uses_shared)},
      {"shared memory of the module that it does not use",
       kernel_with("sm_70", ".shared .align 4 .b8 tile[100];", "", "", "")},
      {"shared memory of its own", kernel_with("sm_70", "", "", "", own_shared)},
      {".maxntid 64", kernel_with("sm_70", "", "", ".maxntid 64", "")},
      {".maxntid 8, 4, 2", kernel_with("sm_70", "", "", ".maxntid 8,4,2", "")},
      {".maxntid 100", kernel_with("sm_70", "", "", ".maxntid 100", "")},
      {".reqntid 48", kernel_with("sm_70", "", "", ".reqntid 48", "")},
      {".reqntid 16, 4", kernel_with("sm_70", "", "", ".reqntid 16,4", "")},
      {".maxntid 256 .minnctapersm 4",
       kernel_with("sm_70", "", "", ".maxntid 256 .minnctapersm 4", "")},
      {".maxnreg 64", kernel_with("sm_70", "", "", ".maxnreg 64", "")},
  };
  for (auto& [what, image] : kernels) {
    CUmodule module;
    CUresult loaded = cuModuleLoadData(&module, image.c_str());
    if (loaded) {
      say(what, loaded);
      continue;
    }
    for (const char* name : {"asked", "beside"}) {
      CUfunction function;
      NEED(cuModuleGetFunction(&function, module, name));
      std::string situation = std::string(what) + ", " + name;
      for (int attribute = 0; attribute < 17; attribute++) {
        // The registers are the compiler's choice.
        if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS) continue;
        int value = -7;
        CUresult result = cuFuncGetAttribute(&value, (CUfunction_attribute)attribute, function);
        say(situation + ": attribute " + std::to_string(attribute),
            std::to_string(result) + " " + std::to_string(value));
      }
      for (int threads : {1, 32, 48, 64, 65, 128, 1024}) {
        int blocks = -7;
        CUresult result =
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, 0);
        say(situation + ": occupancy of " + std::to_string(threads),
            std::to_string(result) + " " + std::to_string(blocks));
        say(situation + ": launch of " + std::to_string(threads),
            launch(function, nullptr, 1, threads));
      }
      say(situation + ": launch of 1 afterwards", launch(function, nullptr, 1, 1));
      say(situation + ": launch of 2 afterwards", launch(function, nullptr, 1, 2));
      say(situation + ": launch of 2 blocks afterwards", launch(function, nullptr, 2, 1));
      for (int most : {0, 48, 100, 1000, 2000}) {
        int grid = -7, block = -7;
        CUresult result =
            cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, most);
        say(situation + ": block of at most " + std::to_string(most),
            std::to_string(result) + " " + std::to_string(grid) + " " + std::to_string(block));
      }
      for (int shared : {0, 49151, 49152, 49153, 232448, 232449})
        say(situation + ": shared memory of " + std::to_string(shared),
            cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    }
    NEED(cuCtxSynchronize());
    NEED(cuModuleUnload(module));
  }
}

/// Launches whose blocks must all run at once, at the edges of what fits.
static void cooperative_launches() {
  CUmodule module = load();
  CUfunction function = look_up(module);
  int multiprocessors;
  NEED(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  u64 zero = 0;
  void* arguments[] = {&zero};
  for (u32 block : {0u, 1u, 32u, 64u, 1024u, 1025u})
    for (u32 shared : {0u, 49152u, 49153u, 300000u}) {
      int fit = 1;
      if (block && block <= 1024)
        NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, block, shared));
      if (!fit) fit = 1;
      u32 most = multiprocessors * fit;
      for (u32 grid : {0u, 1u, most, most + 1, 65536u}) {
        std::string situation = (grid == most ? "as many blocks as fit"
                                 : grid == most + 1
                                     ? "one block more than fit"
                                     : std::to_string(grid) + " blocks") +
                                " of " + std::to_string(block) + " threads, " +
                                std::to_string(shared) + " bytes";
        for (int form = 0; form < 3; form++) {
          CUresult result;
          if (form == 0) {
            result = cuLaunchCooperativeKernel(function, grid, 1, 1, block, 1, 1, shared, nullptr,
                                               arguments);
          } else {
            CUlaunchAttribute cooperative = {};
            cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            cooperative.value.cooperative = form == 1;
            CUlaunchConfig config = {};
            config.gridDimX = grid, config.gridDimY = config.gridDimZ = 1;
            config.blockDimX = block, config.blockDimY = config.blockDimZ = 1;
            config.sharedMemBytes = shared;
            config.attrs = &cooperative;
            config.numAttrs = 1;
            result = cuLaunchKernelEx(&config, function, arguments, nullptr);
          }
          const char* forms[] = {"cuLaunchCooperativeKernel: ", "attribute: ", "attribute of 0: "};
          say(forms[form] + situation, result);
        }
      }
    }
  u32 beyond[][6] = {{1, 65536, 1, 1, 1, 1}, {1, 1, 65536, 1, 1, 1}, {1, 1, 1, 1, 1, 65},
                     {1, 1, 1, 512, 4, 1},   {300, 300, 1, 1, 1, 1}, {1, 1, 1, 1, 2048, 1}};
  for (auto [a, b, c, x, y, z] : beyond) {
    std::string situation = "grid " + std::to_string(a) + " " + std::to_string(b) + " " +
                            std::to_string(c) + ", block " + std::to_string(x) + " " +
                            std::to_string(y) + " " + std::to_string(z);
    say("cuLaunchCooperativeKernel: " + situation,
        cuLaunchCooperativeKernel(function, a, b, c, x, y, z, 0, nullptr, arguments));
    say("cuLaunchKernel: " + situation,
        cuLaunchKernel(function, a, b, c, x, y, z, 0, nullptr, arguments, nullptr));
  }
  say("cuLaunchCooperativeKernel: no arguments",
      cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr));
  NEED(cuCtxSynchronize());
}

/// Arguments of a launch as one buffer, of a size that fits the kernel's parameters or not.
static void parameter_buffers() {
  struct {
    const char* what;
    const char* parameters;
  } kernels[] = {{"none", ""},
                 {"u8", ".param .u8 a"},
                 {"u64", ".param .u64 a"},
                 {"u64 u32", ".param .u64 a, .param .u32 b"},
                 {"u32 u64", ".param .u32 a, .param .u64 b"},
                 {"b8[40]", ".param .align 8 .b8 a[40]"}};
  std::vector<char> bytes(8192);
  for (auto& [what, parameters] : kernels) {
    std::string image = kernel_with("sm_70", "", parameters, "", "");
    CUmodule module;
    CUfunction function;
    NEED(cuModuleLoadData(&module, image.c_str()));
    NEED(cuModuleGetFunction(&function, module, "asked"));
    for (size_t size : {0, 1, 4, 7, 8, 9, 11, 12, 13, 15, 16, 17, 24, 39, 40, 41, 48, 4096, 8192}) {
      size_t kept = size;
      void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(),
                       CU_LAUNCH_PARAM_BUFFER_SIZE, &kept, CU_LAUNCH_PARAM_END};
      std::string situation = std::string(what) + ": buffer of " + std::to_string(size) + " bytes";
      say(situation,
          cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
      void* turned[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &kept, CU_LAUNCH_PARAM_BUFFER_POINTER,
                        bytes.data(), CU_LAUNCH_PARAM_END};
      if (size == 8 || size == 16)
        say(situation + ", size first",
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, turned));
    }
    u64 value[8] = {};
    void* arguments[] = {value, value};
    size_t eight = 8;
    void* end[] = {CU_LAUNCH_PARAM_END};
    void* null_buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, nullptr, CU_LAUNCH_PARAM_BUFFER_SIZE,
                           &eight, CU_LAUNCH_PARAM_END};
    void* no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(), CU_LAUNCH_PARAM_END};
    void* buffer[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(), CU_LAUNCH_PARAM_BUFFER_SIZE,
                      &eight, CU_LAUNCH_PARAM_END};
    void* unknown[] = {(void*)7, bytes.data(), CU_LAUNCH_PARAM_END};
    struct {
      const char* what;
      void **arguments, **extra;
    } others[] = {{"nothing", nullptr, nullptr},
                  {"an empty buffer list", nullptr, end},
                  {"a null buffer", nullptr, null_buffer},
                  {"a buffer without a size", nullptr, no_size},
                  {"an unknown entry", nullptr, unknown},
                  {"arguments and an unknown entry", arguments, unknown},
                  {"arguments and a buffer", arguments, buffer},
                  {"arguments and an empty list", arguments, end},
                  {"arguments", arguments, nullptr}};
    for (auto& other : others)
      say(std::string(what) + ": " + other.what,
          cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, other.arguments, other.extra));
    NEED(cuCtxSynchronize());
    NEED(cuModuleUnload(module));
  }
}

static void attach_to_streams() {
  CUdeviceptr at = managed_memory(4 * PAGE);
  CUstream blocking, own = new_stream(A);
  NEED(cuStreamCreate(&blocking, 0));
  struct {
    const char* what;
    CUstream stream;
  } streams[] = {{"0", nullptr},
                 {"legacy", CU_STREAM_LEGACY},
                 {"per-thread", CU_STREAM_PER_THREAD},
                 {"blocking", blocking},
                 {"non-blocking", own}};
  void* found;
  CUdriverProcAddressQueryResult ignored;
  NEED(cuGetProcAddress("cuStreamAttachMemAsync", &found, 13000,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &ignored));
  auto of_thread = (CUresult(*)(CUstream, CUdeviceptr, size_t, u32))found;
  for (auto& [what, stream] : streams)
    for (u32 flags : {1, 2, 3, 4, 5, 8})
      for (size_t size : {(size_t)0, (size_t)1, (size_t)PAGE, (size_t)(4 * PAGE)})
        for (bool offset : {false, true}) {
          std::string situation = std::string(what) + ", flags " + std::to_string(flags) + ", " +
                                  std::to_string(size) + " bytes" + (offset ? " at a page" : "");
          say("legacy form: " + situation,
              cuStreamAttachMemAsync(stream, at + offset * PAGE, size, flags));
          say("per-thread form: " + situation, of_thread(stream, at + offset * PAGE, size, flags));
        }
  NEED(cuCtxSynchronize());
}

/// Two entries for one call, and one that is twice the same device.
static void lists_of_access() {
  CUmemPoolProps props = {};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemoryPool own, usual;
  NEED(cuMemPoolCreate(&own, &props));
  NEED(cuDeviceGetDefaultMemPool(&usual, device));
  struct {
    const char* what;
    CUmemoryPool pool;
  } pools[] = {{"made pool", own}, {"default pool", usual}};
  CUmemLocation places[] = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            {CU_MEM_LOCATION_TYPE_DEVICE, 99},
                            {CU_MEM_LOCATION_TYPE_HOST, 0},
                            {CU_MEM_LOCATION_TYPE_INVALID, 0}};
  for (auto& [what, pool] : pools)
    for (auto& first : places)
      for (int first_flags : {0, 1, 2, 3, 4}) {
        CUmemAccessDesc list[2] = {{first, (CUmemAccess_flags)first_flags}, {}};
        std::string situation = std::string(what) + ": kind " + std::to_string(first.type) +
                                ", id " + std::to_string(first.id) + ", flags " +
                                std::to_string(first_flags);
        say(situation, cuMemPoolSetAccess(pool, list, 1));
        for (auto& second : places)
          for (int second_flags : {0, 1, 2, 3, 4}) {
            list[1] = {second, (CUmemAccess_flags)second_flags};
            say(situation + "; kind " + std::to_string(second.type) + ", id " +
                    std::to_string(second.id) + ", flags " + std::to_string(second_flags),
                cuMemPoolSetAccess(pool, list, 2));
          }
      }
  CUmemAccessDesc one = {places[0], CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  say("no entries", cuMemPoolSetAccess(own, &one, 0));
  say("no entries, null", cuMemPoolSetAccess(own, nullptr, 0));
  say("null", cuMemPoolSetAccess(own, nullptr, 1));
}

static void names_of_errors() {
  for (int code = -1; code < 1001; code++) {
    const char *name = "untouched", *text = "untouched";
    CUresult named = cuGetErrorName((CUresult)code, &name);
    CUresult described = cuGetErrorString((CUresult)code, &text);
    if (!named || !described)
      say("code " + std::to_string(code), std::to_string(named) + " " + std::to_string(described) +
                                              " " + (name ? name : "null"));
  }
}

/// Which refusal comes first: of the flags, of the bounds, of what is registered already.
static void register_what_is_refused_twice() {
  CUdeviceptr pages = pageable_memory(8 * PAGE);
  for (bool taken : {false, true}) {
    if (taken) NEED(cuMemHostRegister((void*)(pages + 2 * PAGE), 2 * PAGE, 0));
    for (u32 flags : {0, 1, 2, 4, 5, 8, 12, 16, 20, 32})
      for (auto [offset, size] :
           {std::pair<u64, u64>{0, PAGE}, {100, PAGE}, {0, 100}, {100, 100}, {2 * PAGE, PAGE},
            {2 * PAGE + 100, PAGE}, {2 * PAGE, 100}, {PAGE, 4 * PAGE}, {PAGE + 100, 4 * PAGE},
            {0, 0}, {2 * PAGE, 0}, {PAGE, 2 * PAGE}, {3 * PAGE, 2 * PAGE}}) {
        CUresult result = register_at(pages + offset, size, flags);
        say(std::string(taken ? "beside another" : "alone") + ": " + std::to_string(size) +
                " bytes at " + std::to_string(offset) + ", flags " + std::to_string(flags),
            result);
        if (!result) NEED(cuMemHostUnregister((void*)(pages + offset)));
      }
  }
}

/// The flags that a context shows after its end, and the primary one after they are set anew.
static void flags_of_ended_and_primary_contexts() {
  auto shown = [] {
    u32 flags = 77;
    CUresult result = cuCtxGetFlags(&flags);
    return std::to_string(result) + " " + std::to_string(flags);
  };
  auto state = [] {
    u32 flags = 77;
    int active = 77;
    NEED(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return std::to_string(flags) + " " + std::to_string(active);
  };
  for (u32 flags : {0, 1, 2, 4, 8, 16, 32, 64, 96, 72}) {
    std::string with = "flags " + std::to_string(flags);
    CUcontext made;
    NEED(cuCtxCreate(&made, nullptr, flags, device));
    std::atomic<int> turn{0};
    std::thread other([&] {
      NEED(cuCtxSetCurrent(made));
      turn = 1;
      while (turn != 2) usleep(100);
      say("ended, on another thread, " + with, shown());
    });
    while (turn != 1) usleep(100);
    NEED(cuCtxDestroy(made));
    say("ended, on the thread that ended it, " + with, shown());
    turn = 2;
    other.join();
    NEED(cuCtxSetCurrent(P));
    say("primary set while active, " + with, cuDevicePrimaryCtxSetFlags(device, flags));
    say("primary shown, " + with, shown());
    say("primary state, " + with, state());
    std::thread([&] {
      NEED(cuCtxSetCurrent(P));
      say("primary shown on a new thread, " + with, shown());
    }).join();
    NEED(cuDevicePrimaryCtxRelease(device));
    say("primary state once it is released, " + with, state());
    say("primary set while inactive, " + with, cuDevicePrimaryCtxSetFlags(device, flags));
    NEED(cuDevicePrimaryCtxRetain(&P, device));
    NEED(cuCtxSetCurrent(P));
    say("primary shown once it is active again, " + with, shown());
    say("primary state once it is active again, " + with, state());
    NEED(cuCtxSetCurrent(A));
  }
}

/// How many blocks fit by the share of shared memory that a kernel or a context prefers.
static void preferred_shares() {
  CUfunction function = look_up(load());
  auto occupancy = [&](const std::string& situation) {
    for (int threads : {1, 64, 1024})
      for (size_t shared : {0, 1024, 8192, 16384, 49152}) {
        int blocks = -7;
        CUresult result =
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared);
        say(situation + ": blocks of " + std::to_string(threads) + " threads, " +
                std::to_string(shared) + " bytes",
            std::to_string(result) + " " + std::to_string(blocks));
      }
  };
  for (int config : {0, 1, 2, 3}) {
    NEED(cuCtxSetCacheConfig((CUfunc_cache)config));
    occupancy("context prefers " + std::to_string(config));
  }
  NEED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
  for (int share : {0, 1, 2, 3, 4, 7, 8, 14, 15, 25, 28, 29, 43, 44, 50, 57, 58, 71, 72, 75, 85, 86,
                    99, 100, -1}) {
    NEED(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, share));
    occupancy("share of " + std::to_string(share) + " percent");
    NEED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    occupancy("share of " + std::to_string(share) + " percent, context prefers 2");
    NEED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
  }
}

/// Pools of all kinds and places: those that are made, and those that are there.
static void kinds_of_pools() {
  for (int kind : {0, 1, 2, 3})
    for (int type : {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8})
      for (int id : {-1, 0, 99}) {
        CUmemLocation place = {(CUmemLocationType)type, id};
        std::string where = "memory " + std::to_string(kind) + ", place " + std::to_string(type) +
                            " " + std::to_string(id);
        for (int handles : {0, 1, 8})
          for (size_t most : {(size_t)0, (size_t)(64 << 20)}) {
            CUmemPoolProps props = {};
            props.allocType = (CUmemAllocationType)kind;
            props.handleTypes = (CUmemAllocationHandleType)handles;
            props.location = place;
            props.maxSize = most;
            CUmemoryPool pool;
            CUresult result = cuMemPoolCreate(&pool, &props);
            say("made: " + where + ", handles " + std::to_string(handles) + ", at most " +
                    std::to_string(most),
                result);
            if (!result) NEED(cuMemPoolDestroy(pool));
          }
        CUmemoryPool usual = nullptr, current = nullptr;
        say("usual: " + where, cuMemGetDefaultMemPool(&usual, &place, (CUmemAllocationType)kind));
        say("current: " + where, cuMemGetMemPool(&current, &place, (CUmemAllocationType)kind));
      }
}

// ---- the scenes --------------------------------------------------------------------------------

struct Scene {
  const char* name;
  void (*run)();
};
static const Scene SCENES[] = {
    {"launch: module", launch_module},
    {"launch: looked up elsewhere", launch_looked_up_elsewhere},
    {"launch: kernel", launch_kernel},
    {"launch: function of a kernel", launch_function_of_kernel},
    {"launch: module of a library", launch_module_of_library},
    {"launch: module is unloaded", launch_unloaded_module},
    {"launch: library is unloaded", launch_unloaded_library},
    {"launch: context is destroyed", launch_destroyed_context},
    {"launch: no function", launch_null_function},
    {"unload elsewhere", unload_elsewhere},
    {"fill: device", fill_device},
    {"fill: pool", fill_pool},
    {"fill: managed", fill_managed},
    {"fill: page-locked", fill_pinned},
    {"fill: registered", fill_registered},
    {"fill: registered as read-only", fill_registered_read_only},
    {"fill: pageable", fill_pageable},
    {"fill: freed", fill_freed},
    {"fill: freed, small", fill_freed_small},
    {"fill: freed, page-locked", fill_freed_pinned},
    {"fill: beyond", fill_beyond},
    {"fill: another context", fill_of_another_context},
    {"fill: shared page", fill_shared_page},
    {"unregister", unregister},
    {"unregister: other memory", unregister_other_memory},
    {"unregister: freed memory", unregister_freed_memory},
    {"unregister: elsewhere", unregister_elsewhere},
    {"unregister: freed elsewhere", unregister_freed_elsewhere},
    {"register twice", register_twice},
    {"register around", register_around},
    {"register: other memory", register_other_memory},
    {"register: elsewhere", register_elsewhere},
    {"register: at random", register_at_random},
    {"images", images},
    {"arguments: contexts", arguments_of_contexts},
    {"arguments: memory", arguments_of_memory},
    {"arguments: modules", arguments_of_modules},
    {"arguments: attributes", arguments_of_attributes},
    {"cuCtxDestroy of a busy context", destroy_busy_context},
    {"cuMemAllocAsync behind a free", reuse_of_pool_memory},
    {"SYNC_MEMOPS of managed memory", sync_memops_of_managed},
    {"managed memory and SYNC_MEMOPS", managed_without_sync_memops},
    {"cuMemcpy of managed memory of B", copy_of_managed_memory_of_another_context},
    {"cuLaunchHostFunc alone", host_function_alone},
    {"cuLaunchHostFunc behind work", host_function_waits_for_work},
    {"bytes of a pool", [] { bytes_of_pool(false); }},
    {"bytes of a pool, busy stream", [] { bytes_of_pool(true); }},
    {"pool memory of a context", [] { pool_memory_of_ended_context(false, false, false, true); }},
    {"pool memory of a context, pending",
     [] { pool_memory_of_ended_context(false, false, false, false); }},
    {"pool memory of a context, own stream",
     [] { pool_memory_of_ended_context(false, false, true, true); }},
    {"pool memory of a context, own stream, pending",
     [] { pool_memory_of_ended_context(false, false, true, false); }},
    {"made pool's memory of a context",
     [] { pool_memory_of_ended_context(false, true, true, true); }},
    {"made pool's memory of a context, pending",
     [] { pool_memory_of_ended_context(false, true, true, false); }},
    {"pool memory of the primary context",
     [] { pool_memory_of_ended_context(true, false, false, true); }},
    {"pool memory of the primary context, own stream, pending",
     [] { pool_memory_of_ended_context(true, false, true, false); }},
    {"made pool's memory of the primary context",
     [] { pool_memory_of_ended_context(true, true, true, true); }},
    {"made pool's memory of the primary context, pending",
     [] { pool_memory_of_ended_context(true, true, true, false); }},
    {"attach: parts", attach_parts},
    {"rows without a pitch", rows_without_a_pitch},
    {"mapping sizes", mapping_sizes},
    {"look-ups of functions", look_ups_of_functions},
    {"shown flags and limits", shown_flags_and_limits},
    {"pools with a most", pools_with_a_most},
    {"images of libraries", library_images},
    {"register what may not be written", register_memory_that_may_not_be_written},
    {"nodes of the host", nodes_of_the_host},
    {"attributes of kernels", attributes_of_kernels},
    {"cooperative launches", cooperative_launches},
    {"parameter buffers", parameter_buffers},
    {"attach to streams", attach_to_streams},
    {"lists of access", lists_of_access},
    {"names of errors", names_of_errors},
    {"register what is refused twice", register_what_is_refused_twice},
    {"kinds of pools", kinds_of_pools},
    {"flags of ended and primary contexts", flags_of_ended_and_primary_contexts},
    {"preferred shares of shared memory", preferred_shares},
    {"two devices: access to pools", access_to_pools},
    {"two devices: their pool, no access", [] { use_of_their_pool(0); }},
    {"two devices: their pool, access taken away", [] { use_of_their_pool(0, true); }},
    {"two devices: their pool, read access", [] { use_of_their_pool(1); }},
    {"two devices: their pool, full access", [] { use_of_their_pool(3); }},
};

static void child(const Scene& scene) {
  alarm(60);
  scene_name = scene.name;
  NEED(cuInit(0));
  NEED(cuDeviceGet(&device, 0));
  bool takes_two = std::string(scene.name).compare(0, 12, "two devices:") == 0;
  if (takes_two && cuDeviceGet(&other_device, 1) != CUDA_SUCCESS) _exit(0);
  NEED(cuDevicePrimaryCtxRetain(&P, device));
  NEED(cuCtxCreate(&B, nullptr, 0, device));
  NEED(cuCtxCreate(&A, nullptr, 0, device));
  scene.run();
  _exit(0);
}

int main(int count, char** arguments) {
  std::string prefix = count > 1 ? arguments[1] : "";
  printf("# scene\tsituation\tanswer\n");
  for (const Scene& scene : SCENES) {
    if (std::string(scene.name).compare(0, prefix.size(), prefix) != 0) continue;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child(scene);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) printf("%s\tended by signal\t%d\n", scene.name, WTERMSIG(status));
  }
}
