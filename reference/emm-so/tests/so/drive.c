/* A host in C: loads a plugin by its symbol and drives it, with a CUDA driver or without.
 * usage: drive LIBRARY SYMBOL driver|none */
#define _GNU_SOURCE
#include "allocert_emm.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const allocert_emm_plugin *table_ptr;

static table_ptr plugin;
static allocert_emm_manager *manager;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      printf("drive.c:%d: %s; last error: %s\n", __LINE__, #condition,                       \
             plugin ? plugin->last_error(manager) : "");                                     \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

/* POSIX lets a data pointer carry a function; ISO C wants it copied. */
static void find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    printf("no symbol %s\n", name);
    exit(1);
  }
  memcpy(function, &symbol, sizeof symbol);
}

static int (*cuInit)(unsigned);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuCtxSetCurrent)(void *);
static int (*cuMemsetD8)(uint64_t, unsigned char, size_t);
static int (*cuMemcpyDtoH)(void *, uint64_t, size_t);

static void *make_context(void) {
  void *context = NULL;
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  CHECK(cuda != NULL);
  find(cuda, "cuInit", &cuInit);
  find(cuda, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
  find(cuda, "cuCtxSetCurrent", &cuCtxSetCurrent);
  find(cuda, "cuMemsetD8_v2", &cuMemsetD8);
  find(cuda, "cuMemcpyDtoH_v2", &cuMemcpyDtoH);
  CHECK(cuInit(0) == 0);
  CHECK(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  CHECK(cuCtxSetCurrent(context) == 0);
  return context;
}

static allocert_emm_memory empty(void) {
  allocert_emm_memory memory;
  memset(&memory, 0, sizeof memory);
  memory.size = sizeof memory;
  return memory;
}

static void device_memory(void) {
  allocert_emm_memory a = empty(), b = empty(), c = empty();
  unsigned char back[1000];
  CHECK(plugin->memalloc(manager, 1000, &a) == ALLOCERT_EMM_OK);
  CHECK(plugin->memalloc(manager, 0, &b) == ALLOCERT_EMM_OK);
  CHECK(a.kind == ALLOCERT_EMM_KIND_DEVICE && a.host_pointer == NULL && a.size_bytes == 1000);
  CHECK(a.device_pointer % 256 == 0 && b.device_pointer % 256 == 0);
  CHECK(a.device_pointer != b.device_pointer && a.token != 0 && b.token != 0 && a.token != b.token);
  CHECK(cuMemsetD8(a.device_pointer, 0x5a, 1000) == 0);
  CHECK(cuMemcpyDtoH(back, a.device_pointer, 1000) == 0);
  CHECK(back[0] == 0x5a && back[999] == 0x5a);
  CHECK(plugin->memalloc(manager, UINT64_MAX, &c) == ALLOCERT_EMM_OUT_OF_MEMORY);
  CHECK(c.token == 0 && strstr(plugin->last_error(manager), "memalloc: out of memory") != NULL);
  CHECK(plugin->release(manager, a.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, a.token) == ALLOCERT_EMM_INVALID_VALUE);
  CHECK(plugin->release(manager, b.token) == ALLOCERT_EMM_OK);
}

static void host_memory(void) {
  static char region[8192];
  allocert_emm_memory memory = empty(), pinned = empty();
  CHECK(plugin->memhostalloc(manager, 100, 64, &memory) == ALLOCERT_EMM_INVALID_VALUE);
  CHECK(plugin->memhostalloc(manager, 100, ALLOCERT_EMM_HOST_MAPPED, &memory) == ALLOCERT_EMM_OK);
  CHECK(memory.kind == ALLOCERT_EMM_KIND_MAPPED && memory.device_pointer != 0);
  memset(memory.host_pointer, 1, 100);
  CHECK(plugin->mempin(manager, region, sizeof region, 0, &pinned) == ALLOCERT_EMM_OK);
  CHECK(pinned.kind == ALLOCERT_EMM_KIND_PINNED && pinned.host_pointer == (void *)region);
  CHECK(plugin->release(manager, memory.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, pinned.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->mempin(manager, region, sizeof region, 0, &pinned) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, pinned.token) == ALLOCERT_EMM_OK);
}

static void description(void) {
  allocert_emm_memory memory = empty();
  allocert_emm_memory_info info = {sizeof info, 0, 0};
  allocert_emm_ipc_handle handle;
  int has_memory_info = (plugin->capabilities & ALLOCERT_EMM_CAP_MEMORY_INFO) != 0;
  CHECK(has_memory_info == (plugin->get_memory_info != NULL));
  if (plugin->get_memory_info != NULL) {
    CHECK(plugin->get_memory_info(manager, &info) == ALLOCERT_EMM_OK);
    CHECK(info.free_bytes <= info.total_bytes && info.total_bytes > 0);
  }
  memset(&handle, 0, sizeof handle);
  handle.size = sizeof handle;
  CHECK(plugin->memalloc(manager, 1000, &memory) == ALLOCERT_EMM_OK);
  CHECK(plugin->get_ipc_handle(manager, memory.token, 10, &handle) == ALLOCERT_EMM_OK);
  CHECK(handle.size_bytes == 1000 && handle.offset_bytes >= 10);
  CHECK(plugin->get_ipc_handle(manager, memory.token, 1000, &handle) == ALLOCERT_EMM_INVALID_VALUE);
  CHECK(plugin->release(manager, memory.token) == ALLOCERT_EMM_OK);
}

static void finalizers(void) {
  static char region[4096];
  allocert_emm_memory old = empty(), new = empty(), pinned = empty(), host = empty();
  CHECK(plugin->memalloc(manager, 1000, &old) == ALLOCERT_EMM_OK);
  CHECK(plugin->reset(manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->memalloc(manager, 1000, &new) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, old.token) == ALLOCERT_EMM_OK);
  CHECK(cuMemsetD8(new.device_pointer, 1, 1000) == 0);
  CHECK(plugin->defer_begin(manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->mempin(manager, region, sizeof region, 0, &pinned) == ALLOCERT_EMM_OK);
  CHECK(plugin->memhostalloc(manager, 64, 0, &host) == ALLOCERT_EMM_OK);
  CHECK(cuCtxSetCurrent(NULL) == 0);
  CHECK(plugin->release(manager, new.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, pinned.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->release(manager, host.token) == ALLOCERT_EMM_OK);
  CHECK(plugin->defer_end(manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->defer_end(manager) == ALLOCERT_EMM_STATE);
  CHECK(plugin->reset(manager) == ALLOCERT_EMM_OK);
}

static void with_driver(void) {
  void *context = make_context();
  CHECK(plugin->create(context, 99, &manager) == ALLOCERT_EMM_INVALID_VALUE);
  CHECK(plugin->create(context, 0, &manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->reset(manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->initialize(manager) == ALLOCERT_EMM_OK);
  CHECK(plugin->initialize(manager) == ALLOCERT_EMM_OK);
  device_memory();
  host_memory();
  description();
  finalizers();
  plugin->destroy(manager);
  printf("%s: driven\n", plugin->name);
}

static void without_driver(void) {
  int context = 0;
  CHECK(plugin->create(&context, 0, &manager) == ALLOCERT_EMM_DRIVER_ERROR);
  CHECK(manager == NULL);
  printf("%s: %s\n", plugin->name, plugin->last_error(NULL));
}

int main(int count, char **arguments) {
  table_ptr (*table)(void);
  void *library;
  if (count != 4) {
    return 2;
  }
  library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  find(library, arguments[2], &table);
  plugin = table();
  CHECK(plugin->size == sizeof *plugin && plugin->interface_version == ALLOCERT_EMM_VERSION);
  CHECK(strcmp(plugin->last_error(NULL), "") == 0);
  if (strcmp(arguments[3], "driver") == 0) {
    with_driver();
  } else {
    without_driver();
  }
  return 0;
}
