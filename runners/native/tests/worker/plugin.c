/* Plugins that behave well, badly and very badly, one symbol each. They allocate nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocert_emm.h"

static uint64_t tokens;
static int live;

static allocert_emm_status create(void *context, int32_t device, allocert_emm_manager **out) {
  (void)context;
  (void)device;
  *out = (allocert_emm_manager *)&live;
  return ALLOCERT_EMM_OK;
}
static void destroy(allocert_emm_manager *manager) { (void)manager; }
static allocert_emm_status fine(allocert_emm_manager *manager) {
  (void)manager;
  return ALLOCERT_EMM_OK;
}
static allocert_emm_status memalloc(allocert_emm_manager *manager, uint64_t size_bytes,
                                    allocert_emm_memory *out) {
  (void)manager;
  out->kind = ALLOCERT_EMM_KIND_DEVICE;
  out->reserved = 0;
  out->host_pointer = NULL;
  out->token = ++tokens;
  out->device_pointer = 0x100000 * tokens;
  out->size_bytes = size_bytes;
  live++;
  return ALLOCERT_EMM_OK;
}
static allocert_emm_status release(allocert_emm_manager *manager, uint64_t token) {
  (void)manager;
  (void)token;
  if (live == 0)
    return ALLOCERT_EMM_INVALID_VALUE;
  live--;
  return ALLOCERT_EMM_OK;
}
static const char *last_error(allocert_emm_manager *manager) {
  (void)manager;
  return "release: nothing is live";
}

static allocert_emm_status memalloc_rubbish(allocert_emm_manager *manager, uint64_t size_bytes,
                                            allocert_emm_memory *out) {
  (void)manager;
  (void)size_bytes;
  memset(out, 0x4d, sizeof *out + 64);
  return ALLOCERT_EMM_OK;
}
static allocert_emm_status memalloc_unknown(allocert_emm_manager *manager, uint64_t size_bytes,
                                            allocert_emm_memory *out) {
  (void)manager;
  (void)size_bytes;
  (void)out;
  return 99;
}
static const char *last_error_invalid(allocert_emm_manager *manager) {
  (void)manager;
  return "not \xff utf-8";
}
static const char *last_error_wild(allocert_emm_manager *manager) {
  (void)manager;
  return (const char *)64;
}
static allocert_emm_status memalloc_crash(allocert_emm_manager *manager, uint64_t size_bytes,
                                          allocert_emm_memory *out) {
  (void)manager;
  (void)size_bytes;
  (void)out;
  *(volatile int *)8 = 1;
  return ALLOCERT_EMM_OK;
}
static allocert_emm_status memalloc_forge(allocert_emm_manager *manager, uint64_t size_bytes,
                                          allocert_emm_memory *out) {
  const char forged[] = "{\"done\":{\"id\":\"forged\"}}\n";
  (void)manager;
  (void)size_bytes;
  (void)out;
  for (int descriptor = 0; descriptor < 1024; descriptor++)
    if (write(descriptor, forged, sizeof forged - 1) < 0)
      continue;
  return ALLOCERT_EMM_OUT_OF_MEMORY;
}
static allocert_emm_status memalloc_flood(allocert_emm_manager *manager, uint64_t size_bytes,
                                          allocert_emm_memory *out) {
  char line[1024];
  memset(line, 'x', sizeof line);
  for (int i = 0; i < 1024; i++)
    fwrite(line, sizeof line, 1, stdout);
  return memalloc(manager, size_bytes, out);
}
static allocert_emm_status get_memory_info(allocert_emm_manager *manager,
                                           allocert_emm_memory_info *out) {
  (void)manager;
  memset(out, 0, sizeof *out + 8);
  out->size = 1;
  return ALLOCERT_EMM_OK;
}
static void farewell(void) { puts("farewell"); }
static allocert_emm_status memalloc_farewell(allocert_emm_manager *manager, uint64_t size_bytes,
                                             allocert_emm_memory *out) {
  atexit(farewell);
  return memalloc(manager, size_bytes, out);
}

#define TABLE(symbol, table_size, table_version, table_name, alloc, error) \
  const allocert_emm_plugin *symbol(void) { \
    static const allocert_emm_plugin table = { \
        .size = table_size, \
        .interface_version = table_version, \
        .capabilities = 0, \
        .name = table_name, \
        .version = "1.2", \
        .create = create, \
        .destroy = destroy, \
        .initialize = fine, \
        .memalloc = alloc, \
        .release = release, \
        .reset = fine, \
        .defer_begin = fine, \
        .defer_end = fine, \
        .last_error = error, \
    }; \
    return &table; \
  }

#define WHOLE sizeof(allocert_emm_plugin)
TABLE(allocert_emm_plugin_v1, WHOLE, 1, "tiny", memalloc, last_error)
TABLE(rubbish, WHOLE, 1, NULL, memalloc_rubbish, last_error)
TABLE(unknown, WHOLE, 1, "tiny", memalloc_unknown, last_error_invalid)
TABLE(wild, WHOLE, 1, "tiny", memalloc_unknown, last_error_wild)
TABLE(crash, WHOLE, 1, "tiny", memalloc_crash, last_error)
TABLE(forge, WHOLE, 1, "tiny", memalloc_forge, last_error)
TABLE(flood, WHOLE, 1, "tiny", memalloc_flood, last_error)
TABLE(farewell_at_exit, WHOLE, 1, "tiny", memalloc_farewell, last_error)
TABLE(future, WHOLE, 7, "tiny", memalloc_crash, last_error)
TABLE(cut, offsetof(allocert_emm_plugin, release), 1, "tiny", memalloc, last_error)
TABLE(stub, 8, 1, "tiny", memalloc, last_error)
const allocert_emm_plugin *nothing(void) { return NULL; }
/* A new table each time: one capability has no function, and one function writes too much. */
const allocert_emm_plugin *careless(void) {
  allocert_emm_plugin *table = malloc(sizeof *table);
  *table = *allocert_emm_plugin_v1();
  table->capabilities = ALLOCERT_EMM_CAP_MEMORY_INFO | ALLOCERT_EMM_CAP_IPC;
  table->get_memory_info = get_memory_info;
  return table;
}
