/* A memory manager for hosts of allocert_emm.h: one allocation of the driver for each request. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "allocert_emm.h"

/* The functions of the CUDA driver that are used, as cuda.h declares them. */
static struct {
  int (*device_get_count)(int *count);
  int (*mem_alloc)(uint64_t *pointer, size_t size_bytes);
  int (*mem_free)(uint64_t pointer);
  int (*mem_get_info)(size_t *free_bytes, size_t *total_bytes);
} cuda;
enum { CUDA_OUT_OF_MEMORY = 2 };

struct block {
  struct block *next;
  uint64_t token;
  uint64_t device_pointer;
};

struct allocert_emm_manager {
  pthread_mutex_t lock; /* never held while the driver is called */
  struct block *live;
  struct block *released; /* between defer_begin() and defer_end() */
  uint64_t next_token;
  uint64_t first_token; /* tokens below are from before the last reset() */
  unsigned deferring;
};

static _Thread_local char error_text[256];

static allocert_emm_status fail(allocert_emm_status status, const char *call, const char *why) {
  snprintf(error_text, sizeof error_text, "%s: %s", call, why);
  return status;
}

static allocert_emm_status driver_failed(const char *call, const char *function, int code) {
  char why[128];
  snprintf(why, sizeof why, "%s failed with %d", function, code);
  return fail(code == CUDA_OUT_OF_MEMORY ? ALLOCERT_EMM_OUT_OF_MEMORY : ALLOCERT_EMM_DRIVER_ERROR,
              call, why);
}

static void load_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return;
  *(void **)&cuda.device_get_count = dlsym(library, "cuDeviceGetCount");
  *(void **)&cuda.mem_alloc = dlsym(library, "cuMemAlloc_v2");
  *(void **)&cuda.mem_free = dlsym(library, "cuMemFree_v2");
  *(void **)&cuda.mem_get_info = dlsym(library, "cuMemGetInfo_v2");
}

/* Frees the blocks of a list that no other thread sees. Returns the driver's last error, or 0. */
static int free_all(struct block *blocks) {
  int failed = 0;
  while (blocks != NULL) {
    struct block *block = blocks;
    blocks = block->next;
    int code = cuda.mem_free(block->device_pointer);
    if (code != 0)
      failed = code;
    free(block);
  }
  return failed;
}

static allocert_emm_status create(void *context, int32_t device, allocert_emm_manager **out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  int count = 0;
  if (context == NULL || out == NULL)
    return fail(ALLOCERT_EMM_INVALID_VALUE, "create", "an argument is NULL");
  pthread_once(&once, load_driver);
  if (!cuda.device_get_count || !cuda.mem_alloc || !cuda.mem_free || !cuda.mem_get_info)
    return fail(ALLOCERT_EMM_DRIVER_ERROR, "create", "there is no libcuda.so.1");
  int code = cuda.device_get_count(&count);
  if (code != 0)
    return driver_failed("create", "cuDeviceGetCount", code);
  if (device < 0 || device >= count)
    return fail(ALLOCERT_EMM_INVALID_VALUE, "create", "there is no such device");
  allocert_emm_manager *manager = calloc(1, sizeof *manager);
  if (manager == NULL)
    return fail(ALLOCERT_EMM_OUT_OF_MEMORY, "create", "the host has no memory");
  pthread_mutex_init(&manager->lock, NULL);
  manager->next_token = manager->first_token = 1;
  *out = manager;
  return ALLOCERT_EMM_OK;
}

static allocert_emm_status initialize(allocert_emm_manager *manager) {
  (void)manager;
  return ALLOCERT_EMM_OK;
}

static allocert_emm_status memalloc(allocert_emm_manager *manager, uint64_t size_bytes,
                                    allocert_emm_memory *out) {
  if (out == NULL || out->size < sizeof *out)
    return fail(ALLOCERT_EMM_INVALID_VALUE, "memalloc", "the result structure is too small");
  struct block *block = malloc(sizeof *block);
  if (block == NULL)
    return fail(ALLOCERT_EMM_OUT_OF_MEMORY, "memalloc", "the host has no memory");
  /* The driver refuses 0 bytes, and such an allocation needs an address of its own. */
  int code = cuda.mem_alloc(&block->device_pointer, size_bytes ? (size_t)size_bytes : 1);
  if (code != 0) {
    free(block);
    return driver_failed("memalloc", "cuMemAlloc_v2", code);
  }
  pthread_mutex_lock(&manager->lock);
  block->token = manager->next_token++;
  block->next = manager->live;
  manager->live = block;
  /* Another thread may release the block as soon as the lock is free. */
  out->kind = ALLOCERT_EMM_KIND_DEVICE;
  out->reserved = 0;
  out->device_pointer = block->device_pointer;
  out->host_pointer = NULL;
  out->size_bytes = size_bytes;
  out->token = block->token;
  pthread_mutex_unlock(&manager->lock);
  return ALLOCERT_EMM_OK;
}

static allocert_emm_status release(allocert_emm_manager *manager, uint64_t token) {
  struct block *freed = NULL;
  pthread_mutex_lock(&manager->lock);
  int is_old = token != 0 && token < manager->first_token;
  struct block **place = &manager->live;
  while (*place != NULL && (*place)->token != token)
    place = &(*place)->next;
  struct block *block = *place;
  if (block != NULL) {
    *place = block->next;
    struct block **list = manager->deferring ? &manager->released : &freed;
    block->next = *list;
    *list = block;
  }
  pthread_mutex_unlock(&manager->lock);
  if (block == NULL && !is_old)
    return fail(ALLOCERT_EMM_INVALID_VALUE, "release", "the token is not live");
  int code = free_all(freed);
  return code == 0 ? ALLOCERT_EMM_OK : driver_failed("release", "cuMemFree_v2", code);
}

static allocert_emm_status get_memory_info(allocert_emm_manager *manager,
                                           allocert_emm_memory_info *out) {
  (void)manager;
  size_t free_bytes, total_bytes;
  if (out == NULL || out->size < sizeof *out)
    return fail(ALLOCERT_EMM_INVALID_VALUE, "get_memory_info", "the structure is too small");
  int code = cuda.mem_get_info(&free_bytes, &total_bytes);
  if (code != 0)
    return driver_failed("get_memory_info", "cuMemGetInfo_v2", code);
  out->free_bytes = free_bytes;
  out->total_bytes = total_bytes;
  return ALLOCERT_EMM_OK;
}

/* What the driver cannot free belonged to a context that is gone. */
static allocert_emm_status reset(allocert_emm_manager *manager) {
  pthread_mutex_lock(&manager->lock);
  struct block *live = manager->live, *released = manager->released;
  manager->live = manager->released = NULL;
  manager->first_token = manager->next_token;
  pthread_mutex_unlock(&manager->lock);
  free_all(live);
  free_all(released);
  return ALLOCERT_EMM_OK;
}

static void destroy(allocert_emm_manager *manager) {
  if (manager == NULL)
    return;
  reset(manager);
  pthread_mutex_destroy(&manager->lock);
  free(manager);
}

static allocert_emm_status defer_begin(allocert_emm_manager *manager) {
  pthread_mutex_lock(&manager->lock);
  manager->deferring++;
  pthread_mutex_unlock(&manager->lock);
  return ALLOCERT_EMM_OK;
}

static allocert_emm_status defer_end(allocert_emm_manager *manager) {
  struct block *released = NULL;
  pthread_mutex_lock(&manager->lock);
  int has_begun = manager->deferring > 0;
  if (has_begun && --manager->deferring == 0) {
    released = manager->released;
    manager->released = NULL;
  }
  pthread_mutex_unlock(&manager->lock);
  if (!has_begun)
    return fail(ALLOCERT_EMM_STATE, "defer_end", "defer_begin() was not called");
  free_all(released);
  return ALLOCERT_EMM_OK;
}

static const char *last_error(allocert_emm_manager *manager) {
  (void)manager;
  return error_text;
}

const allocert_emm_plugin *allocert_emm_plugin_v1(void) {
  static const allocert_emm_plugin table = {
      .size = sizeof table,
      .interface_version = ALLOCERT_EMM_VERSION,
      .capabilities = ALLOCERT_EMM_CAP_MEMORY_INFO,
      .name = "emm_plugin",
      .version = "0.1.0",
      .create = create,
      .destroy = destroy,
      .initialize = initialize,
      .memalloc = memalloc,
      .release = release,
      .get_memory_info = get_memory_info,
      .reset = reset,
      .defer_begin = defer_begin,
      .defer_end = defer_end,
      .last_error = last_error,
  };
  return &table;
}
