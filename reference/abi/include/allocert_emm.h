/*
 * allocert_emm.h - the C contract of a CUDA external memory manager (EMM).
 *
 * A plugin is a shared library that exports one table of functions. The shape follows NBEP 7,
 * "Interface for Plugin developers", and the later Numba EMM documentation: one manager object
 * for each CUDA context, which allocates, pins, describes and takes back memory for its host.
 *
 * This file is the contract; the repr(C) types of the allocert-abi crate are its twin.
 *
 * Rules that hold for every function
 *
 *   Threads    Any thread may call, and several threads may call at once on one manager. The one
 *              exception is destroy(), which must be the last call on its manager.
 *   Context    "current" means: the CUDA context given to create() is the calling thread's current
 *              context. Each function says whether it may count on that. No function leaves another
 *              context current than the one it found.
 *   Status     Every function that can fail returns a status. On failure nothing has changed, and
 *              *out has not been written.
 *   Unwinding  No exception, panic or longjmp leaves a plugin function.
 *   Re-entry   release() may be called by a language runtime's garbage collector at any moment when
 *              the plugin calls out. So a plugin must not hold a lock across such a call.
 *   Units      Names end in their unit. Sizes and offsets are in bytes.
 *   Streams    The interface carries no stream. Memory is ready for use on the default stream when
 *              the call that returns it has returned. It belongs to the plugin again when the host
 *              calls release().
 *              A plugin documents what it promises for other streams.
 */
#ifndef ALLOCERT_EMM_H
#define ALLOCERT_EMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface, as in NBEP 7's interface_version. */
#define ALLOCERT_EMM_VERSION 1u

/* A manager: created by create(), owned by the plugin, ended by destroy(). */
typedef struct allocert_emm_manager allocert_emm_manager;

/* How a call ended. A host treats an unknown positive value as ALLOCERT_EMM_INTERNAL. */
typedef int32_t allocert_emm_status;
enum {
  ALLOCERT_EMM_OK = 0,
  ALLOCERT_EMM_OUT_OF_MEMORY = 1, /* not enough memory, even without the plugin's caches */
  ALLOCERT_EMM_INVALID_VALUE = 2, /* this file does not allow the argument: the caller's fault */
  ALLOCERT_EMM_NOT_SUPPORTED = 3, /* this plugin does not offer that */
  ALLOCERT_EMM_DRIVER_ERROR = 4,  /* the CUDA driver failed or is missing; see last_error() */
  ALLOCERT_EMM_STATE = 5,         /* wrong state, such as defer_end() without defer_begin() */
  ALLOCERT_EMM_INTERNAL = 6       /* a defect of the plugin */
};

/* What a plugin offers beyond device memory (allocert_emm_plugin.capabilities). */
enum {
  ALLOCERT_EMM_CAP_HOST_MEMORY = 1, /* memhostalloc and mempin */
  ALLOCERT_EMM_CAP_MEMORY_INFO = 2, /* get_memory_info */
  ALLOCERT_EMM_CAP_IPC = 4,         /* get_ipc_handle */
  ALLOCERT_EMM_CAP_MANAGED = 8      /* reserved: no function uses it in version 1 */
};

/* Flags of memhostalloc. mempin takes MAPPED only. */
enum {
  ALLOCERT_EMM_HOST_MAPPED = 1,        /* mapped into the device address space */
  ALLOCERT_EMM_HOST_PORTABLE = 2,      /* counts as pinned in every context */
  ALLOCERT_EMM_HOST_WRITE_COMBINED = 4 /* fast to write from the host, slow to read */
};

/* The kinds of memory (allocert_emm_memory.kind): MemoryPointer, PinnedMemory, MappedMemory. */
enum {
  ALLOCERT_EMM_KIND_DEVICE = 0,
  ALLOCERT_EMM_KIND_PINNED = 1,
  ALLOCERT_EMM_KIND_MAPPED = 2
};

/* Each structure that the caller passes to the plugin begins with its size. The caller sets the
 * member to sizeof before the call. The plugin writes no byte beyond that size, and does not change
 * the member. It answers INVALID_VALUE if the size is smaller than the version 1 structure
 * below. */

/* One allocation or pinned region. It belongs to the manager until release(token) or reset(). */
typedef struct allocert_emm_memory {
  size_t size;             /* in: sizeof(allocert_emm_memory) */
  uint32_t kind;           /* ALLOCERT_EMM_KIND_* */
  uint32_t reserved;       /* 0 */
  uint64_t device_pointer; /* device address; 0 for pinned memory that is not mapped */
  void *host_pointer;      /* host address; NULL for device memory */
  uint64_t size_bytes;     /* exactly the size that was asked for */
  uint64_t token;          /* names this allocation; never 0, never given twice by one manager */
} allocert_emm_memory;

/* What another process needs to open the memory (IpcHandle). */
typedef struct allocert_emm_ipc_handle {
  size_t size;             /* in: sizeof(allocert_emm_ipc_handle) */
  uint8_t handle[64];      /* a CUipcMemHandle for the allocation that the driver knows */
  uint64_t size_bytes;     /* size of the token's allocation, as in allocert_emm_memory */
  uint64_t offset_bytes;   /* from the base that opening the handle yields to the byte asked for */
  uint8_t device_uuid[16]; /* the device to open it on (cuDeviceGetUuid) */
} allocert_emm_ipc_handle;

/* Device memory of the context, as the plugin sees it (MemoryInfo). free_bytes <= total_bytes. */
typedef struct allocert_emm_memory_info {
  size_t size; /* in: sizeof(allocert_emm_memory_info) */
  uint64_t free_bytes;
  uint64_t total_bytes;
} allocert_emm_memory_info;

/* The table. It lives as long as the library is loaded and never changes. It grows only at its end:
 * a host reads no member beyond `size`, and refuses another interface_version. Members of a
 * capability whose bit is clear may be NULL; all other members are set. */
typedef struct allocert_emm_plugin {
  size_t size;                /* sizeof(allocert_emm_plugin) as the plugin was compiled */
  uint32_t interface_version; /* ALLOCERT_EMM_VERSION */
  uint32_t capabilities;      /* ALLOCERT_EMM_CAP_*, or'ed */
  const char *name;           /* UTF-8, lives as long as the table, not NULL */
  const char *version;        /* the plugin's own version, UTF-8, not NULL */

  /* Makes a manager for one context. The host owns cuda_context (a CUcontext, not NULL, of the
   * device with ordinal `device`), and any context, or none, may be current. Makes no allocation
   * that needs the context. Without a driver it answers DRIVER_ERROR. Errors: INVALID_VALUE (NULL
   * argument, no such device), DRIVER_ERROR. */
  allocert_emm_status (*create)(void *cuda_context, int32_t device, allocert_emm_manager **out);

  /* Ends a manager and gives back all that it still holds, as reset() does. The context may be
   * gone: the plugin ignores, without an error, what it can no longer give back. NULL is ignored.
   * After it neither the manager nor any of its tokens may be used. Context: any or none. */
  void (*destroy)(allocert_emm_manager *manager);

  /* Makes the manager ready. The host calls it before the first allocation, and may call it again
   * at any time: later calls are cheap, keep every allocation valid and lose no state. After
   * reset() no new call is needed. Context: current. Errors: DRIVER_ERROR. */
  allocert_emm_status (*initialize)(allocert_emm_manager *manager);

  /* Allocates device memory on the manager's device, aligned to 256 bytes or better, disjoint from
   * all live allocations. size_bytes 0 yields a valid allocation of no bytes with a token and an
   * address of its own, or INVALID_VALUE. A plugin always does the same of the two. A plugin that
   * holds unused memory gives it back and tries again before it answers OUT_OF_MEMORY, except
   * between defer_begin() and defer_end(). Context: current. Errors: OUT_OF_MEMORY, INVALID_VALUE,
   * DRIVER_ERROR. */
  allocert_emm_status (*memalloc)(allocert_emm_manager *manager, uint64_t size_bytes,
                                  allocert_emm_memory *out);

  /* Allocates page-locked host memory. flags: ALLOCERT_EMM_HOST_*, each honoured exactly; a bit
   * that is not named there is INVALID_VALUE. The result is of kind MAPPED with both addresses set
   * when MAPPED is asked for, else PINNED. size_bytes 0: as memalloc. Capability HOST_MEMORY.
   * Context: current. Errors: as memalloc. */
  allocert_emm_status (*memhostalloc)(allocert_emm_manager *manager, uint64_t size_bytes,
                                      uint32_t flags, allocert_emm_memory *out);

  /* Pins host memory that the host owns and keeps alive until release(token) or reset() returns.
   * pointer is not NULL, size_bytes not 0; no alignment is asked for. flags: 0 or MAPPED. Pinning
   * bytes that are pinned already is an error that leaves the first registration as it is.
   * Capability HOST_MEMORY. Context: current. Errors: as memalloc. */
  allocert_emm_status (*mempin)(allocert_emm_manager *manager, void *pointer, uint64_t size_bytes,
                                uint32_t flags, allocert_emm_memory *out);

  /* The finalizer: the host no longer needs this allocation. Device and host allocations may be
   * given back later; a pinned region is unpinned before this returns, also between defer_begin()
   * and defer_end(). For a token from before the last reset() it does nothing and answers OK, even
   * if the address belongs to another allocation now. For a token that was released before, or was
   * never given, it does nothing and answers INVALID_VALUE. Context: any or none. Errors:
   * INVALID_VALUE; DRIVER_ERROR (the token is released even then). */
  allocert_emm_status (*release)(allocert_emm_manager *manager, uint64_t token);

  /* Reports free and total device memory. Allocates nothing. May be called at any time after
   * initialize(). Capability MEMORY_INFO. Context: current. Errors: NOT_SUPPORTED (a plugin may
   * have no way to tell), DRIVER_ERROR. */
  allocert_emm_status (*get_memory_info)(allocert_emm_manager *manager,
                                         allocert_emm_memory_info *out);

  /* Makes an IPC handle for the byte at offset_bytes in a live device allocation. The host keeps
   * the allocation alive while the other process has it open. Capability IPC. Context: current.
   * Errors: INVALID_VALUE (a token that is not live, memory that is not device memory, an offset at
   * or beyond its size), NOT_SUPPORTED (memory that cannot be shared), DRIVER_ERROR. */
  allocert_emm_status (*get_ipc_handle)(allocert_emm_manager *manager, uint64_t token,
                                        uint64_t offset_bytes, allocert_emm_ipc_handle *out);

  /* Gives back everything: live allocations, pinned regions, deferred frees, cached memory, also
   * between defer_begin() and defer_end(), whose nesting it leaves as it is. All tokens given so
   * far become no-ops for release(). The host may call it before initialize(), repeatedly, and for
   * a context that is going away. Does not change another manager's memory. Context: any or none.
   * Errors: none that a host could act on; OK unless the plugin is broken. */
  allocert_emm_status (*reset)(allocert_emm_manager *manager);

  /* Between these two the plugin avoids costly clean-up (NBEP 7, "Deallocation strategies"): no
   * call that frees or synchronises on behalf of release() of device or host allocations. They
   * nest, and count for the manager, not for a thread. Context: any or none. Errors: STATE
   * (defer_end without a matching defer_begin). */
  allocert_emm_status (*defer_begin)(allocert_emm_manager *manager);
  allocert_emm_status (*defer_end)(allocert_emm_manager *manager);

  /* Text of the calling thread's last failed call to this plugin, UTF-8: which call failed and why.
   * Owned by the plugin and valid until the next call on this thread. Never NULL; "" where nothing
   * failed yet. manager may be NULL, as after a failed create(). Context: any or none. */
  const char *(*last_error)(allocert_emm_manager *manager);
} allocert_emm_plugin;

/* The default symbol. A library may export further tables under other names with this signature.
 * Never NULL. Makes no driver call, so it may be called before cuInit() and before fork(). */
typedef const allocert_emm_plugin *(*allocert_emm_plugin_fn)(void);
const allocert_emm_plugin *allocert_emm_plugin_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* ALLOCERT_EMM_H */
