/* A host in C: loads an allocator by its symbol and drives it, with a CUDA driver or without.
 * usage: drive LIBRARY driver|none|limit */
#define _GNU_SOURCE
#include "allocert_place.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const allocert_place_allocator *table;

static const allocert_place cpu = {ALLOCERT_PLACE_CPU, 0};
static const allocert_place cuda = {ALLOCERT_PLACE_CUDA, 0};
static const allocert_place pinned = {ALLOCERT_PLACE_CUDA_PINNED, 0};

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      printf("drive.c:%d: %s; last error: %s\n", __LINE__, #condition,                       \
             table ? table->last_error() : "");                                              \
      fflush(stdout);                                                                        \
      _exit(1);                                                                              \
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

static int (*cuCtxGetCurrent)(void **);
static int (*cuMemsetD8)(uint64_t, unsigned char, size_t);
static int (*cuPointerGetAttribute)(void *, int, uint64_t);

static void *(*torch_malloc)(ssize_t, int, void *);
static void (*torch_free)(void *, ssize_t, int, void *);
static void *(*cupy_malloc)(void *, size_t, int);
static void (*cupy_free)(void *, void *, int);

static void *current(void) {
  void *context = &context;
  CHECK(cuCtxGetCurrent(&context) == 0);
  return context;
}

static size_t used(allocert_place place) {
  size_t bytes = 12345;
  CHECK(table->used(place, &bytes) == ALLOCERT_PLACE_OK);
  return bytes;
}

static void *alloc(allocert_place place, size_t size_bytes) {
  void *block = &block;
  CHECK(table->alloc(place, size_bytes, &block) == ALLOCERT_PLACE_OK);
  return block;
}

static void give(allocert_place place, void *block) {
  CHECK(table->free(place, block) == ALLOCERT_PLACE_OK);
}

static void refused(allocert_place place, void *block) {
  size_t before = used(place);
  CHECK(table->free(place, block) == ALLOCERT_PLACE_INVALID_VALUE);
  CHECK(strstr(table->last_error(), "free at ") == table->last_error());
  CHECK(used(place) == before);
}

/* What holds at each place. */
static void blocks(allocert_place place, allocert_place other, size_t alignment) {
  size_t sizes[] = {1, 31, 4096, 100000, 3 << 20, 40 << 20};
  size_t count = sizeof sizes / sizeof *sizes, at, before = used(place), elsewhere = used(other);
  size_t sum = 0, released = 0;
  void *given[sizeof sizes / sizeof *sizes], *unwritten = &sum;
  CHECK(alloc(place, 0) == NULL && used(place) == before);
  give(place, NULL);
  for (at = 0; at < count; at++) {
    given[at] = alloc(place, sizes[at]);
    sum += sizes[at];
    CHECK((uintptr_t)given[at] % alignment == 0 && used(place) == before + sum);
  }
  CHECK(table->alloc(place, SIZE_MAX, &unwritten) == ALLOCERT_PLACE_OUT_OF_MEMORY);
  CHECK(strstr(table->last_error(), "out of memory") != NULL);
  CHECK(unwritten == &sum && used(place) == before + sum);
  refused(place, (char *)given[2] + 64);
  refused(place, (char *)given[2] + 1);
  refused(place, &sum);
  refused(other, given[3]);
  CHECK(used(other) == elsewhere);
  for (at = 0; at < count; at++) {
    give(place, given[at]);
    refused(place, given[at]);
  }
  CHECK(used(place) == before);
  CHECK(table->release(place, &released) == ALLOCERT_PLACE_OK && released >= 40 << 20);
  CHECK(table->release(place, &released) == ALLOCERT_PLACE_OK && released == 0);
  give(place, alloc(place, 5000));
}

/* Who writes behind a block of the host is found, and the block stays taken. */
static void overrun(allocert_place place) {
  size_t sizes[] = {1, 64, 100, 5000, 3 << 20}, at;
  for (at = 0; at < sizeof sizes / sizeof *sizes; at++) {
    char *block = alloc(place, sizes[at]), kept;
    size_t before = used(place);
    memset(block, 0x5a, sizes[at]);
    kept = block[sizes[at]];
    block[sizes[at]] = (char)(kept + 1);
    CHECK(table->free(place, block) == ALLOCERT_PLACE_CORRUPTED && used(place) == before);
    CHECK(table->free(place, block) == ALLOCERT_PLACE_CORRUPTED && used(place) == before);
    block[sizes[at]] = kept;
    CHECK(block[0] == 0x5a && block[sizes[at] - 1] == 0x5a);
    give(place, block);
  }
}

static void *swap_blocks(void *slots_of_all) {
  void **slots = slots_of_all;
  unsigned random = (unsigned)(uintptr_t)&slots;
  int round;
  for (round = 0; round < 20000; round++) {
    void *old;
    random = random * 1664525u + 1013904223u;
    old = __atomic_exchange_n(&slots[random >> 26], alloc(cpu, (random >> 8) % 9000 + 1),
                              __ATOMIC_ACQ_REL);
    give(cpu, old);
  }
  return NULL;
}

/* Children of a process whose threads are in the middle of their calls. */
static void forks(int with_driver) {
  static void *slots[64];
  void *device = with_driver ? alloc(cuda, 1000) : NULL;
  size_t before = used(cpu), at;
  pthread_t threads[3];
  int child;
  for (at = 0; at < 3; at++) {
    CHECK(pthread_create(&threads[at], NULL, swap_blocks, slots) == 0);
  }
  for (child = 0; child < 30; child++) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
      size_t released;
      void *block = alloc(cpu, 70000), *none = NULL;
      memset(block, 1, 70000);
      give(cpu, block);
      for (at = 0; at < 64; at++) {
        give(cpu, __atomic_exchange_n(&slots[at], NULL, __ATOMIC_ACQ_REL));
      }
      CHECK(table->release(cpu, &released) == ALLOCERT_PLACE_OK);
      CHECK(pthread_create(&threads[0], NULL, swap_blocks, slots) == 0);
      CHECK(pthread_join(threads[0], NULL) == 0);
      CHECK(table->alloc(cuda, 10, &none) == ALLOCERT_PLACE_DRIVER_ERROR && none == NULL);
      if (with_driver) {
        CHECK(strstr(table->last_error(), "forked") != NULL && used(cuda) == 1000);
        give(cuda, device);
        CHECK(table->release(cuda, &released) == ALLOCERT_PLACE_OK && released == 0);
      }
      exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
  }
  for (at = 0; at < 3; at++) {
    CHECK(pthread_join(threads[at], NULL) == 0);
  }
  for (at = 0; at < 64; at++) {
    give(cpu, slots[at]);
  }
  CHECK(used(cpu) == before);
  if (with_driver) {
    give(cuda, device);
  }
}

static void unknown_places(void) {
  allocert_place unknown[] = {{3, 0}, {-1, 0}, {0, 1}, {2, 1}, {1, -1}, {1, 7}, {1, 1 << 20}};
  size_t at, bytes = 7;
  void *block = &bytes;
  for (at = 0; at < sizeof unknown / sizeof *unknown; at++) {
    CHECK(table->alloc(unknown[at], 10, &block) == ALLOCERT_PLACE_NO_PLACE);
    CHECK(table->alloc(unknown[at], 0, &block) == ALLOCERT_PLACE_NO_PLACE);
    CHECK(table->free(unknown[at], &bytes) == ALLOCERT_PLACE_NO_PLACE);
    CHECK(table->used(unknown[at], &bytes) == ALLOCERT_PLACE_NO_PLACE);
    CHECK(table->release(unknown[at], &bytes) == ALLOCERT_PLACE_NO_PLACE);
    CHECK(bytes == 7 && block == &bytes);
  }
}

/* What PyTorch calls: a freed block stays with its stream until the device has done its work. */
static void streams(void) {
  void *one = (void *)0x1000, *two = (void *)0x2000, *first, *second;
  size_t before = used(cuda), released = 0;
  CHECK(torch_malloc(0, 0, one) == NULL && torch_malloc(-1, 0, one) == NULL);
  CHECK(torch_malloc(10, 99, one) == NULL);
  torch_free(NULL, 0, 0, one);
  first = torch_malloc(1000, 0, one);
  CHECK(first != NULL && used(cuda) == before + 1000);
  torch_free(first, 1000, 0, one);
  torch_free(first, 1000, 0, one);
  refused(cuda, first);
  second = torch_malloc(1000, 0, two);
  CHECK(second != first && torch_malloc(1000, 0, one) == first && used(cuda) == before + 2000);
  torch_free(first, 1000, 0, one);
  torch_free(second, 1000, 0, two);
  CHECK(used(cuda) == before && current() == NULL);
  CHECK(table->release(cuda, &released) == ALLOCERT_PLACE_OK && released >= 32 << 20);
}

/* What CuPy calls: a freed block stays away until the device has done its work. */
static void any_stream(void) {
  void *first, *second, *third;
  size_t before = used(cuda), released = 0;
  CHECK(cupy_malloc(NULL, 0, 0) == NULL && cupy_malloc(NULL, 10, 99) == NULL);
  CHECK(cupy_malloc(NULL, SIZE_MAX, 0) == NULL);
  cupy_free(NULL, NULL, 0);
  first = cupy_malloc(NULL, 1000, 0);
  CHECK(first != NULL && used(cuda) == before + 1000);
  cupy_free(NULL, first, 0);
  cupy_free(NULL, first, 0);
  refused(cuda, first);
  second = cupy_malloc(NULL, 1000, 0);
  third = torch_malloc(1000, 0, NULL);
  CHECK(second != first && third != first && used(cuda) == before + 2000);
  cupy_free(NULL, second, 0);
  torch_free(third, 1000, 0, NULL);
  CHECK(current() == NULL && table->release(cuda, &released) == ALLOCERT_PLACE_OK);
}

static void with_driver(void *libcuda) {
  void *block;
  uint64_t owner = 0;
  int device = 77;
  find(libcuda, "cuCtxGetCurrent", &cuCtxGetCurrent);
  find(libcuda, "cuMemsetD8_v2", &cuMemsetD8);
  find(libcuda, "cuPointerGetAttribute", &cuPointerGetAttribute);
  CHECK(used(cuda) == 0 && used(pinned) == 0);
  blocks(cuda, cpu, 256);
  CHECK(current() == NULL);
  block = alloc(cuda, 1000);
  CHECK(cuPointerGetAttribute(&owner, 1, (uint64_t)(uintptr_t)block) == 0 && owner != 0);
  CHECK(cuPointerGetAttribute(&device, 9, (uint64_t)(uintptr_t)block) == 0 && device == 0);
  give(cuda, block);
  blocks(pinned, cuda, 64);
  overrun(pinned);
  CHECK(current() == NULL);
  unknown_places();
  streams();
  any_stream();
}

/* The environment limits the pool to 8 MiB, and its first chunk to 1 MiB. */
static void limit(void) {
  void *block = &block, *first = alloc(cpu, 1000);
  size_t released = 0;
  CHECK(table->alloc(cpu, 9 << 20, &block) == ALLOCERT_PLACE_OUT_OF_MEMORY && block == &block);
  CHECK(table->release(cpu, &released) == ALLOCERT_PLACE_OK && released == 0);
  give(cpu, first);
  give(cpu, alloc(cpu, 7 << 20));
  CHECK(table->release(cpu, &released) == ALLOCERT_PLACE_OK && released == 8 << 20);
  printf("%s: limited\n", table->name);
}

static void without_driver(void) {
  void *block = NULL;
  CHECK(table->alloc(cuda, 10, &block) == ALLOCERT_PLACE_DRIVER_ERROR);
  CHECK(table->alloc(pinned, 10, &block) == ALLOCERT_PLACE_DRIVER_ERROR);
}

int main(int count, char **arguments) {
  const allocert_place_allocator *(*get)(void);
  void *library, *libcuda = NULL;
  int driver;
  if (count != 3) {
    return 2;
  }
  driver = strcmp(arguments[2], "driver") == 0;
  if (driver) {
    libcuda = dlopen("libcuda.so.1", RTLD_NOW);
  }
  library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || (driver && libcuda == NULL)) {
    printf("%s\n", dlerror());
    return 1;
  }
  find(library, "allocert_place_allocator_v1", &get);
  find(library, "allocert_place_torch_malloc", &torch_malloc);
  find(library, "allocert_place_torch_free", &torch_free);
  find(library, "allocert_place_cupy_malloc", &cupy_malloc);
  find(library, "allocert_place_cupy_free", &cupy_free);
  table = get();
  CHECK(table->size == sizeof *table && table->interface_version == ALLOCERT_PLACE_VERSION);
  CHECK(strcmp(table->last_error(), "") == 0 && used(cpu) == 0);
  if (strcmp(arguments[2], "limit") == 0) {
    limit();
    return 0;
  }
  overrun(cpu);
  if (driver) {
    blocks(cpu, pinned, 64);
    with_driver(libcuda);
  } else {
    without_driver();
  }
  forks(driver);
  printf("%s: driven\n", table->name);
  return 0;
}
