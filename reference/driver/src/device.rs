//! Devices and their attributes.

use crate::{
    Driver,
    address_space::Space,
    context::Context,
    error::{CudaError, Result},
};

/// As `cuDeviceGetName` answers.
pub const DEVICE_NAME: &str = "allocert software GPU";

#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) space: Space,
    /// The primary context's handle, the same for the life of the process.
    pub(crate) primary: u64,
    pub(crate) default_pool: u64,
    pub(crate) current_pool: u64,
    /// What every use answers after a kernel faulted.
    pub(crate) sticky: Option<CudaError>,
}

/// `CUdevice_attribute` and its value; all others are 0. Limits are those of compute capability 9.0
/// (CUDA C++ Programming Guide, "Compute Capabilities"), and those of textures and surfaces as an
/// H200 answers. What the software driver does not have, it does not claim to have.
const ATTRIBUTES: &[(u32, i32)] = &[
    (1, 1024),          // MAX_THREADS_PER_BLOCK
    (2, 1024),          // MAX_BLOCK_DIM_X
    (3, 1024),          // MAX_BLOCK_DIM_Y
    (4, 64),            // MAX_BLOCK_DIM_Z
    (5, i32::MAX),      // MAX_GRID_DIM_X
    (6, 65535),         // MAX_GRID_DIM_Y
    (7, 65535),         // MAX_GRID_DIM_Z
    (8, 49152),         // MAX_SHARED_MEMORY_PER_BLOCK
    (9, 65536),         // TOTAL_CONSTANT_MEMORY
    (10, 32),           // WARP_SIZE
    (11, i32::MAX),     // MAX_PITCH
    (12, 65536),        // MAX_REGISTERS_PER_BLOCK
    (13, 1_980_000),    // CLOCK_RATE
    (14, 512),          // TEXTURE_ALIGNMENT
    (15, 1),            // GPU_OVERLAP
    (16, 132),          // MULTIPROCESSOR_COUNT
    (19, 1),            // CAN_MAP_HOST_MEMORY
    (21, 131_072),      // MAX_TEXTURE1D_WIDTH
    (22, 131_072),      // MAX_TEXTURE2D_WIDTH
    (23, 65536),        // MAX_TEXTURE2D_HEIGHT
    (24, 16384),        // MAX_TEXTURE3D_WIDTH
    (25, 16384),        // MAX_TEXTURE3D_HEIGHT
    (26, 16384),        // MAX_TEXTURE3D_DEPTH
    (27, 32768),        // MAX_TEXTURE2D_ARRAY_WIDTH
    (28, 32768),        // MAX_TEXTURE2D_ARRAY_HEIGHT
    (29, 2048),         // MAX_TEXTURE2D_ARRAY_NUMSLICES
    (30, 512),          // SURFACE_ALIGNMENT
    (31, 1),            // CONCURRENT_KERNELS
    (32, 1),            // ECC_ENABLED
    (36, 3_201_000),    // MEMORY_CLOCK_RATE
    (37, 6016),         // GLOBAL_MEMORY_BUS_WIDTH
    (38, 60 << 20),     // L2_CACHE_SIZE
    (39, 2048),         // MAX_THREADS_PER_MULTIPROCESSOR
    (40, 3),            // ASYNC_ENGINE_COUNT
    (41, 1),            // UNIFIED_ADDRESSING
    (42, 32768),        // MAX_TEXTURE1D_LAYERED_WIDTH
    (43, 2048),         // MAX_TEXTURE1D_LAYERED_LAYERS
    (45, 32768),        // MAX_TEXTURE2D_GATHER_WIDTH
    (46, 32768),        // MAX_TEXTURE2D_GATHER_HEIGHT
    (47, 8192),         // MAX_TEXTURE3D_WIDTH_ALTERNATE
    (48, 8192),         // MAX_TEXTURE3D_HEIGHT_ALTERNATE
    (49, 32768),        // MAX_TEXTURE3D_DEPTH_ALTERNATE
    (51, 32),           // TEXTURE_PITCH_ALIGNMENT
    (52, 32768),        // MAX_TEXTURECUBEMAP_WIDTH
    (53, 32768),        // MAX_TEXTURECUBEMAP_LAYERED_WIDTH
    (54, 2046),         // MAX_TEXTURECUBEMAP_LAYERED_LAYERS
    (55, 32768),        // MAX_SURFACE1D_WIDTH
    (56, 131_072),      // MAX_SURFACE2D_WIDTH
    (57, 65536),        // MAX_SURFACE2D_HEIGHT
    (58, 16384),        // MAX_SURFACE3D_WIDTH
    (59, 16384),        // MAX_SURFACE3D_HEIGHT
    (60, 16384),        // MAX_SURFACE3D_DEPTH
    (61, 32768),        // MAX_SURFACE1D_LAYERED_WIDTH
    (62, 2048),         // MAX_SURFACE1D_LAYERED_LAYERS
    (63, 32768),        // MAX_SURFACE2D_LAYERED_WIDTH
    (64, 32768),        // MAX_SURFACE2D_LAYERED_HEIGHT
    (65, 2048),         // MAX_SURFACE2D_LAYERED_LAYERS
    (66, 32768),        // MAX_SURFACECUBEMAP_WIDTH
    (67, 32768),        // MAX_SURFACECUBEMAP_LAYERED_WIDTH
    (68, 2046),         // MAX_SURFACECUBEMAP_LAYERED_LAYERS
    (69, 268_435_456),  // MAX_TEXTURE1D_LINEAR_WIDTH
    (70, 131_072),      // MAX_TEXTURE2D_LINEAR_WIDTH
    (71, 65000),        // MAX_TEXTURE2D_LINEAR_HEIGHT
    (72, 2_097_120),    // MAX_TEXTURE2D_LINEAR_PITCH
    (73, 32768),        // MAX_TEXTURE2D_MIPMAPPED_WIDTH
    (74, 32768),        // MAX_TEXTURE2D_MIPMAPPED_HEIGHT
    (75, 9),            // COMPUTE_CAPABILITY_MAJOR
    (76, 0),            // COMPUTE_CAPABILITY_MINOR
    (77, 32768),        // MAX_TEXTURE1D_MIPMAPPED_WIDTH
    (78, 1),            // STREAM_PRIORITIES_SUPPORTED
    (79, 1),            // GLOBAL_L1_CACHE_SUPPORTED
    (80, 1),            // LOCAL_L1_CACHE_SUPPORTED
    (81, 233_472),      // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    (82, 65536),        // MAX_REGISTERS_PER_MULTIPROCESSOR
    (83, 1),            // MANAGED_MEMORY
    (87, 2),            // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    (89, 1),            // CONCURRENT_MANAGED_ACCESS
    (90, 1),            // COMPUTE_PREEMPTION_SUPPORTED
    (91, 1),            // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    (95, 1),            // COOPERATIVE_LAUNCH
    (97, 232_448),      // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    (99, 1),            // HOST_REGISTER_SUPPORTED
    (106, 32),          // MAX_BLOCKS_PER_MULTIPROCESSOR
    (108, 39_321_600),  // MAX_PERSISTING_L2_CACHE_SIZE
    (109, 134_217_728), // MAX_ACCESS_POLICY_WINDOW_SIZE
    (111, 1024),        // RESERVED_SHARED_MEMORY_PER_BLOCK
    (113, 1),           // READ_ONLY_HOST_REGISTER_SUPPORTED
    (115, 1),           // MEMORY_POOLS_SUPPORTED
    (118, 100),         // GPU_DIRECT_RDMA_WRITES_ORDERING
    (120, 1),           // CLUSTER_LAUNCH
    (126, 4),           // MEM_SYNC_DOMAIN_COUNT
    (129, 1),           // UNIFIED_FUNCTION_POINTERS
    (130, 0),           // NUMA_CONFIG
    (131, -1),          // NUMA_ID
    (134, 0),           // HOST_NUMA_ID
];
/// `CU_DEVICE_ATTRIBUTE_MAX` of CUDA 13.0.
const ATTRIBUTE_END: u32 = 148;
const PCI_BUS_ID: u32 = 33;
/// The bus of device 0; each device has its own.
const FIRST_BUS: i32 = 0x17;

/// Greatest and least stream priority (lower numbers are more urgent).
pub(crate) const PRIORITIES: (i32, i32) = (-5, 0);

impl Driver {
    pub(crate) fn add_device(&mut self, ordinal: usize) {
        let bytes = self.window.bytes_per_device;
        let base = self.window.base + ordinal as u64 * bytes;
        let id = self.next_context_id();
        let primary = self.contexts.insert(Context::new(ordinal, true, id));
        let default_pool = self.new_pool(ordinal, true, 0, None);
        let space = Space::new(base, bytes, self.settings.memory_bytes);
        self.devices.push(Device {
            space,
            primary,
            default_pool,
            current_pool: default_pool,
            sticky: None,
        });
    }

    /// Whether there is a device of this ordinal.
    #[must_use]
    pub fn has_device(&self, ordinal: i32) -> bool {
        self.device(ordinal).is_ok()
    }

    /// The index of a device by ordinal.
    pub(crate) fn device(&self, ordinal: i32) -> Result<usize> {
        self.initialized()?;
        usize::try_from(ordinal)
            .ok()
            .filter(|index| *index < self.devices.len())
            .ok_or(CudaError::INVALID_DEVICE)
    }

    /// The device whose addresses include `address`, whether anything lies there or not.
    #[inline]
    pub(crate) fn device_of(&self, address: u64) -> Option<usize> {
        let offset = address.checked_sub(self.window.base)?;
        let index = (offset >> self.window.bytes_per_device.trailing_zeros()) as usize;
        (index < self.devices.len()).then_some(index)
    }

    /// `cuDeviceGetCount`.
    pub fn device_count(&self) -> Result<i32> {
        self.initialized()?;
        Ok(self.devices.len() as i32)
    }

    /// `cuDeviceGet`.
    pub fn device_get(&self, ordinal: i32) -> Result<i32> {
        self.device(ordinal).map(|_| ordinal)
    }

    /// `cuDeviceTotalMem`, in bytes.
    pub fn device_total(&self, device: i32) -> Result<u64> {
        self.device(device).map(|index| self.devices[index].space.total_bytes())
    }

    /// `cuDeviceGetAttribute`.
    pub fn device_attribute(&self, attribute: u32, device: i32) -> Result<i32> {
        let index = self.device(device)?;
        match attribute {
            0 | ATTRIBUTE_END.. => Err(CudaError::INVALID_VALUE),
            PCI_BUS_ID => Ok(FIRST_BUS + index as i32),
            _ => Ok(ATTRIBUTES
                .iter()
                .find(|(known, _)| *known == attribute)
                .map_or(0, |(_, value)| *value)),
        }
    }

    /// `cuDeviceGetUuid`: the same in every process.
    pub fn device_uuid(&self, device: i32) -> Result<[u8; 16]> {
        let index = self.device(device)?;
        let mut uuid = *b"allocert-device-";
        uuid[15] = index as u8;
        Ok(uuid)
    }

    /// `cuDeviceGetPCIBusId`.
    pub fn device_bus_id(&self, device: i32) -> Result<String> {
        self.device_attribute(PCI_BUS_ID, device).map(|bus| format!("0000:{bus:02X}:00.0"))
    }

    /// `cuDeviceCanAccessPeer`.
    pub fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        let (device, peer) = (self.device(device)?, self.device(peer)?);
        Ok(device != peer && self.settings.peer_access)
    }
}
