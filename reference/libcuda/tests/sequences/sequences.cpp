// Makes random sequences of CUDA driver calls and writes down what each call answers.
//
// The same seed makes the same calls on a GPU and on the software driver, so that their answers can
// be compared line by line. Arguments are valid, invalid, null, dead (freed) or of another context.
// What a genuine driver does not survive (a destroyed stream or event, memory of nobody in a copy)
// is never asked.
//
// Build: g++ -std=c++17 sequences.cpp -lcuda   (cuda.h comes in nvidia-cuda-runtime).
//   sequences FIRST COUNT full          every call and its answer
//   sequences FIRST COUNT hash          a line for each sequence: its number and a hash of its text
//   sequences FIRST COUNT unlike FILE   `NUMBER equal` for those whose hash is the one in FILE, and
//                                       the text of the others
// The sequences from 10000000 on make more sorts of calls (further_calls.h).
// The environment variable QUICK=1 saves a GPU time: some memory of each context stays between
// sequences, so that the driver need not map memory for each of them again. cuDeviceGetName is not
// asked for no bytes, which ends the process in NVIDIA's driver.
//
// A line of text is `NUMBER.CALL function(arguments) = result outputs`. Memory is named by the call
// that made it, with an offset (m3+16); streams, events and contexts likewise (s1, e2, A). `-` is
// an output that the call left as it was.
#include <cuda.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using u32 = unsigned;
using u64 = unsigned long long;

static const int LENGTH = 40;
/// Sequences that share a process; a new process costs a quarter of a second on a GPU.
static const int SHARED = 250;
/// The exit status of a process whose driver can be used no longer.
static const int FRESH_PROCESS = 42;
static const u64 UNTOUCHED = 0x5e5e5e5e5e5e5e5eull;

// ---- chance ------------------------------------------------------------------------------------

static u64 random_state;
static u64 next_random() {
  u64 z = (random_state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
static u64 below(u64 limit) { return next_random() % limit; }
static bool chance(u64 percent) { return below(100) < percent; }
template <typename T>
static T one_of(std::initializer_list<T> all) {
  return all.begin()[below(all.size())];
}

// ---- what a sequence has made ------------------------------------------------------------------

enum MemoryKind { DEVICE, MANAGED, POOL, PINNED, REGISTERED, PAGES };
struct Memory {
  MemoryKind kind;
  u64 at, size;
  bool live;
  std::string name;
  CUcontext context;
};
struct Named {
  void* handle;
  bool live;
  std::string name;
  CUcontext context;
};

static const bool quick = getenv("QUICK") != nullptr;
static CUdevice device;
static CUcontext contexts[3];  // P the primary one, A, B
static const char* const CONTEXT_NAMES[] = {"P", "A", "B"};
static std::vector<Memory> memory;
static std::vector<Named> streams, events, modules, functions, pools;
static int call_number;
static std::string text;
/// Shared with the parent: the sequence and the call that are being made.
static volatile long* progress;
static char* pages;
static const u64 PAGES_BYTES = 64 << 10;

static std::string number(u64 value) {
  char out[32];
  snprintf(out, sizeof out, value > 0xffff ? "0x%llx" : "%llu", value);
  return out;
}

static std::string address(u64 value) {
  if (value == 0) return "0";
  if (value == UNTOUCHED) return "-";
  // The latest allocation at an address is the one that is meant.
  for (size_t index = memory.size(); index-- > 0;) {
    const Memory& one = memory[index];
    if (one.live && value >= one.at && value < one.at + (one.size ? one.size : 1))
      return one.name + (value == one.at ? "" : "+" + number(value - one.at));
  }
  if (value >= (u64)pages && value < (u64)pages + PAGES_BYTES)
    return "pages+" + number(value - (u64)pages);
  return "elsewhere";
}

static std::string context_name(CUcontext context) {
  if (!context) return "0";
  if ((u64)context == UNTOUCHED) return "-";
  for (int index = 0; index < 3; index++)
    if (contexts[index] == context) return CONTEXT_NAMES[index];
  return "another";
}

static std::string handle_name(const std::vector<Named>& all, void* handle) {
  if ((u64)handle <= 2) return number((u64)handle);
  if ((u64)handle == UNTOUCHED) return "-";
  for (size_t index = all.size(); index-- > 0;)
    if (all[index].handle == handle) return all[index].name;
  return "another";
}

/// Begins the line of a call.
static void say(const std::string& what) {
  progress[1] = ++call_number;
  text += number(call_number) + " " + what;
}
static void answer(CUresult result, const std::string& outputs = "") {
  text += " = " + std::to_string((int)result) + (outputs.empty() ? "" : " " + outputs) + "\n";
}
static std::string out(u64 value) { return value == UNTOUCHED ? "-" : number(value); }
static std::string out32(u32 value) { return value == (u32)UNTOUCHED ? "-" : number(value); }

static CUcontext current() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

static CUstream some_stream() {
  std::vector<void*> live;
  for (const Named& one : streams)
    if (one.live) live.push_back(one.handle);
  u64 pick = below(live.size() + 3);
  return pick < 3 ? (CUstream)pick : (CUstream)live[pick - 3];
}
static std::string stream_name(CUstream stream) { return handle_name(streams, stream); }

static Named* some(std::vector<Named>& all) {
  std::vector<Named*> live;
  for (Named& one : all)
    if (one.live) live.push_back(&one);
  return live.empty() ? nullptr : live[below(live.size())];
}
static Memory* some_memory(bool (*wanted)(const Memory&)) {
  std::vector<Memory*> found;
  for (Memory& one : memory)
    if (one.live && wanted(one)) found.push_back(&one);
  return found.empty() ? nullptr : found[below(found.size())];
}
static bool any(const Memory&) { return true; }
static bool on_device(const Memory& one) {
  return one.kind == DEVICE || one.kind == POOL || one.kind == MANAGED;
}
static bool of_host(const Memory& one) { return one.kind == PINNED; }

/// An address of any sort, for calls that only look at it.
static u64 some_address() {
  u64 pick = below(10);
  if (pick == 0) return 0;
  if (pick == 1) return (u64)pages + below(PAGES_BYTES);
  Memory* one = pick == 2 && !memory.empty() ? &memory[below(memory.size())] : some_memory(any);
  if (!one) return 0;
  return one->at + (chance(70) ? 0 : below(one->size ? one->size : 1));
}
/// Dead memory may be somebody else's by now; its name is what the program knows.
static std::string given(u64 value) {
  std::string name = address(value);
  return name == "elsewhere" ? "dead" : name;
}

static void made(MemoryKind kind, u64 at, u64 size) {
  memory.push_back({kind, at, size, true, "m" + std::to_string(call_number), current()});
}
static Memory* at_start(u64 value) {
  for (Memory& one : memory)
    if (one.live && one.at == value && one.kind != PAGES) return &one;
  return nullptr;
}

static u64 some_size() {
  return one_of<u64>({0, 1, 64, 100, 1000, 4096, 65536, 1 << 20, (2 << 20) + 1, 1ull << 50, ~0ull});
}

// ---- the calls ---------------------------------------------------------------------------------

static void alloc() {
  u64 size = some_size();
  CUdeviceptr at = UNTOUCHED;
  say("cuMemAlloc(" + number(size) + ")");
  CUresult r = cuMemAlloc(&at, size);
  if (r == CUDA_SUCCESS) made(DEVICE, at, size);
  answer(r, r ? address(at) : "made");
}
static void alloc_managed() {
  u64 size = some_size();
  u32 flags = one_of<u32>({0, 1, 2, 3, 4});
  CUdeviceptr at = UNTOUCHED;
  if (size == (1ull << 50)) size = 64;  // a genuine driver may overcommit
  say("cuMemAllocManaged(" + number(size) + ", " + number(flags) + ")");
  CUresult r = cuMemAllocManaged(&at, size, flags);
  if (r == CUDA_SUCCESS) made(MANAGED, at, size);
  answer(r, r ? address(at) : "made");
}
static void alloc_pitch() {
  u64 width = one_of<u64>({0, 1, 100, 513}), height = one_of<u64>({0, 1, 10});
  u32 element = one_of<u32>({0, 3, 4, 8, 16, 32});
  CUdeviceptr at = UNTOUCHED;
  size_t pitch = UNTOUCHED;
  say("cuMemAllocPitch(" + number(width) + ", " + number(height) + ", " + number(element) + ")");
  CUresult r = cuMemAllocPitch(&at, &pitch, width, height, element);
  if (r == CUDA_SUCCESS) made(DEVICE, at, pitch * height);
  answer(r, (r ? address(at) : "made") + " pitch " + out(pitch));
}
/// Waits for all work, so that no memory ends under work that still uses it: what a genuine driver
/// does then is chance. Not part of the sequence.
static void let_work_end() {
  for (CUcontext context : contexts) {
    if (cuCtxPushCurrent(context) != CUDA_SUCCESS) continue;
    cuCtxSynchronize();
    CUcontext gone;
    cuCtxPopCurrent(&gone);
  }
}

static void alloc_async() {
  u64 size = some_size();
  CUstream stream = some_stream();
  CUdeviceptr at = UNTOUCHED;
  say("cuMemAllocAsync(" + number(size) + ", " + stream_name(stream) + ")");
  CUresult r = cuMemAllocAsync(&at, size, stream);
  if (r == CUDA_SUCCESS) {
    made(POOL, at, size);
    let_work_end();
  }
  answer(r, r ? address(at) : "made");
}
static void host_alloc() {
  u64 size = one_of<u64>({0, 1, 64, 4096, 65536});
  u32 flags = below(20);
  void* at = (void*)UNTOUCHED;
  say("cuMemHostAlloc(" + number(size) + ", " + number(flags) + ")");
  CUresult r = cuMemHostAlloc(&at, size, flags);
  if (r == CUDA_SUCCESS) made(PINNED, (u64)at, size);
  answer(r, r ? address((u64)at) : "made");
}
static void alloc_host() {
  u64 size = one_of<u64>({0, 1, 64, 4096});
  void* at = (void*)UNTOUCHED;
  say("cuMemAllocHost(" + number(size) + ")");
  CUresult r = cuMemAllocHost(&at, size);
  if (r == CUDA_SUCCESS) made(PINNED, (u64)at, size);
  answer(r, r ? address((u64)at) : "made");
}
static void freed(CUresult r, u64 at) {
  Memory* one = at_start(at);
  if (r == CUDA_SUCCESS && one) one->live = false;
}
static void free_device() {
  let_work_end();
  u64 at = some_address();
  say("cuMemFree(" + given(at) + ")");
  CUresult r = cuMemFree(at);
  freed(r, at);
  answer(r);
}
static void free_async() {
  let_work_end();
  u64 at = some_address();
  CUstream stream = some_stream();
  say("cuMemFreeAsync(" + given(at) + ", " + stream_name(stream) + ")");
  CUresult r = cuMemFreeAsync(at, stream);
  let_work_end();
  freed(r, at);
  answer(r);
}
static void free_host() {
  let_work_end();
  u64 at = some_address();
  say("cuMemFreeHost(" + given(at) + ")");
  CUresult r = cuMemFreeHost((void*)at);
  freed(r, at);
  answer(r);
}
static void host_register() {
  u64 offset = one_of<u64>({0, 0, 1, 4096, 8192}), size = one_of<u64>({0, 1, 100, 4096, 16384});
  u32 flags = one_of<u32>({0, 0, 1, 2, 3, 4, 8, 16, 32});
  u64 at = (u64)pages + offset;
  if (chance(15)) at = some_address();
  say("cuMemHostRegister(" + given(at) + ", " + number(size) + ", " + number(flags) + ")");
  // Whether the program has memory behind its pages is chance.
  bool reaches_behind = at >= (u64)pages && at < (u64)pages + PAGES_BYTES &&
                        at + size > (u64)pages + PAGES_BYTES;
  if (flags & 4 || reaches_behind) {
    answer(CUDA_SUCCESS, "not asked");
    return;
  }
  CUresult r = cuMemHostRegister((void*)at, size, flags);
  if (r == CUDA_SUCCESS) made(REGISTERED, at, size);
  answer(r);
}
static void host_unregister() {
  let_work_end();
  u64 at = chance(50) ? (u64)pages + one_of<u64>({0, 1, 4096, 8192}) : some_address();
  say("cuMemHostUnregister(" + given(at) + ")");
  CUresult r = cuMemHostUnregister((void*)at);
  if (r == CUDA_SUCCESS)
    for (Memory& one : memory)
      if (one.live && one.kind == REGISTERED && one.at == at) one.live = false;
  answer(r);
}
static void host_pointer() {
  u64 at = some_address();
  u32 flags = one_of<u32>({0, 0, 0, 1});
  CUdeviceptr found = UNTOUCHED;
  say("cuMemHostGetDevicePointer(" + given(at) + ", " + number(flags) + ")");
  CUresult r = cuMemHostGetDevicePointer(&found, (void*)at, flags);
  answer(r, r && found != UNTOUCHED ? "= " + address(found) : address(found));
}
static void host_flags() {
  u64 at = some_address();
  u32 flags = (u32)UNTOUCHED;
  say("cuMemHostGetFlags(" + given(at) + ")");
  CUresult r = cuMemHostGetFlags(&flags, (void*)at);
  answer(r, out32(flags));
}
static void address_range() {
  u64 at = some_address();
  CUdeviceptr base = UNTOUCHED;
  size_t size = UNTOUCHED;
  u64 outs = below(8);
  say("cuMemGetAddressRange(" + given(at) +
      (outs == 0   ? ", no base"
       : outs == 1 ? ", no size"
                   : "") +
      ")");
  CUresult r = cuMemGetAddressRange(outs == 0 ? nullptr : &base, outs == 1 ? nullptr : &size, at);
  answer(r, address(base) + " size " + out(size));
}
static void memory_info() {
  size_t free = UNTOUCHED, total = UNTOUCHED;
  say("cuMemGetInfo()");
  CUresult r = cuMemGetInfo(&free, &total);
  answer(r, free == UNTOUCHED ? "-" : free <= total ? "plausible" : "free above total");
}
static std::string attribute_text(int attribute, u64 value) {
  if (value == UNTOUCHED) return "-";
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return context_name((CUcontext)value);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return address(value);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return value ? "id" : "0";
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return value ? "some" : "0";
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return number(value);
    default:
      return number(value & 0xffffffff);
  }
}
static int some_attribute() {
  return one_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 21, 99});
}
static void pointer_attribute() {
  u64 at = some_address();
  int attribute = some_attribute();
  u64 value[4] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS ||
      attribute == CU_POINTER_ATTRIBUTE_ACCESS_FLAGS)
    attribute = 2;
  bool null_out = below(25) == 0;
  say("cuPointerGetAttribute(" + number(attribute) + ", " + given(at) +
      (null_out ? ", no output" : "") + ")");
  CUresult r =
      cuPointerGetAttribute(null_out ? nullptr : value, (CUpointer_attribute)attribute, at);
  answer(r, attribute_text(attribute, value[0]));
}
static void pointer_attributes() {
  u64 at = some_address();
  u32 count = below(4);
  CUpointer_attribute wanted[3];
  void* into[3];
  u64 values[3][4];
  std::string names;
  for (u32 index = 0; index < 3; index++) {
    int attribute = some_attribute();
    if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS ||
        attribute == CU_POINTER_ATTRIBUTE_ACCESS_FLAGS)
      attribute = 2;
    wanted[index] = (CUpointer_attribute)attribute;
    into[index] = values[index];
    values[index][0] = UNTOUCHED;
    if (index < count) names += number(attribute) + " ";
  }
  say("cuPointerGetAttributes(" + names + "of " + given(at) + ")");
  CUresult r = cuPointerGetAttributes(count, wanted, into, at);
  std::string found;
  for (u32 index = 0; index < count; index++)
    found += (index ? " " : "") + attribute_text(wanted[index], values[index][0]);
  answer(r, found);
}
static void pointer_set() {
  u64 at = some_address();
  u32 value = below(2);
  int attribute = one_of<int>({6, 6, 6, 1, 99});
  say("cuPointerSetAttribute(" + number(value) + ", " + number(attribute) + ", " + given(at) + ")");
  answer(cuPointerSetAttribute(&value, (CUpointer_attribute)attribute, at));
}

/// A live range to copy to or fill.
struct Range {
  u64 at, size;
  std::string name;
};
static Range some_range(bool (*wanted)(const Memory&)) {
  Memory* one = some_memory(wanted);
  if (!one || one->size == 0) return {0, 0, "0"};
  u64 size = one->size > 4096 ? 4096 : one->size, offset = chance(60) ? 0 : below(size);
  return {one->at + offset, size - offset, address(one->at + offset)};
}
static void copy() {
  int form = below(8);
  bool async = form >= 4;
  form %= 4;
  CUstream stream = some_stream();
  bool (*to_kind)(const Memory&) = form == 1 ? of_host : form == 3 ? any : on_device;
  bool (*from_kind)(const Memory&) = form == 0 ? of_host : form == 3 ? any : on_device;
  Range to = some_range(to_kind), from = some_range(from_kind);
  u64 size = to.size < from.size ? to.size : from.size;
  if (chance(10)) size = 0;
  static const char* const NAMES[] = {"cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpy"};
  say(std::string(NAMES[form]) + (async ? "Async(" : "(") + to.name + ", " + from.name + ", " +
      number(size) + (async ? ", " + stream_name(stream) : "") + ")");
  CUresult r = CUDA_SUCCESS;
  if (!async)
    r = form == 0   ? cuMemcpyHtoD(to.at, (void*)from.at, size)
        : form == 1 ? cuMemcpyDtoH((void*)to.at, from.at, size)
        : form == 2 ? cuMemcpyDtoD(to.at, from.at, size)
                    : cuMemcpy(to.at, from.at, size);
  else
    r = form == 0   ? cuMemcpyHtoDAsync(to.at, (void*)from.at, size, stream)
        : form == 1 ? cuMemcpyDtoHAsync((void*)to.at, from.at, size, stream)
        : form == 2 ? cuMemcpyDtoDAsync(to.at, from.at, size, stream)
                    : cuMemcpyAsync(to.at, from.at, size, stream);
  answer(r);
}
static void fill() {
  Range to = some_range(chance(80) ? on_device : any);
  int width = one_of<int>({1, 2, 4});
  bool async = chance(50);
  CUstream stream = some_stream();
  u64 count = to.size / width;
  if (chance(15)) count = 0;
  say("cuMemsetD" + number(width * 8) + (async ? "Async(" : "(") + to.name + ", " + number(count) +
      (async ? ", " + stream_name(stream) : "") + ")");
  CUresult r;
  if (async)
    r = width == 1   ? cuMemsetD8Async(to.at, 1, count, stream)
        : width == 2 ? cuMemsetD16Async(to.at, 1, count, stream)
                     : cuMemsetD32Async(to.at, 1, count, stream);
  else
    r = width == 1   ? cuMemsetD8(to.at, 1, count)
        : width == 2 ? cuMemsetD16(to.at, 1, count)
                     : cuMemsetD32(to.at, 1, count);
  answer(r);
}
static void context_change() {
  int which = below(4), form = below(5);
  CUcontext context = which < 3 ? contexts[which] : nullptr;
  if (form == 0) {
    say("cuCtxSetCurrent(" + context_name(context) + ")");
    answer(cuCtxSetCurrent(context));
  }
  if (form == 1) {
    say("cuCtxPushCurrent(" + context_name(context) + ")");
    CUresult r = cuCtxPushCurrent(context);
    answer(r);
  }
  if (form == 2) {
    CUcontext gone = (CUcontext)UNTOUCHED;
    say("cuCtxPopCurrent()");
    CUresult r = cuCtxPopCurrent(&gone);
    answer(r, context_name(gone));
  }
  if (form == 3) {
    CUcontext now = (CUcontext)UNTOUCHED;
    say("cuCtxGetCurrent()");
    CUresult r = cuCtxGetCurrent(&now);
    answer(r, context_name(now));
  }
  if (form == 4) {
    CUdevice found = (CUdevice)UNTOUCHED;
    say("cuCtxGetDevice()");
    CUresult r = cuCtxGetDevice(&found);
    answer(r, out32(found));
  }
}
static void context_question() {
  int form = below(6);
  if (form == 0) {
    say("cuCtxSynchronize()");
    answer(cuCtxSynchronize());
  }
  if (form == 1) {
    u32 flags = (u32)UNTOUCHED;
    say("cuCtxGetFlags()");
    CUresult r = cuCtxGetFlags(&flags);
    answer(r, out32(flags));
  }
  if (form == 2) {
    u32 version = (u32)UNTOUCHED;
    CUcontext c = chance(70) ? contexts[below(3)] : nullptr;
    say("cuCtxGetApiVersion(" + context_name(c) + ")");
    CUresult r = cuCtxGetApiVersion(c, &version);
    answer(r, out32(version));
  }
  if (form == 3) {
    int least = (int)UNTOUCHED, most = (int)UNTOUCHED;
    say("cuCtxGetStreamPriorityRange()");
    CUresult r = cuCtxGetStreamPriorityRange(&least, &most);
    answer(r, std::to_string(least) + " " + std::to_string(most));
  }
  if (form == 4) {
    size_t value = UNTOUCHED;
    int limit = one_of<int>({0, 1, 2, 5, 99});
    say("cuCtxGetLimit(" + number(limit) + ")");
    CUresult r = cuCtxGetLimit(&value, (CUlimit)limit);
    answer(r, out(value));
  }
  if (form == 5) {
    u32 flags = (u32)UNTOUCHED;
    int active = (int)UNTOUCHED;
    int d = one_of<int>({0, 0, 0, 9, -1});
    say("cuDevicePrimaryCtxGetState(" + std::to_string(d) + ")");
    CUresult r = cuDevicePrimaryCtxGetState(d, &flags, &active);
    answer(r, out32(flags) + " " + out32(active));
  }
}
static void device_question() {
  int form = below(5), d = one_of<int>({0, 0, 0, 9, -1});
  if (form == 0) {
    CUdevice found = (CUdevice)UNTOUCHED;
    say("cuDeviceGet(" + std::to_string(d) + ")");
    CUresult r = cuDeviceGet(&found, d);
    answer(r, out32(found));
  }
  if (form == 1) {
    size_t bytes = UNTOUCHED;
    say("cuDeviceTotalMem(" + std::to_string(d) + ")");
    CUresult r = cuDeviceTotalMem(&bytes, d);
    answer(r, bytes == UNTOUCHED ? "-" : bytes ? "some" : "0");
  }
  if (form == 2) {
    int value = (int)UNTOUCHED;
    int a = one_of<int>({0, 19, 41, 83, 115, 9999});
    say("cuDeviceGetAttribute(" + number(a) + ", " + std::to_string(d) + ")");
    CUresult r = cuDeviceGetAttribute(&value, (CUdevice_attribute)a, d);
    answer(r, out32(value));
  }
  if (form == 3) {
    char name[64];
    memset(name, 1, sizeof name);
    int length = one_of<int>({64, 1, 0, -1});
    if (quick && length == 0) length = 64;
    say("cuDeviceGetName(" + std::to_string(length) + ", " + std::to_string(d) + ")");
    CUresult r = cuDeviceGetName(name, length, d);
    answer(r, name[0] == 1 ? "-" : name[0] ? "some" : "empty");
  }
  if (form == 4) {
    CUmemoryPool pool = (CUmemoryPool)UNTOUCHED;
    say("cuDeviceGetDefaultMemPool(" + std::to_string(d) + ")");
    CUresult r = cuDeviceGetDefaultMemPool(&pool, d);
    answer(r, (u64)pool == UNTOUCHED ? "-" : pool ? "some" : "0");
  }
}
static void stream_create() {
  CUstream made = (CUstream)UNTOUCHED;
  u32 flags = one_of<u32>({0, 0, 1, 1, 2, 77});
  CUresult r;
  int priority = (int)below(12) - 8;
  bool with = chance(40);
  say(with ? "cuStreamCreateWithPriority(" + number(flags) + ", " + std::to_string(priority) + ")"
           : "cuStreamCreate(" + number(flags) + ")");
  r = with ? cuStreamCreateWithPriority(&made, flags, priority) : cuStreamCreate(&made, flags);
  if (r == CUDA_SUCCESS)
    streams.push_back({made, true, "s" + std::to_string(call_number), current()});
  answer(r, r ? handle_name(streams, made) : "made");
}
static void stream_destroy() {
  let_work_end();
  Named* one = some(streams);
  CUstream stream = chance(20) || !one ? (CUstream)below(3) : (CUstream)one->handle;
  say("cuStreamDestroy(" + stream_name(stream) + ")");
  CUresult r = cuStreamDestroy(stream);
  if (r == CUDA_SUCCESS && one && one->handle == stream) one->live = false;
  answer(r);
}
static void stream_question() {
  CUstream stream = some_stream();
  int form = below(7);
  std::string name = stream_name(stream);
  if (form == 0) {
    say("cuStreamSynchronize(" + name + ")");
    answer(cuStreamSynchronize(stream));
  }
  // Whether work is over is chance on a GPU: it is asked after waiting.
  if (form == 1) {
    if (cuStreamSynchronize(stream) == CUDA_SUCCESS) {
      say("cuStreamQuery(" + name + ")");
      answer(cuStreamQuery(stream));
    }
  }
  if (form == 2) {
    u32 flags = (u32)UNTOUCHED;
    say("cuStreamGetFlags(" + name + ")");
    CUresult r = cuStreamGetFlags(stream, &flags);
    answer(r, out32(flags));
  }
  if (form == 3) {
    int priority = (int)UNTOUCHED;
    say("cuStreamGetPriority(" + name + ")");
    CUresult r = cuStreamGetPriority(stream, &priority);
    answer(r, std::to_string(priority));
  }
  if (form == 4) {
    CUcontext context = (CUcontext)UNTOUCHED;
    say("cuStreamGetCtx(" + name + ")");
    CUresult r = cuStreamGetCtx(stream, &context);
    answer(r, context_name(context));
  }
  if (form == 5) {
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    say("cuStreamIsCapturing(" + name + ")");
    CUresult r = cuStreamIsCapturing(stream, &status);
    answer(r, number(status));
  }
  if (form == 6) {
    Named* event = some(events);
    if (!event) return;
    u32 flags = one_of<u32>({0, 0, 0, 1, 2, 7});
    say("cuStreamWaitEvent(" + name + ", " + event->name + ", " + number(flags) + ")");
    answer(cuStreamWaitEvent(stream, (CUevent)event->handle, flags));
  }
}
static void event_create() {
  CUevent made = (CUevent)UNTOUCHED;
  u32 flags = below(10);
  say("cuEventCreate(" + number(flags) + ")");
  CUresult r = cuEventCreate(&made, flags);
  if (r == CUDA_SUCCESS)
    events.push_back({made, true, "e" + std::to_string(call_number), current()});
  answer(r, r ? handle_name(events, made) : "made");
}
static void event_use() {
  Named* event = some(events);
  if (!event) return event_create();
  CUevent e = (CUevent)event->handle;
  CUstream stream = some_stream();
  int form = below(6);
  if (form == 0) {
    say("cuEventRecord(" + event->name + ", " + stream_name(stream) + ")");
    answer(cuEventRecord(e, stream));
  }
  if (form == 1) {
    u32 flags = below(4);
    say("cuEventRecordWithFlags(" + event->name + ", " + stream_name(stream) + ", " +
        number(flags) + ")");
    answer(cuEventRecordWithFlags(e, stream, flags));
  }
  if (form == 2) {
    say("cuEventSynchronize(" + event->name + ")");
    answer(cuEventSynchronize(e));
  }
  if (form == 3) {
    if (cuEventSynchronize(e) == CUDA_SUCCESS) {
      say("cuEventQuery(" + event->name + ")");
      answer(cuEventQuery(e));
    }
  }
  if (form == 4) {
    Named* other = some(events);
    CUevent o = (CUevent)other->handle;
    cuEventSynchronize(e);
    cuEventSynchronize(o);
    float ms = 0;
    say("cuEventElapsedTime(" + event->name + ", " + other->name + ")");
    answer(cuEventElapsedTime(&ms, e, o));
  }
  if (form == 5) {
    say("cuEventDestroy(" + event->name + ")");
    CUresult r = cuEventDestroy(e);
    if (r == CUDA_SUCCESS) event->live = false;
    answer(r);
  }
}
static void pool_use() {
  CUmemoryPool pool = nullptr;
  cuDeviceGetDefaultMemPool(&pool, device);
  int form = below(4);
  if (form == 0) {
    CUdeviceptr at = UNTOUCHED;
    u64 size = some_size();
    CUstream s = some_stream();
    say("cuMemAllocFromPoolAsync(" + number(size) + ", " + stream_name(s) + ")");
    CUresult r = cuMemAllocFromPoolAsync(&at, size, pool, s);
    if (!r) {
      made(POOL, at, size);
      let_work_end();
    }
    answer(r, r ? address(at) : "made");
  }
  if (form == 1) {
    u64 value[2] = {UNTOUCHED, UNTOUCHED};
    int a = one_of<int>({0, 1, 2, 3, 4, 99});
    say("cuMemPoolGetAttribute(" + number(a) + ")");
    CUresult r = cuMemPoolGetAttribute(pool, (CUmemPool_attribute)a, value);
    answer(r, a <= 3 ? out32((u32)value[0]) : out(value[0]));
  }
  if (form == 2) {
    u64 value = one_of<u64>({0, 1 << 20});
    say("cuMemPoolSetAttribute(4, " + number(value) + ")");
    answer(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  }
  if (form == 3) {
    say("cuMemPoolTrimTo(0)");
    answer(cuMemPoolTrimTo(pool, 0));
  }
}
static void ipc_use() {
  u64 at = some_address();
  CUipcMemHandle handle;
  memset(&handle, 0, sizeof handle);
  if (chance(60)) {
    say("cuIpcGetMemHandle(" + given(at) + ")");
    CUresult r = cuIpcGetMemHandle(&handle, at);
    bool zero = true;
    for (char byte : handle.reserved) zero &= byte == 0;
    answer(r, zero ? "-" : "made");
    return;
  }
  if (chance(50)) {
    say("cuIpcCloseMemHandle(" + given(at) + ")");
    answer(cuIpcCloseMemHandle(at));
    return;
  }
  CUdeviceptr found = UNTOUCHED;
  u32 flags = below(3);
  say("cuIpcOpenMemHandle(zeros, " + number(flags) + ")");
  CUresult r = cuIpcOpenMemHandle(&found, handle, flags);
  answer(r, address(found));
}
static void error_text() {
  int code =
      one_of<int>({0, 1, 2, 3, 4, 100, 101, 201, 400, 401, 600, 700, 712, 801, 900, 999, 5000, -1});
  const char* found = (const char*)UNTOUCHED;
  bool name = chance(50);
  say(std::string(name ? "cuGetErrorName(" : "cuGetErrorString(") + std::to_string(code) + ")");
  CUresult r =
      name ? cuGetErrorName((CUresult)code, &found) : cuGetErrorString((CUresult)code, &found);
  answer(r, (u64)found == UNTOUCHED ? "-" : found ? found : "null");
}
static const char* PTX =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing(.param .u64 a){ ret; "
    "}\n";
static void module_load() {
  CUmodule module = (CUmodule)UNTOUCHED;
  say("cuModuleLoadData(PTX)");
  CUresult r = cuModuleLoadData(&module, PTX);
  if (!r) modules.push_back({module, true, "l" + std::to_string(call_number), current()});
  answer(r, r ? ((u64)module == UNTOUCHED ? "-" : "some") : "made");
}
static void module_use() {
  Named* module = some(modules);
  if (!module) return module_load();
  int form = below(4);
  if (form == 0) {
    CUfunction f = (CUfunction)UNTOUCHED;
    bool known = chance(70);
    say("cuModuleGetFunction(" + module->name + (known ? ", nothing)" : ", unknown)"));
    CUresult r = cuModuleGetFunction(&f, (CUmodule)module->handle, known ? "nothing" : "unknown");
    if (!r)
      functions.push_back(
          {f, true, "f" + std::to_string(call_number) + "/" + module->name, module->context});
    answer(r, r ? ((u64)f == UNTOUCHED ? "-" : f ? "some" : "0") : "made");
    return;
  }
  Named* function = some(functions);
  if (form == 1 && !function) {
    say("cuModuleUnload(" + module->name + ")");
    CUresult r = cuModuleUnload((CUmodule)module->handle);
    if (!r) module->live = false;
    answer(r);
    return;
  }
  if (!function) return;
  CUstream s = some_stream();
  u32 grid = one_of<u32>({1, 1, 1, 0, 65536}), block = one_of<u32>({1, 1, 32, 0, 1025}),
      shared = one_of<u32>({0, 0, 1024, 1 << 20});
  u64 zero = 0;
  void* arguments[] = {&zero};
  say("cuLaunchKernel(" + function->name + ", " + number(grid) + ", " + number(block) + ", " +
      number(shared) + ", " + stream_name(s) + ")");
  answer(cuLaunchKernel((CUfunction)function->handle, grid, 1, 1, block, 1, 1, shared, s, arguments,
                        nullptr));
}

/// A call and how often it is made, beside the others.
struct Weighted {
  int weight;
  void (*make)();
};

#include "further_calls.h"

/// The sequences from this number on make FURTHER_CALLS too.
static const long FURTHER_FROM = 10000000;
/// The weights of the first entries of CALLS, which allocate.
static const int ALLOCATIONS = 31;
static const Weighted CALLS[] = {{10, alloc},
                                 {5, alloc_managed},
                                 {2, alloc_pitch},
                                 {6, alloc_async},
                                 {6, host_alloc},
                                 {2, alloc_host},
                                 {10, free_device},
                                 {4, free_async},
                                 {5, free_host},
                                 {6, host_register},
                                 {5, host_unregister},
                                 {5, host_pointer},
                                 {5, host_flags},
                                 {6, address_range},
                                 {2, memory_info},
                                 {12, pointer_attribute},
                                 {5, pointer_attributes},
                                 {2, pointer_set},
                                 {12, copy},
                                 {8, fill},
                                 {12, context_change},
                                 {5, context_question},
                                 {4, device_question},
                                 {5, stream_create},
                                 {3, stream_destroy},
                                 {8, stream_question},
                                 {4, event_create},
                                 {8, event_use},
                                 {4, pool_use},
                                 {3, ipc_use},
                                 {2, error_text},
                                 {1, module_load},
                                 {4, module_use}};

// ---- a sequence --------------------------------------------------------------------------------

static void clean_up() {
  cuCtxSetCurrent(contexts[0]);
  for (CUcontext context : contexts) {
    cuCtxPushCurrent(context);
    cuCtxSynchronize();
    CUcontext gone;
    cuCtxPopCurrent(&gone);
  }
  for (Memory& one : memory) {
    if (!one.live) continue;
    if (one.kind == PINNED)
      cuMemFreeHost((void*)one.at);
    else if (one.kind == REGISTERED)
      cuMemHostUnregister((void*)one.at);
    else
      cuMemFree(one.at);
  }
  for (Named& one : streams)
    if (one.live) cuStreamDestroy((CUstream)one.handle);
  for (Named& one : events)
    if (one.live) cuEventDestroy((CUevent)one.handle);
  for (Named& one : modules)
    if (one.live) {
      cuCtxPushCurrent(one.context);
      cuModuleUnload((CUmodule)one.handle);
      CUcontext gone;
      cuCtxPopCurrent(&gone);
    }
  end_further();
  CUmemoryPool pool;
  u64 zero = 0;
  if (cuDeviceGetDefaultMemPool(&pool, device) == CUDA_SUCCESS) {
    cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &zero);
    cuMemPoolTrimTo(pool, 0);
  }
  CUcontext gone;
  while (cuCtxPopCurrent(&gone) == CUDA_SUCCESS) {
  }
  memory.clear();
  streams.clear();
  events.clear();
  modules.clear();
  functions.clear();
}

template <size_t COUNT>
static int total_weight(const Weighted (&calls)[COUNT]) {
  int total = 0;
  for (const Weighted& one : calls) total += one.weight;
  return total;
}
/// Makes one of the calls whose weights are the first `limit`.
template <size_t COUNT>
static void make_one_of(const Weighted (&calls)[COUNT], int limit) {
  int pick = (int)below(limit);
  for (const Weighted& one : calls)
    if ((pick -= one.weight) < 0) return one.make();
}

static void sequence(long seed) {
  random_state = 0x243f6a8885a308d3ull ^ (u64)seed * 0x9e3779b97f4a7c15ull;
  text.clear();
  call_number = 0;
  progress[0] = seed;
  progress[1] = 0;
  if (chance(85)) cuCtxSetCurrent(contexts[below(3)]);
  while (call_number < LENGTH) {
    // A sequence begins with some memory, so that the calls behind it have something to look at.
    bool allocates = call_number < 8 && chance(50);
    if (seed >= FURTHER_FROM && !allocates && chance(60))
      make_one_of(FURTHER_CALLS, total_weight(FURTHER_CALLS));
    else
      make_one_of(CALLS, allocates ? ALLOCATIONS : total_weight(CALLS));
  }
  clean_up();
}

static u64 hash(const std::string& what) {
  u64 value = 0xcbf29ce484222325ull;
  for (unsigned char byte : what) value = (value ^ byte) * 0x100000001b3ull;
  return value;
}

static std::map<long, u64> expected;
static void report(long seed, const std::string& mode, const std::string& what) {
  if (mode == "hash") {
    printf("%ld %016llx\n", seed, hash(what));
    return;
  }
  if (mode == "unlike") {
    auto found = expected.find(seed);
    if (found != expected.end() && found->second == hash(what)) {
      printf("%ld equal\n", seed);
      return;
    }
  }
  size_t begin = 0;
  while (begin < what.size()) {
    size_t end = what.find('\n', begin);
    printf("%ld.%s\n", seed, what.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
}

/// What the sequence did until a call ended the process.
static void crashed(int signal) {
  report(progress[0], "full", text + "\n");
  printf("%ld.%d ended by signal %d\n", progress[0], call_number, signal);
  fflush(stdout);
  _exit(FRESH_PROCESS);
}

/// Whether an error stays in a context, so that every later call answers it.
static bool broken() {
  for (CUcontext context : contexts) {
    if (cuCtxPushCurrent(context) != CUDA_SUCCESS) return true;
    CUresult result = cuCtxSynchronize();
    CUcontext gone;
    if (cuCtxPopCurrent(&gone) != CUDA_SUCCESS || result != CUDA_SUCCESS) return true;
  }
  return false;
}

/// Memory of each context that no call of a sequence names.
static void keep_memory() {
  for (CUcontext context : contexts) {
    CUdeviceptr kept;
    CUcontext gone;
    cuCtxPushCurrent(context);
    cuMemAlloc(&kept, 1024);
    cuMemAllocManaged(&kept, 1024, CU_MEM_ATTACH_GLOBAL);
    cuCtxPopCurrent(&gone);
  }
}

static void child(long first, long end, const std::string& mode) {
  // Who ends the program ends the sequence that runs.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  pages =
      (char*)mmap(nullptr, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 1, PAGES_BYTES);
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&contexts[0], device) ||
      cuCtxCreate(&contexts[1], nullptr, 0, device) ||
      cuCtxCreate(&contexts[2], nullptr, 0, device)) {
    fprintf(stderr, "sequences: the driver cannot be started\n");
    _exit(1);
  }
  CUcontext gone;
  while (cuCtxPopCurrent(&gone) == CUDA_SUCCESS) {
  }
  if (quick) keep_memory();
  for (long seed = first; seed < end; seed++) {
    sequence(seed);
    report(seed, mode, text);
    fflush(stdout);
    if (broken()) _exit(FRESH_PROCESS);
  }
  _exit(0);
}

int main(int count, char** arguments) {
  std::string mode = count > 3 ? arguments[3] : "";
  if (count < 4 || (mode != "full" && mode != "hash" && mode != "unlike") ||
      (mode == "unlike" && count < 5)) {
    fprintf(stderr, "usage: sequences FIRST COUNT full|hash|unlike [FILE]\n");
    return 2;
  }
  long first = atol(arguments[1]), end = first + atol(arguments[2]);
  if (mode == "unlike") {
    FILE* file = fopen(arguments[4], "r");
    long seed;
    u64 value;
    if (!file) {
      perror(arguments[4]);
      return 2;
    }
    while (fscanf(file, "%ld %llx", &seed, &value) == 2) expected[seed] = value;
    fclose(file);
  }
  progress = (volatile long*)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                  -1, 0);
  for (long next = first; next < end;) {
    long until = next + SHARED < end ? next + SHARED : end;
    fflush(stdout);
    progress[0] = next;
    pid_t pid = fork();
    if (pid == 0) child(next, until, mode);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      next = until;
      continue;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != FRESH_PROCESS) return 1;
    if (WIFSIGNALED(status))
      printf("%ld.%ld ended by signal %d\n", progress[0], progress[1], WTERMSIG(status));
    next = progress[0] + 1;
  }
}
