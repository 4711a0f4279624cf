// Asks a CUDA driver which of a call's arguments it checks first: every function with each
// combination of good and bad arguments, in five states: before cuInit, without a context, with a
// destroyed context current, with the context of the objects, and with another context of the same
// device. Each state runs in a process of its own.
//
// Build: g++ -std=c++17 checks.cpp -lcuda -lpthread   (cuda.h comes in nvidia-cuda-runtime).
//   checks [PREFIX]    the functions whose name begins with PREFIX
//
// Columns, separated by tabs: state, call, answer. An answer is a CUresult, and for each place that
// the call may write to: kept, zero or set. checks_h200.tsv.gz is the output on an NVIDIA H200.
#include <cuda.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

using u64 = unsigned long long;

// Functions that cuda.h declares in another version or not at all.
#define OF_LIBRARY(name, symbol, ...) extern "C" CUresult name(__VA_ARGS__) __asm__(symbol)
OF_LIBRARY(cuMemAdvise_v1, "cuMemAdvise", CUdeviceptr, size_t, CUmem_advise, CUdevice);
OF_LIBRARY(cuMemPrefetchAsync_v1, "cuMemPrefetchAsync", CUdeviceptr, size_t, CUdevice, CUstream);
OF_LIBRARY(cuCtxCreate_v2, "cuCtxCreate_v2", CUcontext*, unsigned, CUdevice);
OF_LIBRARY(cuEventElapsedTime_v1, "cuEventElapsedTime", float*, CUevent, CUevent);
OF_LIBRARY(cuDeviceGetUuid_v1, "cuDeviceGetUuid", CUuuid*, CUdevice);
OF_LIBRARY(cuProfilerStart, "cuProfilerStart");
OF_LIBRARY(cuProfilerStop, "cuProfilerStop");

enum State { BEFORE_INIT, NO_CONTEXT, DESTROYED_CONTEXT, CONTEXT_A, CONTEXT_B };
static const char* const STATES[] = {"before cuInit", "no context", "destroyed context",
                                     "context A", "context B"};
static State state;
static std::string prefix;
/// The context that owns the objects, and another one.
static CUcontext A, B;

#define NEED(call) need(call, #call, __LINE__)
static void need(CUresult result, const char* call, int line) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "checks.cpp:%d: %s = %d\n", line, call, result);
  _exit(1);
}

// ---- arguments ---------------------------------------------------------------------------------

/// One argument that a parameter can have.
struct Value {
  std::string name;
  std::function<u64()> make;
  bool is_place = false;
  /// It exists after cuInit only.
  bool is_object = false;
};

static const size_t PLACE_SIZE = 1024;
alignas(64) static unsigned char places[16][PLACE_SIZE];

static Value number(long long value) {
  return {std::to_string(value), [=] { return (u64)value; }};
}
static Value bytes(const char* name, const void* at) {
  return {name, [=] { return (u64)at; }};
}
/// Memory of the program that the call may write to.
static const Value PLACE = {"place", nullptr, true};
static const Value NONE = {"null", [] { return (u64)0; }};
static const Value EMPTY = bytes("\"\"", "");

/// Runs with A current, in a thread of its own: the current context here stays what it is.
static u64 with_a(const std::function<u64()>& make) {
  u64 made = 0;
  std::thread([&] {
    NEED(cuCtxSetCurrent(A));
    made = make();
  }).join();
  return made;
}
/// An object for one call, which may end it.
static Value fresh(const char* name, std::function<u64()> make) {
  return {name, [=] { return with_a(make); }, false, true};
}
/// An object that all calls share.
static Value object(const char* name, std::function<u64()> make) {
  auto make_once = [=, name = std::string(name)] {
    static std::map<std::string, u64> made;
    auto found = made.find(name);
    return found != made.end() ? found->second : made[name] = with_a(make);
  };
  return {name, make_once, false, true};
}

static const char* PTX =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .global .align 4 .u32 variable[3];\n"
    ".visible .entry kernel(.param .u64 a){ ret; }\n";

template <class T, class Make>
static u64 made(Make make) {
  T it = 0;
  NEED(make(&it));
  return (u64)it;
}
static u64 new_device_memory() {
  return made<CUdeviceptr>([](CUdeviceptr* at) { return cuMemAlloc(at, 4096); });
}
static u64 new_managed_memory() {
  return made<CUdeviceptr>([](CUdeviceptr* at) {
    return cuMemAllocManaged(at, 4096, CU_MEM_ATTACH_GLOBAL);
  });
}
static u64 new_pool_memory() {
  u64 at = made<CUdeviceptr>([](CUdeviceptr* at) { return cuMemAllocAsync(at, 4096, nullptr); });
  NEED(cuStreamSynchronize(nullptr));
  return at;
}
static u64 new_pinned_memory() {
  return made<void*>([](void** at) { return cuMemHostAlloc(at, 4096, 0); });
}
static u64 new_pageable_memory() {
  void* at = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(at, 1, 8192);
  return (u64)at;
}
static u64 new_registered_memory() {
  u64 at = new_pageable_memory();
  NEED(cuMemHostRegister((void*)at, 4096, 0));
  return at;
}
static u64 new_stream() {
  return made<CUstream>([](CUstream* it) { return cuStreamCreate(it, CU_STREAM_NON_BLOCKING); });
}
static u64 new_event() {
  return made<CUevent>([](CUevent* it) { return cuEventCreate(it, 0); });
}
static u64 new_recorded_event() {
  u64 event = new_event();
  NEED(cuEventRecord((CUevent)event, nullptr));
  NEED(cuEventSynchronize((CUevent)event));
  return event;
}
static u64 new_pool() {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return made<CUmemoryPool>([&](CUmemoryPool* it) { return cuMemPoolCreate(it, &properties); });
}
static u64 new_module() {
  return made<CUmodule>([](CUmodule* it) { return cuModuleLoadData(it, PTX); });
}
static u64 new_function() {
  CUmodule module = (CUmodule)new_module();
  return made<CUfunction>([&](CUfunction* it) {
    return cuModuleGetFunction(it, module, "kernel");
  });
}
static u64 new_library() {
  return made<CUlibrary>([](CUlibrary* it) {
    return cuLibraryLoadData(it, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0);
  });
}
static u64 new_kernel() {
  CUlibrary library = (CUlibrary)new_library();
  return made<CUkernel>([&](CUkernel* it) { return cuLibraryGetKernel(it, library, "kernel"); });
}
static u64 new_context() {
  return made<CUcontext>([](CUcontext* it) { return cuCtxCreate(it, nullptr, 0, 0); });
}

static const Value DEVICE_MEMORY = object("device memory", new_device_memory);
static const Value OTHER_DEVICE_MEMORY = object("other device memory", new_device_memory);
static const Value MANAGED_MEMORY = object("managed memory", new_managed_memory);
static const Value POOL_MEMORY = object("pool memory", new_pool_memory);
static const Value PINNED_MEMORY = object("pinned memory", new_pinned_memory);
static const Value REGISTERED_MEMORY = object("registered memory", new_registered_memory);
static const Value PAGEABLE_MEMORY = object("pageable memory", new_pageable_memory);
static const Value STREAM = object("stream", new_stream);
static const Value LEGACY = bytes("legacy stream", (void*)1);
static const Value PER_THREAD = bytes("per-thread stream", (void*)2);
static const Value EVENT = object("event", new_event);
static const Value RECORDED = object("recorded event", new_recorded_event);
static const Value POOL = object("pool", new_pool);
static const Value MODULE = object("module", new_module);
static const Value FUNCTION = object("function", new_function);
static const Value LIBRARY = object("library", new_library);
static const Value KERNEL = object("kernel", new_kernel);
static const Value CONTEXT = object("context A", [] { return (u64)A; });

// ---- calls -------------------------------------------------------------------------------------

static sigjmp_buf before_call;
static void on_signal(int signal) { siglongjmp(before_call, signal); }

template <class P>
static P as(u64 value) {
  if constexpr (std::is_class_v<P>) {
    return *(P*)value;
  } else {
    return (P)value;
  }
}

/// What a call left in a place, which held 0x4d.
static std::string left(const unsigned char* place) {
  auto each_is = [&](size_t from, unsigned char value) {
    return std::all_of(place + from, place + from + 4, [=](auto byte) { return byte == value; });
  };
  if (each_is(0, 0x4d)) return " kept";
  return each_is(0, 0) && (each_is(4, 0) || each_is(4, 0x4d)) ? " zero" : " set";
}

template <class... P, size_t... I>
static void ask_one(const char* function, CUresult (*call)(P...), const std::vector<Value>& values,
                    std::index_sequence<I...>) {
  std::string text = std::string(function) + "(";
  u64 given[sizeof...(P) + 1] = {};
  memset(places, 0x4d, sizeof places);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_object && state == BEFORE_INIT) return;
    text += (i ? ", " : "") + values[i].name;
    given[i] = values[i].is_place ? (u64)places[i] : values[i].make();
  }
  text += ")";
  if (state == NO_CONTEXT) NEED(cuCtxSetCurrent(nullptr));
  if (state == CONTEXT_A) NEED(cuCtxSetCurrent(A));
  if (state == CONTEXT_B) NEED(cuCtxSetCurrent(B));
  std::string answer;
  if (int signal = sigsetjmp(before_call, 1)) {
    answer = "ended by signal " + std::to_string(signal);
  } else {
    answer = std::to_string((int)call(as<P>(given[I])...));
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].is_place) answer += left(places[i]);
    }
  }
  printf("%s\t%s\t%s\n", STATES[state], text.c_str(), answer.c_str());
  fflush(stdout);
}

/// Calls `call` with each combination of the arguments.
template <class... P>
static void ask(const char* function, CUresult (*call)(P...),
                const std::vector<std::vector<Value>>& arguments) {
  if (std::string(function).compare(0, prefix.size(), prefix) != 0) return;
  if (arguments.size() != sizeof...(P)) {
    fprintf(stderr, "checks.cpp: %s has %zu parameters\n", function, sizeof...(P));
    _exit(1);
  }
  size_t combinations = 1;
  for (const auto& values : arguments) combinations *= values.size();
  for (size_t number = 0; number < combinations; ++number) {
    std::vector<Value> values;
    size_t rest = number;
    for (const auto& choices : arguments) {
      values.push_back(choices[rest % choices.size()]);
      rest /= choices.size();
    }
    ask_one(function, call, values, std::index_sequence_for<P...>());
  }
}
#define ASK(function, ...) ask(#function, function, {__VA_ARGS__})

// ---- the functions -----------------------------------------------------------------------------

static const std::vector<Value> OUT = {PLACE, NONE};
static const std::vector<Value> ORDINAL = {number(0), number(-1), number(99)};
static const std::vector<Value> SIZE = {number(4096), number(0)};
static const std::vector<Value> ANY_STREAM = {NONE, STREAM, PER_THREAD};
static const std::vector<Value> ANY_EVENT = {NONE, EVENT, RECORDED};
static const std::vector<Value> ANY_FUNCTION = {NONE, FUNCTION};
static const std::vector<Value> ANY_KERNEL = {NONE, KERNEL};
static const std::vector<Value> ANY_POOL = {NONE, POOL};
static const std::vector<Value> ANY_MEMORY = {
    NONE, DEVICE_MEMORY, MANAGED_MEMORY, POOL_MEMORY, PINNED_MEMORY, REGISTERED_MEMORY,
    PAGEABLE_MEMORY};
static const std::vector<Value> FLAGS = {number(0), number(64)};

static CUmemLocation location(int type, int id) {
  CUmemLocation it = {};
  it.type = (CUmemLocationType)type;
  it.id = id;
  return it;
}
static const CUmemLocation LOCATIONS[] = {location(1, 0), location(1, 99), location(2, 0),
                                          location(3, 0), location(0, 0), location(9, 0)};
static const std::vector<Value> LOCATION = {
    bytes("device 0", &LOCATIONS[0]), bytes("device 99", &LOCATIONS[1]),
    bytes("host", &LOCATIONS[2]), bytes("NUMA node 0", &LOCATIONS[3]),
    bytes("no location", &LOCATIONS[4]), bytes("unknown location", &LOCATIONS[5])};

static void host_function(void*) {}
static void stream_callback(CUstream, CUresult, void*) {}
static const std::vector<Value> HOST_FUNCTION = {bytes("function", (void*)host_function), NONE};
static const std::vector<Value> CALLBACK = {bytes("function", (void*)stream_callback), NONE};

static void of_the_driver() {
  ASK(cuDriverGetVersion, OUT);
  ASK(cuGetErrorName, {number(0), number(1), number(-1), number(123456)}, {PLACE});
  ASK(cuGetErrorString, {number(0), number(1), number(-1), number(123456)}, {PLACE});
  ASK(cuDeviceGet, OUT, ORDINAL);
  ASK(cuDeviceGetCount, OUT);
  ASK(cuDeviceGetName, OUT, {number(64), number(3)}, ORDINAL);
  ASK(cuDeviceGetUuid, OUT, ORDINAL);
  ASK(cuDeviceGetUuid_v1, OUT, ORDINAL);
  ASK(cuProfilerStart);
  ASK(cuProfilerStop);
  ASK(cuDeviceTotalMem, OUT, ORDINAL);
  ASK(cuDeviceGetAttribute, OUT, {number(1), number(0), number(-1), number(3000)}, ORDINAL);
  ASK(cuDeviceComputeCapability, OUT, OUT, ORDINAL);
  ASK(cuDeviceCanAccessPeer, OUT, ORDINAL, ORDINAL);
  ASK(cuDeviceGetPCIBusId, OUT, {number(64), number(3)}, ORDINAL);
  ASK(cuDeviceGetDefaultMemPool, OUT, ORDINAL);
  ASK(cuDeviceGetMemPool, OUT, ORDINAL);
  ASK(cuDeviceSetMemPool, ORDINAL, ANY_POOL);
  ASK(cuDevicePrimaryCtxGetState, ORDINAL, OUT, OUT);
  ASK(cuDevicePrimaryCtxSetFlags, ORDINAL, {number(0), number(7), number(64)});
}

static void of_contexts() {
  ASK(cuCtxGetCurrent, OUT);
  ASK(cuCtxGetDevice, OUT);
  ASK(cuCtxSynchronize);
  ASK(cuCtxGetFlags, OUT);
  ASK(cuCtxGetId, {NONE, CONTEXT}, OUT);
  ASK(cuCtxGetApiVersion, {NONE, CONTEXT}, OUT);
  ASK(cuCtxGetStreamPriorityRange, OUT, OUT);
  ASK(cuCtxGetLimit, OUT, {number(0), number(4), number(-1), number(99)});
  ASK(cuCtxSetLimit, {number(0), number(99), number(-1)}, {number(1024)});
  ASK(cuCtxSetLimit, {number(4)}, {number(0), number(1), number(31), number(33), number(64)});
  ASK(cuCtxSetLimit, {number(0)},
      {number(0), number(1 << 14), number(1 << 16), number(1 << 17), number(1 << 18),
       number((1 << 18) + 1), number(300000), number(400000), number(500000),
       number((1 << 19) - 1024), number((1 << 19) - 33), number((1 << 19) - 32),
       number((1 << 19) - 17), number((1 << 19) - 16), number((1 << 19) - 1)});
  ASK(cuCtxGetCacheConfig, OUT);
  ASK(cuCtxSetCacheConfig, {number(0), number(3), number(-1), number(99)});
  ASK(cuCtxEnablePeerAccess, {NONE, CONTEXT}, FLAGS);
  ASK(cuCtxDisablePeerAccess, {NONE, CONTEXT});
}

static void of_memory() {
  static u64 one_place[8];
  static void* several[] = {one_place};
  ASK(cuMemGetInfo, OUT, OUT);
  ASK(cuMemAlloc, OUT, {number(256), number(0), number(-1)});
  ASK(cuMemAllocPitch, OUT, OUT, {number(100), number(0)}, {number(4), number(0)},
      {number(4), number(3)});
  ASK(cuMemAllocManaged, OUT, SIZE, {number(1), number(2), number(0), number(4)});
  ASK(cuMemFree, {NONE, fresh("new device memory", new_device_memory), PINNED_MEMORY,
                  PAGEABLE_MEMORY, bytes("1", (void*)1)});
  ASK(cuMemGetAddressRange, OUT, OUT, ANY_MEMORY);
  ASK(cuMemAdvise, ANY_MEMORY, SIZE,
      {number(1), number(2), number(3), number(5), number(0), number(99)}, LOCATION);
  const std::vector<Value> devices = {number(0), number(-1), number(99), number(-2)};
  ASK(cuMemAdvise_v1, ANY_MEMORY, SIZE,
      {number(1), number(2), number(3), number(5), number(0), number(99)}, devices);
  ASK(cuMemPrefetchAsync_v1, {NONE, DEVICE_MEMORY, MANAGED_MEMORY, PAGEABLE_MEMORY}, SIZE, devices,
      {NONE, STREAM});
  ASK(cuMemPrefetchAsync, {NONE, DEVICE_MEMORY, MANAGED_MEMORY, PAGEABLE_MEMORY}, SIZE, LOCATION,
      {number(0), number(1)}, {NONE, STREAM});
  ASK(cuPointerGetAttribute, OUT,
      {number(1), number(2), number(3), number(4), number(5), number(6), number(7), number(8),
       number(9), number(10), number(11), number(12), number(13), number(14), number(15),
       number(16), number(17), number(18), number(19), number(20), number(0), number(99)},
      ANY_MEMORY);
  static int wanted[] = {2, 99};
  ASK(cuPointerGetAttributes, {number(1), number(0)},
      {bytes("memory type", &wanted[0]), bytes("unknown", &wanted[1]), NONE},
      {bytes("places", several), NONE}, ANY_MEMORY);
  ASK(cuPointerSetAttribute, OUT, {number(6), number(2), number(0), number(99)}, ANY_MEMORY);
  ASK(cuMemHostAlloc, OUT, SIZE, {number(0), number(8), number(7)});
  ASK(cuMemAllocHost, OUT, SIZE);
  ASK(cuMemFreeHost, {NONE, fresh("new pinned memory", new_pinned_memory), DEVICE_MEMORY,
                      REGISTERED_MEMORY, PAGEABLE_MEMORY});
  ASK(cuMemHostRegister,
      {NONE, fresh("new pageable memory", new_pageable_memory), REGISTERED_MEMORY}, SIZE,
      {number(0), number(64), number(16)});
  ASK(cuMemHostUnregister,
      {NONE, fresh("new registered memory", new_registered_memory), PINNED_MEMORY,
       PAGEABLE_MEMORY});
  ASK(cuMemHostGetDevicePointer, OUT, {NONE, PINNED_MEMORY, REGISTERED_MEMORY, PAGEABLE_MEMORY},
      FLAGS);
  ASK(cuMemHostGetFlags, OUT, {NONE, PINNED_MEMORY, REGISTERED_MEMORY, PAGEABLE_MEMORY});
}

static void of_copies_and_fills() {
  const std::vector<Value> device = {DEVICE_MEMORY, NONE};
  const std::vector<Value> other = {OTHER_DEVICE_MEMORY, NONE};
  const std::vector<Value> host = {PAGEABLE_MEMORY, NONE};
  const std::vector<Value> streams = {NONE, STREAM};
  ASK(cuMemcpy, device, other, SIZE);
  ASK(cuMemcpyHtoD, device, host, SIZE);
  ASK(cuMemcpyDtoH, host, device, SIZE);
  ASK(cuMemcpyDtoD, device, other, SIZE);
  ASK(cuMemcpyAsync, device, other, SIZE, streams);
  ASK(cuMemcpyHtoDAsync, device, host, SIZE, streams);
  ASK(cuMemcpyDtoHAsync, host, device, SIZE, streams);
  ASK(cuMemcpyDtoDAsync, device, other, SIZE, streams);
  const std::vector<Value> contexts = {CONTEXT, NONE};
  ASK(cuMemcpyPeer, device, contexts, other, contexts, SIZE);
  ASK(cuMemcpyPeerAsync, device, contexts, other, contexts, SIZE, streams);
  static CUDA_MEMCPY2D empty_rows = {};
  static CUDA_MEMCPY3D empty_box = {};
  ASK(cuMemcpy2D, {bytes("zeroed", &empty_rows), NONE});
  ASK(cuMemcpy2DUnaligned, {bytes("zeroed", &empty_rows), NONE});
  ASK(cuMemcpy2DAsync, {bytes("zeroed", &empty_rows), NONE}, streams);
  ASK(cuMemcpy3D, {bytes("zeroed", &empty_box), NONE});
  ASK(cuMemcpy3DAsync, {bytes("zeroed", &empty_box), NONE}, streams);
  ASK(cuMemsetD8, device, {number(1)}, SIZE);
  ASK(cuMemsetD16, device, {number(1)}, {number(16), number(0)});
  ASK(cuMemsetD32, device, {number(1)}, {number(16), number(0)});
  ASK(cuMemsetD8Async, device, {number(1)}, SIZE, streams);
  ASK(cuMemsetD16Async, device, {number(1)}, {number(16), number(0)}, streams);
  ASK(cuMemsetD32Async, device, {number(1)}, {number(16), number(0)}, streams);
  const std::vector<Value> extent = {number(16), number(0)}, pitch = {number(64), number(0)};
  ASK(cuMemsetD2D8, device, pitch, {number(1)}, extent, extent);
  ASK(cuMemsetD2D16, device, pitch, {number(1)}, extent, extent);
  ASK(cuMemsetD2D32, device, pitch, {number(1)}, extent, extent);
  ASK(cuMemsetD2D8Async, device, pitch, {number(1)}, extent, extent, streams);
  ASK(cuMemsetD2D16Async, device, pitch, {number(1)}, extent, extent, streams);
  ASK(cuMemsetD2D32Async, device, pitch, {number(1)}, extent, extent, streams);
}

static void of_streams_and_events() {
  ASK(cuStreamCreate, OUT, {number(0), number(1), number(2)});
  ASK(cuStreamCreateWithPriority, OUT, {number(0), number(1), number(2)},
      {number(0), number(100), number(-100)});
  ASK(cuStreamDestroy, {NONE, fresh("new stream", new_stream), LEGACY, PER_THREAD});
  const std::vector<Value> streams = {NONE, STREAM, LEGACY, PER_THREAD};
  ASK(cuStreamSynchronize, streams);
  ASK(cuStreamQuery, streams);
  ASK(cuStreamWaitEvent, streams, ANY_EVENT, {number(0), number(1), number(2)});
  ASK(cuStreamGetFlags, streams, OUT);
  ASK(cuStreamGetPriority, streams, OUT);
  ASK(cuStreamGetCtx, streams, OUT);
  ASK(cuStreamGetId, streams, OUT);
  ASK(cuStreamGetDevice, streams, OUT);
  ASK(cuStreamIsCapturing, streams, OUT);
  ASK(cuStreamAddCallback, ANY_STREAM, CALLBACK, {NONE}, FLAGS);
  ASK(cuLaunchHostFunc, ANY_STREAM, HOST_FUNCTION, {NONE});
  ASK(cuStreamAttachMemAsync, ANY_STREAM,
      {NONE, MANAGED_MEMORY, DEVICE_MEMORY, PAGEABLE_MEMORY, PINNED_MEMORY},
      {number(0), number(4096), number(100)},
      {number(1), number(2), number(4), number(8)});
  ASK(cuEventCreate, OUT, {number(0), number(2), number(4), number(64), number(6)});
  ASK(cuEventQuery, ANY_EVENT);
  ASK(cuEventSynchronize, ANY_EVENT);
  ASK(cuEventElapsedTime, OUT, ANY_EVENT, ANY_EVENT);
  ASK(cuEventElapsedTime_v1, OUT, ANY_EVENT, ANY_EVENT);
  ASK(cuEventDestroy, {NONE, fresh("new event", new_event)});
  ASK(cuEventRecord, ANY_EVENT, ANY_STREAM);
  ASK(cuEventRecordWithFlags, ANY_EVENT, ANY_STREAM, {number(0), number(1), number(2)});
}

static void of_pools() {
  ASK(cuMemAllocAsync, OUT, SIZE, ANY_STREAM);
  ASK(cuMemAllocFromPoolAsync, OUT, SIZE, ANY_POOL, ANY_STREAM);
  ASK(cuMemFreeAsync,
      {NONE, fresh("new pool memory", new_pool_memory),
       fresh("new device memory", new_device_memory), PAGEABLE_MEMORY},
      ANY_STREAM);
  static CUmemPoolProps properties[4] = {};
  for (auto& each : properties) {
    each.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    each.location = location(1, 0);
  }
  properties[1].allocType = (CUmemAllocationType)0;
  properties[2].location.id = 99;
  properties[3].usage = 999;
  ASK(cuMemPoolCreate, OUT,
      {bytes("device 0", &properties[0]), bytes("no type", &properties[1]),
       bytes("device 99", &properties[2]), bytes("usage 999", &properties[3]), NONE});
  static CUmemLocation of_device[2] = {location(1, 0), location(1, 99)};
  const std::vector<Value> at = {bytes("device 0", &of_device[0]),
                                 bytes("device 99", &of_device[1]), NONE};
  const std::vector<Value> types = {number(1), number(0), number(9)};
  ASK(cuMemGetDefaultMemPool, OUT, at, types);
  ASK(cuMemGetMemPool, OUT, at, types);
  ASK(cuMemSetMemPool, at, types, ANY_POOL);
  ASK(cuMemPoolDestroy, {NONE, fresh("new pool", new_pool)});
  ASK(cuMemPoolTrimTo, ANY_POOL, SIZE);
  const std::vector<Value> attributes = {number(1), number(4), number(5), number(0), number(99)};
  ASK(cuMemPoolGetAttribute, ANY_POOL, attributes, OUT);
  static u64 zero = 0;
  ASK(cuMemPoolSetAttribute, ANY_POOL, attributes, {bytes("zero", &zero)});
  static CUmemAccessDesc access[2] = {};
  access[0] = {location(1, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  access[1] = {location(1, 99), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASK(cuMemPoolSetAccess, ANY_POOL,
      {bytes("of device 0", &access[0]), bytes("of device 99", &access[1]), NONE},
      {number(1), number(0)});
  ASK(cuMemPoolGetAccess, OUT, ANY_POOL, at);
}

static void of_code() {
  ASK(cuModuleLoadData, OUT, {bytes("PTX", PTX), bytes("a word", "hello"), NONE});
  ASK(cuModuleLoadDataEx, OUT, {bytes("PTX", PTX), NONE}, {number(0), number(1)}, {NONE}, {NONE});
  ASK(cuModuleUnload, {NONE, fresh("new module", new_module)});
  const std::vector<Value> names = {bytes("\"kernel\"", "kernel"),
                                    bytes("\"variable\"", "variable"), bytes("\"none\"", "none"),
                                    EMPTY, NONE};
  ASK(cuModuleGetFunction, OUT, {MODULE, NONE}, names);
  ASK(cuModuleGetGlobal, OUT, OUT, {MODULE, NONE}, names);
  ASK(cuModuleGetLoadingMode, {PLACE});
  const std::vector<Value> attributes = {number(0), number(7), number(-1), number(99)};
  ASK(cuFuncGetAttribute, OUT, attributes, ANY_FUNCTION);
  ASK(cuFuncSetAttribute, ANY_FUNCTION, {number(8), number(0), number(99)},
      {number(0), number(-1), number(1 << 20)});
  ASK(cuFuncGetParamInfo, ANY_FUNCTION, {number(0), number(1)}, OUT, OUT);
  ASK(cuLibraryLoadData, OUT, {bytes("PTX", PTX), bytes("a word", "hello"), NONE}, {NONE}, {NONE},
      {number(0)}, {NONE}, {NONE}, {number(0)});
  ASK(cuLibraryUnload, {NONE, fresh("new library", new_library)});
  ASK(cuLibraryGetModule, OUT, {LIBRARY, NONE});
  ASK(cuLibraryGetKernel, OUT, {LIBRARY, NONE}, names);
  ASK(cuKernelGetFunction, OUT, ANY_KERNEL);
  ASK(cuKernelGetAttribute, OUT, attributes, ANY_KERNEL, ORDINAL);
  ASK(cuKernelSetAttribute, {number(8), number(0)}, {number(0), number(-1)}, ANY_KERNEL, ORDINAL);
  ASK(cuKernelGetParamInfo, ANY_KERNEL, {number(0), number(1)}, OUT, OUT);
  ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor, OUT, ANY_FUNCTION,
      {number(32), number(0), number(-1), number(2000)}, SIZE);
  ASK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, OUT, ANY_FUNCTION,
      {number(32), number(0)}, SIZE, {number(0), number(1), number(64)});
  ASK(cuOccupancyMaxPotentialBlockSize, OUT, OUT, ANY_FUNCTION, {NONE}, SIZE,
      {number(0), number(-1), number(2000)});
  static u64 argument = 0;
  static void* values[] = {&argument};
  const std::vector<Value> one = {number(1), number(0)};
  ASK(cuLaunchKernel, {FUNCTION, KERNEL, NONE}, one, {number(1)}, {number(1)}, one, {number(1)},
      {number(1)}, {number(0)}, {NONE, STREAM}, {bytes("values", values), NONE}, {NONE});
  ASK(cuLaunchCooperativeKernel, {FUNCTION, KERNEL, NONE}, one, {number(1)}, {number(1)}, one,
      {number(1)}, {number(1)}, {number(0)}, {NONE, STREAM}, {bytes("values", values), NONE});
  static CUlaunchConfig configs[2] = {};
  for (auto& each : configs) {
    each.gridDimX = each.gridDimY = each.gridDimZ = 1;
    each.blockDimX = each.blockDimY = each.blockDimZ = 1;
  }
  configs[1].blockDimX = 0;
  ASK(cuLaunchKernelEx, {bytes("1 thread", &configs[0]), bytes("0 threads", &configs[1]), NONE},
      {FUNCTION, KERNEL, NONE}, {bytes("values", values), NONE}, {NONE});
}

static void of_sharing() {
  ASK(cuIpcGetMemHandle, OUT, ANY_MEMORY);
  static CUipcMemHandle none = {};
  ASK(cuIpcOpenMemHandle, OUT, {bytes("zeroed handle", &none)}, {number(1), number(0), number(8)});
  ASK(cuIpcCloseMemHandle, {NONE, DEVICE_MEMORY, PAGEABLE_MEMORY});
  static CUmemAllocationProp properties[2] = {};
  properties[0].type = properties[1].type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties[0].location = location(1, 0);
  properties[1].location = location(1, 99);
  ASK(cuMemGetAllocationGranularity, OUT,
      {bytes("device 0", &properties[0]), bytes("device 99", &properties[1]), NONE},
      {number(0), number(1), number(9)});
}

/// Calls that change the current context. A destroyed context is made current for one of them only.
static void that_change_the_context() {
  ASK(cuCtxPushCurrent, {NONE, CONTEXT});
  ASK(cuCtxSetCurrent, {NONE});
  ASK(cuCtxSetCurrent, {CONTEXT});
  ASK(cuCtxPopCurrent, OUT);
  ASK(cuCtxCreate, OUT, {NONE}, FLAGS, ORDINAL);
  ASK(cuCtxCreate_v2, OUT, FLAGS, ORDINAL);
  ASK(cuCtxDestroy, {NONE, fresh("new context", new_context)});
  ASK(cuDevicePrimaryCtxRetain, OUT, ORDINAL);
  ASK(cuDevicePrimaryCtxRelease, ORDINAL);
  ASK(cuDevicePrimaryCtxReset, ORDINAL);
}

static void enter() {
  if (state == BEFORE_INIT) return;
  NEED(cuInit(0));
  NEED(cuCtxCreate(&A, nullptr, 0, 0));
  NEED(cuCtxCreate(&B, nullptr, 0, 0));
  if (state != DESTROYED_CONTEXT) return;
  CUcontext destroyed = nullptr;
  NEED(cuCtxCreate(&destroyed, nullptr, 0, 0));
  std::thread([&] { NEED(cuCtxDestroy(destroyed)); }).join();
}

static void child() {
  alarm(30);
  signal(SIGSEGV, on_signal);
  signal(SIGFPE, on_signal);
  signal(SIGABRT, on_signal);
  enter();
  of_the_driver();
  of_contexts();
  of_memory();
  of_copies_and_fills();
  of_streams_and_events();
  of_pools();
  of_code();
  of_sharing();
  that_change_the_context();
  _exit(0);
}

int main(int count, char** arguments) {
  prefix = count > 1 ? arguments[1] : "";
  printf("# state\tcall\tanswer\n");
  for (int each = BEFORE_INIT; each <= CONTEXT_B; ++each) {
    state = (State)each;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child();
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) printf("%s\tended by signal\t%d\n", STATES[each], WTERMSIG(status));
  }
}
