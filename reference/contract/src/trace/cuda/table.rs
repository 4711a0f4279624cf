//! The one table of driver functions. Each row: the CUDA version that introduced the symbol, the
//! symbol, the parameters in C order (`Out<T>` marks what the driver writes), and after `|` the
//! per-thread-default-stream variant. Names, versions and parameters: CUDA Driver API reference.

/// Hands the table to the macro named in the brackets, so that names, trace layout and exported
/// symbols cannot drift apart.
///
/// The callee receives `implemented { VERSION NAME(PARAM: KIND, ...) | VARIANT; ... } unsupported {
/// VERSION NAME | VARIANT; ... }`.
#[macro_export]
macro_rules! driver_functions {
    ($($then:tt)+) => {
        $($then)+! {
            implemented {
                // start
                2000 cuInit(flags: u32);
                2020 cuDriverGetVersion(driver_version: Out<i32>);
                6000 cuGetErrorName(error: u32, text: Out<u64>);
                6000 cuGetErrorString(error: u32, text: Out<u64>);
                11030 cuGetProcAddress(
                    symbol: u64, function: Out<u64>, driver_version: i32, flags: u64
                );
                12000 cuGetProcAddress_v2(
                    symbol: u64, function: Out<u64>, driver_version: i32, flags: u64, symbol_found:
                    Out<u32>
                );
                // devices
                2000 cuDeviceGet(device: Out<i32>, ordinal: i32);
                2000 cuDeviceGetCount(count: Out<i32>);
                2000 cuDeviceGetName(name: u64, len: i32, device: i32);
                9020 cuDeviceGetUuid(uuid: Out<Uuid>, device: i32);
                11040 cuDeviceGetUuid_v2(uuid: Out<Uuid>, device: i32);
                3020 cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32);
                2000 cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: i32);
                2000 cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32);
                4000 cuDeviceCanAccessPeer(can_access_peer: Out<i32>, device: i32, peer_dev: i32);
                4010 cuDeviceGetPCIBusId(pci_bus_id: u64, len: i32, device: i32);
                11020 cuDeviceGetDefaultMemPool(pool: Out<u64>, device: i32);
                11020 cuDeviceGetMemPool(pool: Out<u64>, device: i32);
                11020 cuDeviceSetMemPool(device: i32, pool: u64);
                7000 cuDevicePrimaryCtxRetain(ctx: Out<u64>, device: i32);
                7000 cuDevicePrimaryCtxRelease(device: i32);
                11000 cuDevicePrimaryCtxRelease_v2(device: i32);
                7000 cuDevicePrimaryCtxReset(device: i32);
                11000 cuDevicePrimaryCtxReset_v2(device: i32);
                7000 cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>);
                7000 cuDevicePrimaryCtxSetFlags(device: i32, flags: u32);
                11000 cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32);
                // contexts
                3020 cuCtxCreate_v2(ctx: Out<u64>, flags: u32, device: i32);
                12050 cuCtxCreate_v4(
                    ctx: Out<u64>, ctx_create_params: u64, flags: u32, device: i32
                );
                4000 cuCtxDestroy_v2(ctx: u64);
                4000 cuCtxPushCurrent_v2(ctx: u64);
                4000 cuCtxPopCurrent_v2(ctx: Out<u64>);
                4000 cuCtxSetCurrent(ctx: u64);
                4000 cuCtxGetCurrent(ctx: Out<u64>);
                2000 cuCtxGetDevice(device: Out<i32>);
                13000 cuCtxGetDevice_v2(device: Out<i32>, ctx: u64);
                2000 cuCtxSynchronize();
                13000 cuCtxSynchronize_v2(ctx: u64);
                7000 cuCtxGetFlags(flags: Out<u32>);
                12000 cuCtxGetId(ctx: u64, ctx_id: Out<u64>);
                3020 cuCtxGetApiVersion(ctx: u64, version: Out<u32>);
                5050 cuCtxGetStreamPriorityRange(
                    least_priority: Out<i32>, greatest_priority: Out<i32>
                );
                3010 cuCtxGetLimit(value: Out<usize>, limit: u32);
                3010 cuCtxSetLimit(limit: u32, value: usize);
                3020 cuCtxGetCacheConfig(config: Out<u32>);
                3020 cuCtxSetCacheConfig(config: u32);
                4000 cuCtxEnablePeerAccess(peer_context: u64, flags: u32);
                4000 cuCtxDisablePeerAccess(peer_context: u64);
                // memory
                3020 cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>);
                3020 cuMemAlloc_v2(dptr: Out<u64>, bytesize: usize);
                3020 cuMemAllocPitch_v2(
                    dptr: Out<u64>, pitch: Out<usize>, width_in_bytes: usize, height: usize,
                    element_size_bytes: u32
                );
                3020 cuMemFree_v2(dptr: u64);
                3020 cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, dptr: u64);
                6000 cuMemAllocManaged(dptr: Out<u64>, bytesize: usize, flags: u32);
                8000 cuMemAdvise(dptr: u64, count: usize, advice: u32, device: i32);
                12020 cuMemAdvise_v2(dptr: u64, count: usize, advice: u32, location: Location);
                8000 cuMemPrefetchAsync(
                    dptr: u64, count: usize, dst_device: i32, stream: u64
                ) | cuMemPrefetchAsync_ptsz;
                12020 cuMemPrefetchAsync_v2(
                    dptr: u64, count: usize, location: Location, flags: u32, stream: u64
                ) | cuMemPrefetchAsync_v2_ptsz;
                4000 cuPointerGetAttribute(data: u64, attribute: u32, dptr: u64);
                7000 cuPointerGetAttributes(
                    num_attributes: u32, attributes: u64, data: u64, dptr: u64
                );
                6000 cuPointerSetAttribute(value: u64, attribute: u32, dptr: u64);
                10020 cuMemGetAllocationGranularity(
                    granularity: Out<usize>, prop: u64, option: u32
                );
                // host memory
                3020 cuMemAllocHost_v2(host: Out<u64>, bytesize: usize);
                2020 cuMemHostAlloc(host: Out<u64>, bytesize: usize, flags: u32);
                2000 cuMemFreeHost(host: u64);
                6050 cuMemHostRegister_v2(host: u64, bytesize: usize, flags: u32);
                4000 cuMemHostUnregister(host: u64);
                3020 cuMemHostGetDevicePointer_v2(dptr: Out<u64>, host: u64, flags: u32);
                2030 cuMemHostGetFlags(flags: Out<u32>, host: u64);
                // sharing
                4010 cuIpcGetMemHandle(handle: Out<IpcHandle>, dptr: u64);
                4010 cuIpcOpenMemHandle(dptr: Out<u64>, handle: IpcHandle, flags: u32);
                11000 cuIpcOpenMemHandle_v2(dptr: Out<u64>, handle: IpcHandle, flags: u32);
                4010 cuIpcCloseMemHandle(dptr: u64);
                // copies
                4000 cuMemcpy(dst: u64, src: u64, byte_count: usize) | cuMemcpy_ptds;
                3020 cuMemcpyHtoD_v2(
                    dst_device: u64, src_host: u64, byte_count: usize
                ) | cuMemcpyHtoD_v2_ptds;
                3020 cuMemcpyDtoH_v2(
                    dst_host: u64, src_device: u64, byte_count: usize
                ) | cuMemcpyDtoH_v2_ptds;
                3020 cuMemcpyDtoD_v2(
                    dst_device: u64, src_device: u64, byte_count: usize
                ) | cuMemcpyDtoD_v2_ptds;
                4000 cuMemcpyPeer(
                    dst_device: u64, dst_context: u64, src_device: u64, src_context: u64,
                    byte_count: usize
                ) | cuMemcpyPeer_ptds;
                4000 cuMemcpyAsync(
                    dst: u64, src: u64, byte_count: usize, stream: u64
                ) | cuMemcpyAsync_ptsz;
                3020 cuMemcpyHtoDAsync_v2(
                    dst_device: u64, src_host: u64, byte_count: usize, stream: u64
                ) | cuMemcpyHtoDAsync_v2_ptsz;
                3020 cuMemcpyDtoHAsync_v2(
                    dst_host: u64, src_device: u64, byte_count: usize, stream: u64
                ) | cuMemcpyDtoHAsync_v2_ptsz;
                3020 cuMemcpyDtoDAsync_v2(
                    dst_device: u64, src_device: u64, byte_count: usize, stream: u64
                ) | cuMemcpyDtoDAsync_v2_ptsz;
                4000 cuMemcpyPeerAsync(
                    dst_device: u64, dst_context: u64, src_device: u64, src_context: u64,
                    byte_count: usize, stream: u64
                ) | cuMemcpyPeerAsync_ptsz;
                3020 cuMemcpy2D_v2(copy: u64) | cuMemcpy2D_v2_ptds;
                3020 cuMemcpy2DUnaligned_v2(copy: u64) | cuMemcpy2DUnaligned_v2_ptds;
                3020 cuMemcpy2DAsync_v2(copy: u64, stream: u64) | cuMemcpy2DAsync_v2_ptsz;
                3020 cuMemcpy3D_v2(copy: u64) | cuMemcpy3D_v2_ptds;
                3020 cuMemcpy3DAsync_v2(copy: u64, stream: u64) | cuMemcpy3DAsync_v2_ptsz;
                3020 cuMemsetD8_v2(dst_device: u64, value: u8, count: usize) | cuMemsetD8_v2_ptds;
                3020 cuMemsetD16_v2(
                    dst_device: u64, value: u16, count: usize
                ) | cuMemsetD16_v2_ptds;
                3020 cuMemsetD32_v2(
                    dst_device: u64, value: u32, count: usize
                ) | cuMemsetD32_v2_ptds;
                3020 cuMemsetD8Async(
                    dst_device: u64, value: u8, count: usize, stream: u64
                ) | cuMemsetD8Async_ptsz;
                3020 cuMemsetD16Async(
                    dst_device: u64, value: u16, count: usize, stream: u64
                ) | cuMemsetD16Async_ptsz;
                3020 cuMemsetD32Async(
                    dst_device: u64, value: u32, count: usize, stream: u64
                ) | cuMemsetD32Async_ptsz;
                3020 cuMemsetD2D8_v2(
                    dst_device: u64, dst_pitch: usize, value: u8, width: usize, height: usize
                ) | cuMemsetD2D8_v2_ptds;
                3020 cuMemsetD2D16_v2(
                    dst_device: u64, dst_pitch: usize, value: u16, width: usize, height: usize
                ) | cuMemsetD2D16_v2_ptds;
                3020 cuMemsetD2D32_v2(
                    dst_device: u64, dst_pitch: usize, value: u32, width: usize, height: usize
                ) | cuMemsetD2D32_v2_ptds;
                3020 cuMemsetD2D8Async(
                    dst_device: u64, dst_pitch: usize, value: u8, width: usize, height: usize,
                    stream: u64
                ) | cuMemsetD2D8Async_ptsz;
                3020 cuMemsetD2D16Async(
                    dst_device: u64, dst_pitch: usize, value: u16, width: usize, height: usize,
                    stream: u64
                ) | cuMemsetD2D16Async_ptsz;
                3020 cuMemsetD2D32Async(
                    dst_device: u64, dst_pitch: usize, value: u32, width: usize, height: usize,
                    stream: u64
                ) | cuMemsetD2D32Async_ptsz;
                // streams
                2000 cuStreamCreate(stream: Out<u64>, flags: u32);
                5050 cuStreamCreateWithPriority(stream: Out<u64>, flags: u32, priority: i32);
                4000 cuStreamDestroy_v2(stream: u64);
                2000 cuStreamSynchronize(stream: u64) | cuStreamSynchronize_ptsz;
                2000 cuStreamQuery(stream: u64) | cuStreamQuery_ptsz;
                3020 cuStreamWaitEvent(
                    stream: u64, event: u64, flags: u32
                ) | cuStreamWaitEvent_ptsz;
                5050 cuStreamGetFlags(stream: u64, flags: Out<u32>) | cuStreamGetFlags_ptsz;
                5050 cuStreamGetPriority(
                    stream: u64, priority: Out<i32>
                ) | cuStreamGetPriority_ptsz;
                9020 cuStreamGetCtx(stream: u64, ctx: Out<u64>) | cuStreamGetCtx_ptsz;
                12000 cuStreamGetId(stream: u64, stream_id: Out<u64>) | cuStreamGetId_ptsz;
                12080 cuStreamGetDevice(stream: u64, device: Out<i32>) | cuStreamGetDevice_ptsz;
                10000 cuStreamIsCapturing(
                    stream: u64, capture_status: Out<u32>
                ) | cuStreamIsCapturing_ptsz;
                5000 cuStreamAddCallback(
                    stream: u64, callback: u64, user_data: u64, flags: u32
                ) | cuStreamAddCallback_ptsz;
                10000 cuLaunchHostFunc(
                    stream: u64, function: u64, user_data: u64
                ) | cuLaunchHostFunc_ptsz;
                6000 cuStreamAttachMemAsync(
                    stream: u64, dptr: u64, length: usize, flags: u32
                ) | cuStreamAttachMemAsync_ptsz;
                // events
                2000 cuEventCreate(event: Out<u64>, flags: u32);
                2000 cuEventRecord(event: u64, stream: u64) | cuEventRecord_ptsz;
                11010 cuEventRecordWithFlags(
                    event: u64, stream: u64, flags: u32
                ) | cuEventRecordWithFlags_ptsz;
                2000 cuEventQuery(event: u64);
                2000 cuEventSynchronize(event: u64);
                4000 cuEventDestroy_v2(event: u64);
                2000 cuEventElapsedTime(milliseconds: Out<f32>, start: u64, end: u64);
                12080 cuEventElapsedTime_v2(milliseconds: Out<f32>, start: u64, end: u64);
                // pools
                11020 cuMemAllocAsync(
                    dptr: Out<u64>, bytesize: usize, stream: u64
                ) | cuMemAllocAsync_ptsz;
                11020 cuMemAllocFromPoolAsync(
                    dptr: Out<u64>, bytesize: usize, pool: u64, stream: u64
                ) | cuMemAllocFromPoolAsync_ptsz;
                11020 cuMemFreeAsync(dptr: u64, stream: u64) | cuMemFreeAsync_ptsz;
                11020 cuMemPoolCreate(pool: Out<u64>, pool_props: u64);
                11020 cuMemPoolDestroy(pool: u64);
                11020 cuMemPoolTrimTo(pool: u64, min_bytes_to_keep: usize);
                11020 cuMemPoolSetAttribute(pool: u64, attribute: u32, value: u64);
                11020 cuMemPoolGetAttribute(pool: u64, attribute: u32, value: u64);
                11020 cuMemPoolSetAccess(pool: u64, map: u64, count: usize);
                11020 cuMemPoolGetAccess(flags: Out<u32>, pool: u64, location: u64);
                13000 cuMemGetDefaultMemPool(pool: Out<u64>, location: u64, kind: u32);
                13000 cuMemGetMemPool(pool: Out<u64>, location: u64, kind: u32);
                13000 cuMemSetMemPool(location: u64, kind: u32, pool: u64);
                // code
                11070 cuModuleGetLoadingMode(mode: Out<u32>);
                2000 cuModuleLoadData(module: Out<u64>, image: u64);
                2010 cuModuleLoadDataEx(
                    module: Out<u64>, image: u64, num_options: u32, options: u64, option_values: u64
                );
                2000 cuModuleUnload(module: u64);
                2000 cuModuleGetFunction(function: Out<u64>, module: u64, name: u64);
                3020 cuModuleGetGlobal_v2(
                    dptr: Out<u64>, bytes: Out<usize>, module: u64, name: u64
                );
                2020 cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: u64);
                9000 cuFuncSetAttribute(function: u64, attribute: u32, value: i32);
                2000 cuFuncSetBlockShape(function: u64, x: i32, y: i32, z: i32);
                12040 cuFuncGetParamInfo(
                    function: u64, index: usize, offset: Out<usize>, size: Out<usize>
                );
                13020 cuFuncGetParamCount(function: u64, count: Out<usize>);
                12000 cuLibraryLoadData(
                    library: Out<u64>, code: u64, jit_options: u64, jit_options_values: u64,
                    num_jit_options: u32, library_options: u64, library_option_values: u64,
                    num_library_options: u32
                );
                12000 cuLibraryUnload(library: u64);
                12000 cuLibraryGetModule(module: Out<u64>, library: u64);
                12000 cuLibraryGetKernel(kernel: Out<u64>, library: u64, name: u64);
                12000 cuKernelGetFunction(function: Out<u64>, kernel: u64);
                12000 cuKernelGetAttribute(
                    value: Out<i32>, attribute: u32, kernel: u64, device: i32
                );
                12040 cuKernelGetParamInfo(
                    kernel: u64, index: usize, offset: Out<usize>, size: Out<usize>
                );
                13020 cuKernelGetParamCount(kernel: u64, count: Out<usize>);
                12000 cuKernelSetAttribute(attribute: u32, value: i32, kernel: u64, device: i32);
                4000 cuLaunchKernel(
                    function: u64, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x:
                    u32, block_dim_y: u32, block_dim_z: u32, shared_mem_bytes: u32, stream: u64,
                    kernel_params: u64, extra: u64
                ) | cuLaunchKernel_ptsz;
                9000 cuLaunchCooperativeKernel(
                    function: u64, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x:
                    u32, block_dim_y: u32, block_dim_z: u32, shared_mem_bytes: u32, stream: u64,
                    kernel_params: u64
                ) | cuLaunchCooperativeKernel_ptsz;
                11060 cuLaunchKernelEx(
                    config: u64, function: u64, kernel_params: u64, extra: u64
                ) | cuLaunchKernelEx_ptsz;
                6050 cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    num_blocks: Out<i32>, function: u64, block_size: i32, dynamic_smem_size: usize
                );
                7000 cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    num_blocks: Out<i32>, function: u64, block_size: i32, dynamic_smem_size: usize,
                    flags: u32
                );
                6050 cuOccupancyMaxPotentialBlockSize(
                    min_grid_size: Out<i32>, block_size: Out<i32>, function: u64, size_of_block:
                    u64, dynamic_smem_size: usize, block_size_limit: i32
                );
                7000 cuOccupancyMaxPotentialBlockSizeWithFlags(
                    min_grid_size: Out<i32>, block_size: Out<i32>, function: u64, size_of_block:
                    u64, dynamic_smem_size: usize, block_size_limit: i32, flags: u32
                );
                4000 cuProfilerStart();
                4000 cuProfilerStop();
            }
            unsupported {
                2000 cuArray3DCreate; 3020 cuArray3DCreate_v2; 2000 cuArray3DGetDescriptor;
                3020 cuArray3DGetDescriptor_v2; 2000 cuArrayCreate; 3020 cuArrayCreate_v2;
                2000 cuArrayDestroy; 2000 cuArrayGetDescriptor; 3020 cuArrayGetDescriptor_v2;
                11060 cuArrayGetMemoryRequirements; 11020 cuArrayGetPlane;
                11010 cuArrayGetSparseProperties; 13040 cuCheckpointOperationComplete;
                12080 cuCheckpointProcessCheckpoint; 12080 cuCheckpointProcessGetRestoreThreadId;
                12080 cuCheckpointProcessGetState; 12080 cuCheckpointProcessLock;
                12080 cuCheckpointProcessRestore; 12080 cuCheckpointProcessUnlock;
                13020 cuCoredumpDeregisterCompleteCallback; 13020 cuCoredumpDeregisterStartCallback;
                12010 cuCoredumpGetAttribute; 12010 cuCoredumpGetAttributeGlobal;
                13020 cuCoredumpRegisterCompleteCallback; 13020 cuCoredumpRegisterStartCallback;
                12010 cuCoredumpSetAttribute; 12010 cuCoredumpSetAttributeGlobal; 2000 cuCtxAttach;
                2000 cuCtxCreate; 11040 cuCtxCreate_v3; 2000 cuCtxDestroy; 2000 cuCtxDetach;
                12040 cuCtxFromGreenCtx; 12040 cuCtxGetDevResource; 11040 cuCtxGetExecAffinity;
                4020 cuCtxGetSharedMemConfig; 2000 cuCtxPopCurrent; 2000 cuCtxPushCurrent;
                12050 cuCtxRecordEvent; 11000 cuCtxResetPersistingL2Cache; 12010 cuCtxSetFlags;
                4020 cuCtxSetSharedMemConfig; 12050 cuCtxWaitEvent; 10000 cuDestroyExternalMemory;
                10000 cuDestroyExternalSemaphore; 12040 cuDevResourceGenerateDesc;
                13010 cuDevSmResourceSplit; 12040 cuDevSmResourceSplitByCount;
                4010 cuDeviceGetByPCIBusId; 13040 cuDeviceGetCliqueCount;
                13040 cuDeviceGetCliqueInfo; 12040 cuDeviceGetDevResource;
                11040 cuDeviceGetExecAffinitySupport; 13040 cuDeviceGetFabricClusterUuid;
                11040 cuDeviceGetGraphMemAttribute; 13000 cuDeviceGetHostAtomicCapabilities;
                10000 cuDeviceGetLuid; 10020 cuDeviceGetNvSciSyncAttributes;
                13000 cuDeviceGetP2PAtomicCapabilities; 8000 cuDeviceGetP2PAttribute;
                2000 cuDeviceGetProperties; 11010 cuDeviceGetTexture1DLinearMaxWidth;
                11040 cuDeviceGraphMemTrim; 12040 cuDeviceRegisterAsyncNotification;
                11040 cuDeviceSetGraphMemAttribute; 2000 cuDeviceTotalMem;
                12040 cuDeviceUnregisterAsyncNotification; 2000 cuEventDestroy;
                10000 cuExternalMemoryGetMappedBuffer;
                10000 cuExternalMemoryGetMappedMipmappedArray;
                13050 cuFabricCpyBatchAsync | cuFabricCpyBatchAsync_ptsz;
                11030 cuFlushGPUDirectRDMAWrites; 11000 cuFuncGetModule; 12030 cuFuncGetName;
                12040 cuFuncIsLoaded; 12040 cuFuncLoad; 3000 cuFuncSetCacheConfig;
                4020 cuFuncSetSharedMemConfig; 2000 cuFuncSetSharedSize; 3000 cuGetExportTable;
                11070 cuGraphAddBatchMemOpNode; 10000 cuGraphAddChildGraphNode;
                10000 cuGraphAddDependencies; 12030 cuGraphAddDependencies_v2;
                10000 cuGraphAddEmptyNode; 11010 cuGraphAddEventRecordNode;
                11010 cuGraphAddEventWaitNode; 11020 cuGraphAddExternalSemaphoresSignalNode;
                11020 cuGraphAddExternalSemaphoresWaitNode; 10000 cuGraphAddHostNode;
                10000 cuGraphAddKernelNode; 12000 cuGraphAddKernelNode_v2;
                11040 cuGraphAddMemAllocNode; 11040 cuGraphAddMemFreeNode;
                10000 cuGraphAddMemcpyNode; 10000 cuGraphAddMemsetNode; 12020 cuGraphAddNode;
                12030 cuGraphAddNode_v2; 13040 cuGraphAddNode_v3;
                11070 cuGraphBatchMemOpNodeGetParams; 11070 cuGraphBatchMemOpNodeSetParams;
                10000 cuGraphChildGraphNodeGetGraph; 10000 cuGraphClone;
                12030 cuGraphConditionalHandleCreate; 10000 cuGraphCreate;
                11030 cuGraphDebugDotPrint; 10000 cuGraphDestroy; 10000 cuGraphDestroyNode;
                11010 cuGraphEventRecordNodeGetEvent; 11010 cuGraphEventRecordNodeSetEvent;
                11010 cuGraphEventWaitNodeGetEvent; 11010 cuGraphEventWaitNodeSetEvent;
                11070 cuGraphExecBatchMemOpNodeSetParams; 11010 cuGraphExecChildGraphNodeSetParams;
                10000 cuGraphExecDestroy; 11010 cuGraphExecEventRecordNodeSetEvent;
                11010 cuGraphExecEventWaitNodeSetEvent;
                11020 cuGraphExecExternalSemaphoresSignalNodeSetParams;
                11020 cuGraphExecExternalSemaphoresWaitNodeSetParams; 12000 cuGraphExecGetFlags;
                13010 cuGraphExecGetId; 10020 cuGraphExecHostNodeSetParams;
                10010 cuGraphExecKernelNodeSetParams; 12000 cuGraphExecKernelNodeSetParams_v2;
                10020 cuGraphExecMemcpyNodeSetParams; 10020 cuGraphExecMemsetNodeSetParams;
                12020 cuGraphExecNodeSetParams; 10020 cuGraphExecUpdate; 12000 cuGraphExecUpdate_v2;
                11020 cuGraphExternalSemaphoresSignalNodeGetParams;
                11020 cuGraphExternalSemaphoresSignalNodeSetParams;
                11020 cuGraphExternalSemaphoresWaitNodeGetParams;
                11020 cuGraphExternalSemaphoresWaitNodeSetParams; 10000 cuGraphGetEdges;
                12030 cuGraphGetEdges_v2; 13010 cuGraphGetId; 10000 cuGraphGetNodes;
                10000 cuGraphGetRootNodes; 10000 cuGraphHostNodeGetParams;
                10000 cuGraphHostNodeSetParams; 10000 cuGraphInstantiate;
                11040 cuGraphInstantiateWithFlags;
                12000 cuGraphInstantiateWithParams | cuGraphInstantiateWithParams_ptsz;
                11000 cuGraphInstantiate_v2; 11000 cuGraphKernelNodeCopyAttributes;
                11000 cuGraphKernelNodeGetAttribute; 10000 cuGraphKernelNodeGetParams;
                12000 cuGraphKernelNodeGetParams_v2; 11000 cuGraphKernelNodeSetAttribute;
                10000 cuGraphKernelNodeSetParams; 12000 cuGraphKernelNodeSetParams_v2;
                10000 cuGraphLaunch | cuGraphLaunch_ptsz; 11040 cuGraphMemAllocNodeGetParams;
                11040 cuGraphMemFreeNodeGetParams; 10000 cuGraphMemcpyNodeGetParams;
                10000 cuGraphMemcpyNodeSetParams; 10000 cuGraphMemsetNodeGetParams;
                10000 cuGraphMemsetNodeSetParams; 10000 cuGraphNodeFindInClone;
                13010 cuGraphNodeGetContainingGraph; 10000 cuGraphNodeGetDependencies;
                12030 cuGraphNodeGetDependencies_v2; 10000 cuGraphNodeGetDependentNodes;
                12030 cuGraphNodeGetDependentNodes_v2; 11060 cuGraphNodeGetEnabled;
                13010 cuGraphNodeGetLocalId; 13020 cuGraphNodeGetParams;
                13010 cuGraphNodeGetToolsId; 10000 cuGraphNodeGetType; 11060 cuGraphNodeSetEnabled;
                12020 cuGraphNodeSetParams; 13040 cuGraphNodeSetParams_v2;
                11030 cuGraphReleaseUserObject; 10000 cuGraphRemoveDependencies;
                12030 cuGraphRemoveDependencies_v2; 11030 cuGraphRetainUserObject;
                11010 cuGraphUpload | cuGraphUpload_ptsz;
                3000 cuGraphicsMapResources | cuGraphicsMapResources_ptsz;
                5000 cuGraphicsResourceGetMappedMipmappedArray;
                3000 cuGraphicsResourceGetMappedPointer; 3020 cuGraphicsResourceGetMappedPointer_v2;
                3000 cuGraphicsResourceSetMapFlags; 6050 cuGraphicsResourceSetMapFlags_v2;
                3000 cuGraphicsSubResourceGetMappedArray;
                3000 cuGraphicsUnmapResources | cuGraphicsUnmapResources_ptsz;
                3000 cuGraphicsUnregisterResource; 12040 cuGreenCtxCreate; 12040 cuGreenCtxDestroy;
                12040 cuGreenCtxGetDevResource; 12090 cuGreenCtxGetId; 12040 cuGreenCtxRecordEvent;
                12050 cuGreenCtxStreamCreate; 12040 cuGreenCtxWaitEvent;
                10000 cuImportExternalMemory; 10000 cuImportExternalSemaphore;
                4010 cuIpcGetEventHandle; 4010 cuIpcOpenEventHandle; 12050 cuKernelGetLibrary;
                12030 cuKernelGetName; 12000 cuKernelSetCacheConfig; 2000 cuLaunch;
                9000 cuLaunchCooperativeKernelMultiDevice; 2000 cuLaunchGrid;
                2000 cuLaunchGridAsync; 13010 cuLaunchHostFunc_v2 | cuLaunchHostFunc_v2_ptsz;
                12040 cuLibraryEnumerateKernels; 12000 cuLibraryGetGlobal;
                12040 cuLibraryGetKernelCount; 12000 cuLibraryGetManaged;
                12000 cuLibraryGetUnifiedFunction; 12000 cuLibraryLoadFromFile; 5050 cuLinkAddData;
                6050 cuLinkAddData_v2; 5050 cuLinkAddFile; 6050 cuLinkAddFile_v2;
                5050 cuLinkComplete; 5050 cuLinkCreate; 6050 cuLinkCreate_v2; 5050 cuLinkDestroy;
                13030 cuLogicalEndpointAddDevice; 13030 cuLogicalEndpointBindAddr;
                13030 cuLogicalEndpointBindMem; 13030 cuLogicalEndpointCreate;
                13030 cuLogicalEndpointDestroy; 13030 cuLogicalEndpointExport;
                13030 cuLogicalEndpointGetLimits; 13030 cuLogicalEndpointIdRelease;
                13030 cuLogicalEndpointIdReserve; 13030 cuLogicalEndpointImport;
                13030 cuLogicalEndpointQuery; 13030 cuLogicalEndpointUnbind; 12090 cuLogsCurrent;
                12090 cuLogsDumpToFile; 12090 cuLogsDumpToMemory; 12090 cuLogsRegisterCallback;
                12090 cuLogsUnregisterCallback; 10020 cuMemAddressFree; 10020 cuMemAddressReserve;
                2000 cuMemAlloc; 2000 cuMemAllocHost; 2000 cuMemAllocPitch;
                12060 cuMemBatchDecompressAsync | cuMemBatchDecompressAsync_ptsz; 10020 cuMemCreate;
                13000 cuMemDiscardAndPrefetchBatchAsync | cuMemDiscardAndPrefetchBatchAsync_ptsz;
                13000 cuMemDiscardBatchAsync | cuMemDiscardBatchAsync_ptsz;
                10020 cuMemExportToShareableHandle; 2000 cuMemFree; 10020 cuMemGetAccess;
                2000 cuMemGetAddressRange; 10020 cuMemGetAllocationPropertiesFromHandle;
                11070 cuMemGetHandleForAddressRange; 2000 cuMemGetInfo; 13040 cuMemGetLocationInfo;
                2020 cuMemHostGetDevicePointer; 4000 cuMemHostRegister;
                10020 cuMemImportFromShareableHandle; 10020 cuMemMap;
                11010 cuMemMapArrayAsync | cuMemMapArrayAsync_ptsz; 11020 cuMemPoolExportPointer;
                11020 cuMemPoolExportToShareableHandle; 11020 cuMemPoolImportFromShareableHandle;
                11020 cuMemPoolImportPointer;
                13000 cuMemPrefetchBatchAsync | cuMemPrefetchBatchAsync_ptsz;
                8000 cuMemRangeGetAttribute; 8000 cuMemRangeGetAttributes; 10020 cuMemRelease;
                11000 cuMemRetainAllocationHandle; 10020 cuMemSetAccess; 10020 cuMemUnmap;
                2000 cuMemcpy2D; 2000 cuMemcpy2DAsync; 2000 cuMemcpy2DUnaligned; 2000 cuMemcpy3D;
                2000 cuMemcpy3DAsync;
                12080 cuMemcpy3DBatchAsync | cuMemcpy3DBatchAsync_ptsz;
                13000 cuMemcpy3DBatchAsync_v2 | cuMemcpy3DBatchAsync_v2_ptsz;
                4000 cuMemcpy3DPeer | cuMemcpy3DPeer_ptds;
                4000 cuMemcpy3DPeerAsync | cuMemcpy3DPeerAsync_ptsz;
                13020 cuMemcpy3DWithAttributesAsync | cuMemcpy3DWithAttributesAsync_ptsz;
                2000 cuMemcpyAtoA;
                3020 cuMemcpyAtoA_v2 | cuMemcpyAtoA_v2_ptds; 2000 cuMemcpyAtoD;
                3020 cuMemcpyAtoD_v2 | cuMemcpyAtoD_v2_ptds; 2000 cuMemcpyAtoH;
                2000 cuMemcpyAtoHAsync; 3020 cuMemcpyAtoHAsync_v2 | cuMemcpyAtoHAsync_v2_ptsz;
                3020 cuMemcpyAtoH_v2 | cuMemcpyAtoH_v2_ptds;
                12080 cuMemcpyBatchAsync | cuMemcpyBatchAsync_ptsz;
                13000 cuMemcpyBatchAsync_v2 | cuMemcpyBatchAsync_v2_ptsz; 2000 cuMemcpyDtoA;
                3020 cuMemcpyDtoA_v2 | cuMemcpyDtoA_v2_ptds; 2000 cuMemcpyDtoD;
                3000 cuMemcpyDtoDAsync; 2000 cuMemcpyDtoH; 2000 cuMemcpyDtoHAsync;
                2000 cuMemcpyHtoA; 2000 cuMemcpyHtoAAsync;
                3020 cuMemcpyHtoAAsync_v2 | cuMemcpyHtoAAsync_v2_ptsz;
                3020 cuMemcpyHtoA_v2 | cuMemcpyHtoA_v2_ptds; 2000 cuMemcpyHtoD;
                2000 cuMemcpyHtoDAsync;
                13020 cuMemcpyWithAttributesAsync | cuMemcpyWithAttributesAsync_ptsz;
                2000 cuMemsetD16; 2000 cuMemsetD2D16; 2000 cuMemsetD2D32; 2000 cuMemsetD2D8;
                2000 cuMemsetD32; 2000 cuMemsetD8;
                5000 cuMipmappedArrayCreate; 5000 cuMipmappedArrayDestroy;
                5000 cuMipmappedArrayGetLevel; 11060 cuMipmappedArrayGetMemoryRequirements;
                11010 cuMipmappedArrayGetSparseProperties; 12040 cuModuleEnumerateFunctions;
                12040 cuModuleGetFunctionCount; 2000 cuModuleGetGlobal; 3000 cuModuleGetSurfRef;
                2000 cuModuleGetTexRef; 2000 cuModuleLoad; 2000 cuModuleLoadFatBinary;
                12010 cuMulticastAddDevice; 12010 cuMulticastBindAddr; 13010 cuMulticastBindAddr_v2;
                12010 cuMulticastBindMem; 13010 cuMulticastBindMem_v2; 12010 cuMulticastCreate;
                12010 cuMulticastGetGranularity; 12010 cuMulticastUnbind;
                10020 cuOccupancyAvailableDynamicSMemPerBlock; 11070 cuOccupancyMaxActiveClusters;
                11070 cuOccupancyMaxPotentialClusterSize; 2000 cuParamSetSize;
                2000 cuParamSetTexRef; 2000 cuParamSetf; 2000 cuParamSeti; 2000 cuParamSetv;
                4000 cuProfilerInitialize;
                10000 cuSignalExternalSemaphoresAsync | cuSignalExternalSemaphoresAsync_ptsz;
                8000 cuStreamBatchMemOp | cuStreamBatchMemOp_ptsz;
                11070 cuStreamBatchMemOp_v2 | cuStreamBatchMemOp_v2_ptsz;
                10000 cuStreamBeginCapture | cuStreamBeginCapture_ptsz;
                13010 cuStreamBeginCaptureToCig | cuStreamBeginCaptureToCig_ptsz;
                12030 cuStreamBeginCaptureToGraph | cuStreamBeginCaptureToGraph_ptsz;
                10010 cuStreamBeginCapture_v2 | cuStreamBeginCapture_v2_ptsz;
                13030 cuStreamBeginRecaptureToGraph | cuStreamBeginRecaptureToGraph_ptsz;
                11000 cuStreamCopyAttributes | cuStreamCopyAttributes_ptsz; 2000 cuStreamDestroy;
                10000 cuStreamEndCapture | cuStreamEndCapture_ptsz;
                13010 cuStreamEndCaptureToCig | cuStreamEndCaptureToCig_ptsz;
                11000 cuStreamGetAttribute | cuStreamGetAttribute_ptsz;
                10010 cuStreamGetCaptureInfo | cuStreamGetCaptureInfo_ptsz;
                11030 cuStreamGetCaptureInfo_v2 | cuStreamGetCaptureInfo_v2_ptsz;
                12030 cuStreamGetCaptureInfo_v3 | cuStreamGetCaptureInfo_v3_ptsz;
                12050 cuStreamGetCtx_v2 | cuStreamGetCtx_v2_ptsz;
                13010 cuStreamGetDevResource | cuStreamGetDevResource_ptsz;
                12040 cuStreamGetGreenCtx; 11000 cuStreamSetAttribute | cuStreamSetAttribute_ptsz;
                11030 cuStreamUpdateCaptureDependencies | cuStreamUpdateCaptureDependencies_ptsz;
                12030 cuStreamUpdateCaptureDependencies_v2
                    | cuStreamUpdateCaptureDependencies_v2_ptsz;
                8000 cuStreamWaitValue32 | cuStreamWaitValue32_ptsz;
                11070 cuStreamWaitValue32_v2 | cuStreamWaitValue32_v2_ptsz;
                9000 cuStreamWaitValue64 | cuStreamWaitValue64_ptsz;
                11070 cuStreamWaitValue64_v2 | cuStreamWaitValue64_v2_ptsz;
                8000 cuStreamWriteValue32 | cuStreamWriteValue32_ptsz;
                11070 cuStreamWriteValue32_v2 | cuStreamWriteValue32_v2_ptsz;
                9000 cuStreamWriteValue64 | cuStreamWriteValue64_ptsz;
                11070 cuStreamWriteValue64_v2 | cuStreamWriteValue64_v2_ptsz;
                5000 cuSurfObjectCreate; 5000 cuSurfObjectDestroy; 5000 cuSurfObjectGetResourceDesc;
                3000 cuSurfRefGetArray; 3000 cuSurfRefSetArray; 12000 cuTensorMapEncodeIm2col;
                12080 cuTensorMapEncodeIm2colWide; 12000 cuTensorMapEncodeTiled;
                12000 cuTensorMapReplaceAddress; 13050 cuTensorMapSetAllocationClass;
                5000 cuTexObjectCreate; 5000 cuTexObjectDestroy; 5000 cuTexObjectGetResourceDesc;
                5000 cuTexObjectGetResourceViewDesc; 5000 cuTexObjectGetTextureDesc;
                2000 cuTexRefCreate; 2000 cuTexRefDestroy; 2000 cuTexRefGetAddress;
                2000 cuTexRefGetAddressMode; 3020 cuTexRefGetAddress_v2; 2000 cuTexRefGetArray;
                8000 cuTexRefGetBorderColor; 2000 cuTexRefGetFilterMode; 2000 cuTexRefGetFlags;
                2000 cuTexRefGetFormat; 5000 cuTexRefGetMaxAnisotropy;
                5000 cuTexRefGetMipmapFilterMode; 5000 cuTexRefGetMipmapLevelBias;
                5000 cuTexRefGetMipmapLevelClamp; 5000 cuTexRefGetMipmappedArray;
                2000 cuTexRefSetAddress; 2020 cuTexRefSetAddress2D; 3020 cuTexRefSetAddress2D_v2;
                4010 cuTexRefSetAddress2D_v3; 2000 cuTexRefSetAddressMode;
                3020 cuTexRefSetAddress_v2; 2000 cuTexRefSetArray; 8000 cuTexRefSetBorderColor;
                2000 cuTexRefSetFilterMode; 2000 cuTexRefSetFlags; 2000 cuTexRefSetFormat;
                5000 cuTexRefSetMaxAnisotropy; 5000 cuTexRefSetMipmapFilterMode;
                5000 cuTexRefSetMipmapLevelBias; 5000 cuTexRefSetMipmapLevelClamp;
                5000 cuTexRefSetMipmappedArray; 10010 cuThreadExchangeStreamCaptureMode;
                11030 cuUserObjectCreate; 11030 cuUserObjectRelease; 11030 cuUserObjectRetain;
                10000 cuWaitExternalSemaphoresAsync | cuWaitExternalSemaphoresAsync_ptsz;
            }
        }
    };
}
