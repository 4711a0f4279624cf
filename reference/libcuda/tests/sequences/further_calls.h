// The calls that only the sequences from FURTHER_FROM on make: copies and fills of rows, pools,
// libraries and kernels, attributes of functions, occupancy, and settings of contexts. It is a part
// of sequences.cpp.
#pragma once

static std::vector<Named> libraries, kernels;
static int primary_retained;

// ---- rows --------------------------------------------------------------------------------------

static void fill_rows() {
  Range to = some_range(chance(80) ? on_device : any);
  int bytes = one_of<int>({1, 2, 4});
  bool async = chance(50);
  CUstream stream = some_stream();
  u64 height = one_of<u64>({0, 1, 1, 2, 4}), room = to.size / (height ? height : 1);
  u64 width = chance(80) ? room / bytes : room / bytes / 2, pitch = width * bytes;
  if (chance(20)) pitch = one_of<u64>({0, 1, 3, 64});
  if (height > 1 && pitch * (height - 1) + width * bytes > to.size) height = 1;
  say("cuMemsetD2D" + number(bytes * 8) + (async ? "Async(" : "(") + to.name + ", pitch " +
      number(pitch) + ", " + number(width) + " x " + number(height) +
      (async ? ", " + stream_name(stream) : "") + ")");
  CUresult r;
  if (async)
    r = bytes == 1   ? cuMemsetD2D8Async(to.at, pitch, 1, width, height, stream)
        : bytes == 2 ? cuMemsetD2D16Async(to.at, pitch, 1, width, height, stream)
                     : cuMemsetD2D32Async(to.at, pitch, 1, width, height, stream);
  else
    r = bytes == 1   ? cuMemsetD2D8(to.at, pitch, 1, width, height)
        : bytes == 2 ? cuMemsetD2D16(to.at, pitch, 1, width, height)
                     : cuMemsetD2D32(to.at, pitch, 1, width, height);
  answer(r);
}

/// One side of a copy of rows: what the descriptor says of it.
struct RowSide {
  Range range;
  CUmemorytype type;
};
static RowSide some_row_side() {
  bool host = chance(40);
  RowSide side = {some_range(host ? of_host : on_device),
                  host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE};
  if (chance(20)) side.type = CU_MEMORYTYPE_UNIFIED;
  if (chance(3)) side.type = (CUmemorytype)one_of<int>({0, 99});
  return side;
}
static std::string side_name(const RowSide& side) {
  return side.range.name + " type " + number(side.type);
}
static void copy_rows() {
  RowSide to = some_row_side(), from = some_row_side();
  int form = below(5);
  CUstream stream = some_stream();
  u64 room = std::min(to.range.size, from.range.size);
  u64 height = one_of<u64>({0, 1, 1, 2, 4}), depth = form < 3 ? 1 : one_of<u64>({0, 1, 1, 2});
  u64 rows = (height ? height : 1) * (depth ? depth : 1), width = room / rows;
  u64 pitch = width;
  // A row may be shorter than its pitch; a pitch that is too short is refused.
  if (chance(30)) width /= 2;
  if (chance(10) && width > 1) pitch = width - 1;
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = from.type;
  copy.dstMemoryType = to.type;
  copy.srcDevice = from.range.at;
  copy.dstDevice = to.range.at;
  copy.srcHost = (void*)from.range.at;
  copy.dstHost = (void*)to.range.at;
  copy.srcPitch = copy.dstPitch = pitch;
  copy.srcHeight = copy.dstHeight = height;
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = depth;
  CUDA_MEMCPY2D flat = {};
  flat.srcMemoryType = copy.srcMemoryType;
  flat.dstMemoryType = copy.dstMemoryType;
  flat.srcDevice = copy.srcDevice;
  flat.dstDevice = copy.dstDevice;
  flat.srcHost = copy.srcHost;
  flat.dstHost = copy.dstHost;
  flat.srcPitch = flat.dstPitch = pitch;
  flat.WidthInBytes = width;
  flat.Height = height;
  static const char* const NAMES[] = {"cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync",
                                      "cuMemcpy3D", "cuMemcpy3DAsync"};
  bool async = form == 2 || form == 4;
  say(std::string(NAMES[form]) + "(" + side_name(to) + ", " + side_name(from) + ", pitch " +
      number(pitch) + ", " + number(width) + " x " + number(height) + " x " + number(depth) +
      (async ? ", " + stream_name(stream) : "") + ")");
  answer(form == 0   ? cuMemcpy2D(&flat)
         : form == 1 ? cuMemcpy2DUnaligned(&flat)
         : form == 2 ? cuMemcpy2DAsync(&flat, stream)
         : form == 3 ? cuMemcpy3D(&copy)
                     : cuMemcpy3DAsync(&copy, stream));
}
static void copy_between_contexts() {
  Range to = some_range(on_device), from = some_range(on_device);
  CUcontext of_to = contexts[below(3)], of_from = contexts[below(3)];
  CUstream stream = some_stream();
  u64 size = chance(10) ? 0 : std::min(to.size, from.size);
  bool async = chance(50);
  say(std::string(async ? "cuMemcpyPeerAsync(" : "cuMemcpyPeer(") + to.name + " of " +
      context_name(of_to) + ", " + from.name + " of " + context_name(of_from) + ", " +
      number(size) + (async ? ", " + stream_name(stream) : "") + ")");
  answer(async ? cuMemcpyPeerAsync(to.at, of_to, from.at, of_from, size, stream)
               : cuMemcpyPeer(to.at, of_to, from.at, of_from, size));
}

// ---- managed memory ----------------------------------------------------------------------------

static bool is_managed(const Memory& one) { return one.kind == MANAGED; }
static void managed_hint() {
  Range range = some_range(chance(80) ? is_managed : on_device);
  CUmemLocation location = {};
  location.type = one_of<CUmemLocationType>({CU_MEM_LOCATION_TYPE_DEVICE,
                                             CU_MEM_LOCATION_TYPE_DEVICE,
                                             CU_MEM_LOCATION_TYPE_HOST});
  location.id = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? one_of<int>({0, 0, 0, 9}) : 0;
  std::string where = "location " + number(location.type) + " " + std::to_string(location.id);
  CUstream stream = some_stream();
  int form = below(3);
  if (form == 0) {
    say("cuMemPrefetchAsync(" + range.name + ", " + number(range.size) + ", " + where + ", " +
        stream_name(stream) + ")");
    answer(cuMemPrefetchAsync(range.at, range.size, location, 0, stream));
  }
  if (form == 1) {
    int advice = one_of<int>({1, 2, 3, 4, 5, 6, 99});
    say("cuMemAdvise(" + range.name + ", " + number(range.size) + ", " + number(advice) + ", " +
        where + ")");
    answer(cuMemAdvise(range.at, range.size, (CUmem_advise)advice, location));
  }
  if (form == 2) {
    Memory* one = some_memory(chance(80) ? is_managed : on_device);
    u64 at = one ? one->at : 0, length = one_of<u64>({0, 0, 64});
    // Flags of 0 end the process in NVIDIA's driver.
    u32 flags = one_of<u32>({1, 2, 4, 8});
    say("cuStreamAttachMemAsync(" + stream_name(stream) + ", " + address(at) + ", " +
        number(length) + ", " + number(flags) + ")");
    answer(cuStreamAttachMemAsync(stream, at, length, flags));
  }
}

// ---- pools -------------------------------------------------------------------------------------

static CUmemoryPool default_pool() {
  CUmemoryPool pool = nullptr;
  cuDeviceGetDefaultMemPool(&pool, device);
  return pool;
}
static std::string pool_name(CUmemoryPool pool) {
  return pool == default_pool() ? "default" : handle_name(pools, pool);
}
static CUmemoryPool some_pool() {
  Named* one = chance(70) ? some(pools) : nullptr;
  return one ? (CUmemoryPool)one->handle : default_pool();
}
static void pool_create() {
  CUmemPoolProps props = {};
  props.allocType = chance(90) ? CU_MEM_ALLOCATION_TYPE_PINNED : CU_MEM_ALLOCATION_TYPE_INVALID;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  props.location.id = one_of<int>({0, 0, 0, 0, 9});
  CUmemoryPool made = (CUmemoryPool)UNTOUCHED;
  say("cuMemPoolCreate(type " + number(props.allocType) + ", device " +
      std::to_string(props.location.id) + ")");
  CUresult r = cuMemPoolCreate(&made, &props);
  if (!r) pools.push_back({made, true, "p" + std::to_string(call_number), current()});
  answer(r, r ? ((u64)made == UNTOUCHED ? "-" : "some") : "made");
}
static void further_pool_use() {
  CUmemoryPool pool = some_pool();
  std::string name = pool_name(pool);
  int form = below(9);
  if (form == 0) {
    if (pools.empty()) return pool_create();
    let_work_end();
    say("cuMemPoolDestroy(" + name + ")");
    CUresult r = cuMemPoolDestroy(pool);
    for (Named& one : pools)
      if (!r && one.handle == pool) one.live = false;
    answer(r);
  }
  if (form == 1) {
    u64 value[2] = {UNTOUCHED, UNTOUCHED};
    int a = one_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 99});
    say("cuMemPoolGetAttribute(" + name + ", " + number(a) + ")");
    CUresult r = cuMemPoolGetAttribute(pool, (CUmemPool_attribute)a, value);
    // What the default pool has reserved depends on earlier sequences.
    bool history = a >= 5 && a <= 8;
    answer(r, a <= 3   ? out32((u32)value[0])
              : history ? (value[0] == UNTOUCHED ? "-" : "some")
                        : out(value[0]));
  }
  if (form == 2) {
    int a = one_of<int>({1, 2, 3, 4, 5, 6, 7, 8, 99});
    u64 value = one_of<u64>({0, 1, 2, 1 << 20});
    say("cuMemPoolSetAttribute(" + name + ", " + number(a) + ", " + number(value) + ")");
    answer(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)a, &value));
  }
  if (form == 3) {
    u64 keep = one_of<u64>({0, 1, 64 << 20});
    say("cuMemPoolTrimTo(" + name + ", " + number(keep) + ")");
    answer(cuMemPoolTrimTo(pool, keep));
  }
  if (form == 4) {
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemLocation location = {one_of<CUmemLocationType>({CU_MEM_LOCATION_TYPE_DEVICE,
                                                         CU_MEM_LOCATION_TYPE_DEVICE,
                                                         CU_MEM_LOCATION_TYPE_INVALID}),
                              one_of<int>({0, 0, 9})};
    say("cuMemPoolGetAccess(" + name + ", type " + number(location.type) + ", " +
        std::to_string(location.id) + ")");
    CUresult r = cuMemPoolGetAccess(&flags, pool, &location);
    answer(r, number(flags));
  }
  if (form == 5) {
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, one_of<int>({0, 0, 9})},
                              (CUmemAccess_flags)one_of<int>({3, 3, 0, 1, 2})};
    u64 count = one_of<u64>({1, 1, 1, 0});
    say("cuMemPoolSetAccess(" + name + ", device " + std::to_string(access.location.id) + ", " +
        number(access.flags) + ", count " + number(count) + ")");
    answer(cuMemPoolSetAccess(pool, &access, count));
  }
  if (form == 6) {
    CUmemoryPool found = (CUmemoryPool)UNTOUCHED;
    int d = one_of<int>({0, 0, 9, -1});
    say("cuDeviceGetMemPool(" + std::to_string(d) + ")");
    CUresult r = cuDeviceGetMemPool(&found, d);
    answer(r, (u64)found == UNTOUCHED ? "-" : found ? pool_name(found) : "0");
  }
  if (form == 7) {
    int d = one_of<int>({0, 0, 0, 9});
    say("cuDeviceSetMemPool(" + std::to_string(d) + ", " + name + ")");
    answer(cuDeviceSetMemPool(d, pool));
  }
  if (form == 8) {
    CUdeviceptr at = UNTOUCHED;
    u64 size = some_size();
    CUstream stream = some_stream();
    say("cuMemAllocFromPoolAsync(" + number(size) + ", " + name + ", " + stream_name(stream) +
        ")");
    CUresult r = cuMemAllocFromPoolAsync(&at, size, pool, stream);
    if (!r) {
      made(POOL, at, size);
      let_work_end();
    }
    answer(r, r ? address(at) : "made");
  }
}

// ---- contexts and devices ----------------------------------------------------------------------

static void context_setting() {
  int form = below(8);
  CUcontext context = chance(80) ? contexts[below(3)] : nullptr;
  if (form == 0) {
    unsigned long long id = UNTOUCHED;
    say("cuCtxGetId(" + context_name(context) + ")");
    CUresult r = cuCtxGetId(context, &id);
    answer(r, id == UNTOUCHED ? "-" : "some");
  }
  if (form == 1) {
    CUfunc_cache config = (CUfunc_cache)77;
    say("cuCtxGetCacheConfig()");
    CUresult r = cuCtxGetCacheConfig(&config);
    answer(r, number(config));
  }
  if (form == 2) {
    int config = one_of<int>({0, 1, 2, 3, 9});
    say("cuCtxSetCacheConfig(" + number(config) + ")");
    answer(cuCtxSetCacheConfig((CUfunc_cache)config));
  }
  if (form == 3) {
    u32 flags = one_of<u32>({0, 0, 1});
    say("cuCtxEnablePeerAccess(" + context_name(context) + ", " + number(flags) + ")");
    answer(cuCtxEnablePeerAccess(context, flags));
  }
  if (form == 4) {
    say("cuCtxDisablePeerAccess(" + context_name(context) + ")");
    answer(cuCtxDisablePeerAccess(context));
  }
  if (form == 5) {
    int limit = one_of<int>({0, 3, 5, 7, 8, 9, 10, 99});
    u64 value = limit == 0 ? 1024 : limit == 5 ? one_of<u64>({32, 64, 128}) : 1;
    say("cuCtxSetLimit(" + number(limit) + ", " + number(value) + ")");
    answer(cuCtxSetLimit((CUlimit)limit, value));
  }
  if (form == 6) {
    size_t value = UNTOUCHED;
    int limit = one_of<int>({3, 4, 5, 6, 7, 8, 9, 10});
    say("cuCtxGetLimit(" + number(limit) + ")");
    CUresult r = cuCtxGetLimit(&value, (CUlimit)limit);
    answer(r, out(value));
  }
  if (form == 7) {
    bool retain = chance(50) || primary_retained == 0;
    int d = one_of<int>({0, 0, 0, 9, -1});
    CUcontext found = (CUcontext)UNTOUCHED;
    say(std::string(retain ? "cuDevicePrimaryCtxRetain(" : "cuDevicePrimaryCtxRelease(") +
        std::to_string(d) + ")");
    CUresult r = retain ? cuDevicePrimaryCtxRetain(&found, d) : cuDevicePrimaryCtxRelease(d);
    if (!r) primary_retained += retain ? 1 : -1;
    answer(r, retain ? context_name(found) : "");
  }
}
static void further_device_question() {
  int form = below(8), d = one_of<int>({0, 0, 0, 9, -1});
  if (form == 0) {
    int can = (int)UNTOUCHED, other = one_of<int>({0, 9});
    say("cuDeviceCanAccessPeer(" + std::to_string(d) + ", " + std::to_string(other) + ")");
    CUresult r = cuDeviceCanAccessPeer(&can, d, other);
    answer(r, out32(can));
  }
  if (form == 1) {
    int version = (int)UNTOUCHED;
    say("cuDriverGetVersion()");
    CUresult r = cuDriverGetVersion(&version);
    answer(r, version == (int)UNTOUCHED ? "-" : "some");
  }
  if (form == 2) {
    CUuuid id;
    memset(&id, 0, sizeof id);
    say("cuDeviceGetUuid(" + std::to_string(d) + ")");
    CUresult r = cuDeviceGetUuid(&id, d);
    bool zero = true;
    for (char byte : id.bytes) zero &= byte == 0;
    answer(r, zero ? "-" : "some");
  }
  if (form == 3) {
    char name[32] = "untouched";
    int length = one_of<int>({32, 13, 12, 1, 0, -1});
    say("cuDeviceGetPCIBusId(" + std::to_string(length) + ", " + std::to_string(d) + ")");
    CUresult r = cuDeviceGetPCIBusId(name, length, d);
    answer(r, std::to_string(strlen(name)) + " characters");
  }
  if (form == 4) {
    int major = (int)UNTOUCHED, minor = (int)UNTOUCHED;
    say("cuDeviceComputeCapability(" + std::to_string(d) + ")");
    CUresult r = cuDeviceComputeCapability(&major, &minor, d);
    answer(r, out32(major) + " " + out32(minor));
  }
  if (form == 5) {
    size_t bytes = UNTOUCHED;
    CUmemAllocationProp props = {};
    props.type = one_of<CUmemAllocationType>(
        {CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_ALLOCATION_TYPE_INVALID});
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = one_of<int>({0, 0, 9});
    int option = one_of<int>({0, 1, 9});
    say("cuMemGetAllocationGranularity(type " + number(props.type) + ", device " +
        std::to_string(props.location.id) + ", " + number(option) + ")");
    CUresult r =
        cuMemGetAllocationGranularity(&bytes, &props, (CUmemAllocationGranularity_flags)option);
    answer(r, out(bytes));
  }
  if (form == 6) {
    void* found = (void*)UNTOUCHED;
    const char* name = one_of<const char*>({"cuMemAlloc", "cuMemAllocAsync", "cuNothing", ""});
    int version = one_of<int>({0, 2000, 3020, 11020, 12000, 99000});
    u64 flags = one_of<u64>({0, 1, 2, 4, 8});
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)77;
    say(std::string("cuGetProcAddress(") + name + ", " + number(version) + ", " + number(flags) +
        ")");
    CUresult r = cuGetProcAddress(name, &found, version, flags, &status);
    answer(r, std::string((u64)found == UNTOUCHED ? "-" : found ? "some" : "0") + " status " +
                  number(status));
  }
  if (form == 7) {
    CUstream stream = some_stream();
    bool id = chance(50);
    unsigned long long value = UNTOUCHED;
    CUdevice found = (CUdevice)UNTOUCHED;
    say(std::string(id ? "cuStreamGetId(" : "cuStreamGetDevice(") + stream_name(stream) + ")");
    CUresult r = id ? cuStreamGetId(stream, &value) : cuStreamGetDevice(stream, &found);
    answer(r, id ? (value == UNTOUCHED ? "-" : "some") : out32(found));
  }
}

// ---- libraries, kernels and functions ----------------------------------------------------------

/// Bytes of constants, registers and versions: what the driver's compiler makes of the PTX.
static bool depends_on_compiler(int attribute) {
  return attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ||
         attribute == CU_FUNC_ATTRIBUTE_NUM_REGS || attribute == CU_FUNC_ATTRIBUTE_PTX_VERSION ||
         attribute == CU_FUNC_ATTRIBUTE_BINARY_VERSION;
}
static int asked_attribute() {
  return one_of<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 99});
}
static int set_attribute() { return one_of<int>({8, 8, 9, 9, 0, 10, 14, 15, 99}); }
static int attribute_value() {
  return one_of<int>({0, 1, 100, 1024, 232448, 232449, 1 << 20, -1, -2});
}
/// The answer to a question about an attribute of a kernel or a function.
static void answer_attribute(CUresult result, int attribute, int value) {
  if (!depends_on_compiler(attribute)) return answer(result, out32(value));
  answer(result, value == (int)UNTOUCHED ? "-" : "some");
}
/// Asks about a parameter of a kernel or a function.
template <typename Handle>
static void parameter_info(const char* call, CUresult (*ask)(Handle, size_t, size_t*, size_t*),
                           const Named& of) {
  size_t offset = UNTOUCHED, size = UNTOUCHED;
  u64 index = below(3);
  say(std::string(call) + "(" + of.name + ", " + number(index) + ")");
  CUresult r = ask((Handle)of.handle, index, &offset, &size);
  answer(r, out(offset) + " " + out(size));
}
static void library_use() {
  Named *library = some(libraries), *kernel = some(kernels);
  int form = below(8);
  if (!library || form == 0) {
    CUlibrary made = (CUlibrary)UNTOUCHED;
    say("cuLibraryLoadData(PTX)");
    CUresult r = cuLibraryLoadData(&made, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (!r) libraries.push_back({made, true, "b" + std::to_string(call_number), current()});
    answer(r, r ? ((u64)made == UNTOUCHED ? "-" : "some") : "made");
    return;
  }
  if (form == 1 || !kernel) {
    CUkernel found = (CUkernel)UNTOUCHED;
    bool known = chance(80);
    say("cuLibraryGetKernel(" + library->name + (known ? ", nothing)" : ", unknown)"));
    CUresult r =
        cuLibraryGetKernel(&found, (CUlibrary)library->handle, known ? "nothing" : "unknown");
    if (!r)
      kernels.push_back(
          {found, true, "k" + std::to_string(call_number) + "/" + library->name, current()});
    answer(r, r ? ((u64)found == UNTOUCHED ? "-" : found ? "some" : "0") : "made");
    return;
  }
  CUkernel k = (CUkernel)kernel->handle;
  if (form == 2) {
    CUmodule found = (CUmodule)UNTOUCHED;
    say("cuLibraryGetModule(" + library->name + ")");
    CUresult r = cuLibraryGetModule(&found, (CUlibrary)library->handle);
    answer(r, (u64)found == UNTOUCHED ? "-" : found ? "some" : "0");
  }
  if (form == 3) {
    CUfunction found = (CUfunction)UNTOUCHED;
    say("cuKernelGetFunction(" + kernel->name + ")");
    CUresult r = cuKernelGetFunction(&found, k);
    answer(r, (u64)found == UNTOUCHED ? "-" : found ? "some" : "0");
  }
  if (form == 4) {
    int value = (int)UNTOUCHED, a = asked_attribute();
    int d = one_of<int>({0, 0, 9});
    say("cuKernelGetAttribute(" + number(a) + ", " + kernel->name + ", " + std::to_string(d) + ")");
    CUresult r = cuKernelGetAttribute(&value, (CUfunction_attribute)a, k, d);
    answer_attribute(r, a, value);
  }
  if (form == 5) {
    int a = set_attribute(), value = attribute_value();
    say("cuKernelSetAttribute(" + number(a) + ", " + std::to_string(value) + ", " + kernel->name +
        ", 0)");
    answer(cuKernelSetAttribute((CUfunction_attribute)a, value, k, 0));
  }
  if (form == 6) parameter_info("cuKernelGetParamInfo", cuKernelGetParamInfo, *kernel);
  if (form == 7) {
    CUstream stream = some_stream();
    u64 zero = 0;
    void* arguments[] = {&zero};
    u32 block = one_of<u32>({1, 32, 0, 1025});
    say("cuLaunchKernel(" + kernel->name + ", 1, " + number(block) + ", 0, " +
        stream_name(stream) + ")");
    answer(cuLaunchKernel((CUfunction)k, 1, 1, 1, block, 1, 1, 0, stream, arguments, nullptr));
  }
}
static void function_use() {
  Named* function = some(functions);
  if (!function) return module_use();
  CUfunction f = (CUfunction)function->handle;
  int form = below(8);
  if (form == 0) {
    int value = (int)UNTOUCHED, a = asked_attribute();
    say("cuFuncGetAttribute(" + number(a) + ", " + function->name + ")");
    CUresult r = cuFuncGetAttribute(&value, (CUfunction_attribute)a, f);
    answer_attribute(r, a, value);
  }
  if (form == 1) {
    int a = set_attribute(), value = attribute_value();
    say("cuFuncSetAttribute(" + number(a) + ", " + std::to_string(value) + ", " + function->name +
        ")");
    answer(cuFuncSetAttribute(f, (CUfunction_attribute)a, value));
  }
  if (form == 2) parameter_info("cuFuncGetParamInfo", cuFuncGetParamInfo, *function);
  if (form == 3) {
    int blocks = (int)UNTOUCHED, block = one_of<int>({1, 32, 1024, 1025, 0, -1});
    u64 shared = one_of<u64>({0, 1024, 1 << 20});
    say("cuOccupancyMaxActiveBlocksPerMultiprocessor(" + function->name + ", " +
        std::to_string(block) + ", " + number(shared) + ")");
    CUresult r = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, block, shared);
    answer(r, out32(blocks));
  }
  if (form == 4) {
    int grid = (int)UNTOUCHED, block = (int)UNTOUCHED, limit = one_of<int>({0, 64, 4096, -1});
    say("cuOccupancyMaxPotentialBlockSize(" + function->name + ", " + std::to_string(limit) + ")");
    CUresult r = cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, limit);
    answer(r, out32(grid) + " " + out32(block));
  }
  if (form == 5) {
    CUstream stream = some_stream();
    u64 zero = 0;
    void* arguments[] = {&zero};
    u32 grid = one_of<u32>({1, 2, 0}), block = one_of<u32>({1, 32, 0, 1025});
    bool cooperative = chance(50);
    say(std::string(cooperative ? "cuLaunchCooperativeKernel(" : "cuLaunchKernelEx(") +
        function->name + ", " + number(grid) + ", " + number(block) + ", " + stream_name(stream) +
        ")");
    CUlaunchConfig config = {};
    config.gridDimX = grid;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = block;
    config.hStream = stream;
    answer(cooperative ? cuLaunchCooperativeKernel(f, grid, 1, 1, block, 1, 1, 0, stream, arguments)
                       : cuLaunchKernelEx(&config, f, arguments, nullptr));
  }
  if (form == 6) {
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)77;
    say("cuModuleGetLoadingMode()");
    CUresult r = cuModuleGetLoadingMode(&mode);
    answer(r, mode == 77 ? "-" : "some");
  }
  if (form == 7) {
    Named* module = some(modules);
    CUdeviceptr at = UNTOUCHED;
    size_t bytes = UNTOUCHED;
    if (!module) return module_load();
    say("cuModuleGetGlobal(" + module->name + ", unknown)");
    CUresult r = cuModuleGetGlobal(&at, &bytes, (CUmodule)module->handle, "unknown");
    answer(r, address(at) + " " + out(bytes));
  }
}

static const Weighted FURTHER_CALLS[] = {{6, fill_rows},
                                         {10, copy_rows},
                                         {4, copy_between_contexts},
                                         {5, managed_hint},
                                         {3, pool_create},
                                         {12, further_pool_use},
                                         {8, context_setting},
                                         {6, further_device_question},
                                         {8, library_use},
                                         {8, function_use}};

static void end_further() {
  cuDeviceSetMemPool(device, default_pool());
  for (Named& one : pools)
    if (one.live) cuMemPoolDestroy((CUmemoryPool)one.handle);
  for (Named& one : libraries)
    if (one.live) cuLibraryUnload((CUlibrary)one.handle);
  for (; primary_retained > 0; primary_retained--) cuDevicePrimaryCtxRelease(device);
  CUmemoryPool pool = default_pool();
  u64 on = 1;
  for (int policy : {1, 2, 3}) cuMemPoolSetAttribute(pool, (CUmemPool_attribute)policy, &on);
  for (CUcontext context : contexts) {
    CUcontext gone;
    cuCtxPushCurrent(context);
    cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE);
    cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64);
    cuCtxPopCurrent(&gone);
  }
  pools.clear();
  libraries.clear();
  kernels.clear();
}
