// An allocator of device memory that says by an exception that it failed.

#include <cstddef>
#include <new>
#include <stdexcept>
#include <sys/types.h>

extern "C" {
int cuMemAlloc_v2(unsigned long long *pointer, size_t size);
int cuMemFree_v2(unsigned long long pointer);
int cuGetExportTable(const void **table, const void *id);

void *take(ssize_t size, int, void *) {
  unsigned long long pointer = 0;
  if (size != 0 && cuMemAlloc_v2(&pointer, size) != 0) throw std::bad_alloc();
  return reinterpret_cast<void *>(pointer);
}

void give(void *pointer, ssize_t, int, void *) {
  cuMemFree_v2(reinterpret_cast<unsigned long long>(pointer));
}

// Throws for every block.
void give_and_throw(void *pointer, ssize_t size, int device, void *stream) {
  give(pointer, size, device, stream);
  throw std::runtime_error("give_and_throw");
}

// Ignores what it is asked for, as a function that does not look at an error.
void *take_nothing(ssize_t, int, void *) { return reinterpret_cast<void *>(0x3000); }

// The same, where the function begins as the CUDA runtime does and fails with it.
void *take_by_runtime(ssize_t size, int device, void *stream) {
  const void *table = nullptr;
  const char id[16] = {0};
  if (cuGetExportTable(&table, id) != 0) return take_nothing(size, device, stream);
  return take(size, device, stream);
}

// Takes small blocks from the driver and large ones from the runtime.
void *take_large_by_runtime(ssize_t size, int device, void *stream) {
  if (size < (1 << 20)) return take(size, device, stream);
  return take_by_runtime(size, device, stream);
}

void give_nothing(void *, ssize_t, int, void *) {}

// As take() and give(), for a caller that cannot catch.
void *take_for_c(void *, size_t size, int device) { return take(size, device, nullptr); }

void give_for_c(void *, void *pointer, int device) { give(pointer, 0, device, nullptr); }
}
