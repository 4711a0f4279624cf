/*
 * allocert_place.h - the C contract of an allocator of memory by place.
 *
 * A place is where memory lies: the host, one CUDA device, or page-locked memory of the host. The
 * shape follows Paddle's "Region-based Heterogeneous Memory Management": Alloc(place, size),
 * Free(place, pointer) and Used(place), with one allocator for each place.
 *
 * A library exports one table of functions. This file is the contract; the repr(C) types of the
 * allocert-abi crate are its twin.
 *
 * Rules that hold for every function
 *
 *   Threads    Any thread may call, and several threads may call at once. A thread may free what
 *              another one allocated.
 *   Places     Each place has an allocator of its own, made at its first use, once for the process.
 *              What happens at one place changes nothing at another one.
 *   Context    For a place of kind CUDA the memory lies in the primary context of its device. The
 *              caller needs no current context. No function leaves another context current than
 *              the one it found.
 *   Status     Every function returns a status. On failure nothing has changed, used() among it,
 *              and *out has not been written.
 *   Unwinding  No exception, panic or longjmp leaves a function.
 *   Units      Names end in their unit. Sizes are in bytes.
 *   Streams    The interface carries no stream. Device memory is ready for use on every stream when
 *              alloc() returns. The caller finishes its work on a block, on all streams, before it
 *              calls free(): the memory then belongs to the library, which waits for no work of the
 *              caller. A library finishes its own work on a block before it gives the block out.
 */
#ifndef ALLOCERT_PLACE_H
#define ALLOCERT_PLACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface. */
#define ALLOCERT_PLACE_VERSION 1u

/* How a call ended. A caller treats an unknown positive value as ALLOCERT_PLACE_INTERNAL. */
typedef int32_t allocert_place_status;
enum {
  ALLOCERT_PLACE_OK = 0,
  ALLOCERT_PLACE_OUT_OF_MEMORY = 1, /* not enough memory at the place, or size_bytes is too large */
  ALLOCERT_PLACE_INVALID_VALUE = 2, /* not an address that the place gave and that is still live */
  ALLOCERT_PLACE_NO_PLACE = 3,      /* no such kind or device, or this library does not serve it */
  ALLOCERT_PLACE_DRIVER_ERROR = 4,  /* the CUDA driver failed or is missing */
  ALLOCERT_PLACE_CORRUPTED = 5,     /* somebody wrote outside the block; the block stays taken */
  ALLOCERT_PLACE_INTERNAL = 6       /* a defect of the library */
};

/* The kinds of place (allocert_place.kind): CPUPlace, CUDAPlace, CUDAPinnedPlace. */
enum {
  ALLOCERT_PLACE_CPU = 0,        /* memory of the host; device is 0 */
  ALLOCERT_PLACE_CUDA = 1,       /* memory of the device with ordinal `device` */
  ALLOCERT_PLACE_CUDA_PINNED = 2 /* page-locked memory of the host; device is 0 */
};

/* A place. It is passed by value. */
typedef struct allocert_place {
  int32_t kind;   /* ALLOCERT_PLACE_CPU, _CUDA or _CUDA_PINNED */
  int32_t device; /* the ordinal of the device, from 0 */
} allocert_place;

/* The table. It lives as long as the library is loaded and never changes. It grows only at its end:
 * a caller reads no member beyond `size`, and refuses another interface_version. alloc, free and
 * used are set; release and last_error may be NULL. */
typedef struct allocert_place_allocator {
  size_t size;                /* sizeof(allocert_place_allocator) as the library was compiled */
  uint32_t interface_version; /* ALLOCERT_PLACE_VERSION */
  uint32_t reserved;          /* 0 */
  const char *name;           /* UTF-8, lives as long as the table, not NULL */
  const char *version;        /* the library's own version, UTF-8, not NULL */

  /* Takes at least size_bytes at the place, aligned to 32 bytes or better, disjoint from all live
   * blocks. The contents are not defined. For size_bytes 0 *out becomes NULL, or a block of its own
   * that free() takes back; a library always does the same of the two. A library that holds idle
   * memory gives it back and tries again before it answers OUT_OF_MEMORY. Errors: OUT_OF_MEMORY,
   * NO_PLACE, DRIVER_ERROR. */
  allocert_place_status (*alloc)(allocert_place place, size_t size_bytes, void **out);

  /* Gives a block back that alloc() gave at the same place. NULL is ignored. An address that the
   * place did not give, an address inside a block, one that was freed before, or one of another
   * place is INVALID_VALUE. DRIVER_ERROR says that a driver call failed that free() needs. Whatever
   * the error, a block that was live stays the caller's: it is live and counts in used(), and
   * free() may be called for it again. Errors: INVALID_VALUE, NO_PLACE, DRIVER_ERROR, CORRUPTED. */
  allocert_place_status (*free)(allocert_place place, void *pointer);

  /* How many bytes of the place are in use: 0 before the first alloc(). alloc() adds at least
   * size_bytes, and free() takes the same amount off. Errors: NO_PLACE. */
  allocert_place_status (*used)(allocert_place place, size_t *out_bytes);

  /* Gives memory of the place in which no block is live back to the system, and writes how much it
   * was: the bytes that the library had asked the system for. Live blocks stay as they are. Errors:
   * NO_PLACE. */
  allocert_place_status (*release)(allocert_place place, size_t *out_bytes);

  /* Text of the calling thread's last failed call, UTF-8: which call failed and why. Owned by the
   * library and valid until the next call on this thread. Never NULL; "" where nothing failed. */
  const char *(*last_error)(void);
} allocert_place_allocator;

/* The default symbol. A library may export further tables under other names with this signature.
 * Never NULL. Makes no driver call. */
typedef const allocert_place_allocator *(*allocert_place_allocator_fn)(void);
const allocert_place_allocator *allocert_place_allocator_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* ALLOCERT_PLACE_H */
