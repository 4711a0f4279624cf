// Allocators over CUDA's runtime, for `allocert run place --abi torch` and `--abi cupy`: what the
// documentations of PyTorch and CuPy show, without a pool.
#include <cuda_runtime_api.h>
#include <sys/types.h>

extern "C" {

void *runtime_malloc(ssize_t size, int device, cudaStream_t) {
  void *pointer = nullptr;
  if (cudaSetDevice(device) != cudaSuccess) return nullptr;
  return cudaMalloc(&pointer, size) == cudaSuccess ? pointer : nullptr;
}

void runtime_free(void *pointer, ssize_t, int device, cudaStream_t) {
  cudaSetDevice(device);
  cudaFree(pointer);
}

void *runtime_malloc_async(ssize_t size, int device, cudaStream_t stream) {
  void *pointer = nullptr;
  if (cudaSetDevice(device) != cudaSuccess) return nullptr;
  return cudaMallocAsync(&pointer, size, stream) == cudaSuccess ? pointer : nullptr;
}

void runtime_free_async(void *pointer, ssize_t, int device, cudaStream_t stream) {
  cudaSetDevice(device);
  cudaFreeAsync(pointer, stream);
}

void *runtime_cupy_malloc(void *, size_t size, int device) {
  return runtime_malloc(static_cast<ssize_t>(size), device, nullptr);
}

void runtime_cupy_free(void *, void *pointer, int device) {
  runtime_free(pointer, 0, device, nullptr);
}
}
