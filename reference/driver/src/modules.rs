//! Modules, libraries and kernels.

use allocert_contract::{DevicePtr, trace::cuda::Misuse};

use crate::{
    Caller, Driver,
    address_space::Owner,
    code_image::{Kernel, Kernels, Layout, Parameter},
    context::Context,
    error::{CudaError, Result},
    handle_registry::Registry,
};

/// All code objects of the process.
#[derive(Debug)]
pub(crate) struct Code {
    images: Registry<Image>,
    functions: Registry<Function>,
}

/// A module or a library.
#[derive(Debug)]
struct Image {
    /// 0 for a library, which belongs to no context.
    context: u64,
    /// `None` if the image is opaque.
    kernels: Option<Kernels>,
    functions: Vec<Known>,
    /// The names and the addresses of the variables that were looked up.
    variables: Vec<(String, u64)>,
    /// The modules of a library, by context.
    modules: Vec<(u64, u64)>,
    /// Why the code of a library cannot be used.
    refused: Option<CudaError>,
}

/// A function that was looked up.
#[derive(Debug)]
struct Known {
    name: String,
    /// As [`Function::context`].
    context: u64,
    handle: u64,
}

/// A function or a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    image: u64,
    /// The context that it runs in; 0 for a kernel, which runs in any.
    pub(crate) context: u64,
    pub(crate) name: String,
    pub(crate) kernel: Kernel,
    /// As `cuFuncSetAttribute` left them.
    pub(crate) most_shared_bytes: i32,
    pub(crate) carveout: i32,
    cluster_policy: i32,
}

impl Code {
    pub(crate) fn new() -> Self {
        Self { images: Registry::new(0x30), functions: Registry::new(0xf0) }
    }
}

impl Function {
    /// The most threads that a block of it may have.
    pub(crate) fn most_threads(&self) -> u32 {
        self.kernel.most_threads.unwrap_or(MAX_BLOCK_THREADS).min(MAX_BLOCK_THREADS)
    }
}

fn static_shared_bytes(kernel: &Kernel) -> i32 {
    let most = UNASKED_SHARED_BYTES as u64;
    kernel.shared_bytes.min(most) as i32
}

impl Image {
    fn new(context: u64, kernels: Option<Kernels>) -> Self {
        Self {
            context,
            kernels,
            functions: Vec::new(),
            variables: Vec::new(),
            modules: Vec::new(),
            refused: None,
        }
    }

    fn known(&self, name: &str, context: u64) -> Option<u64> {
        let is = |known: &&Known| known.name == name && known.context == context;
        self.functions.iter().find(is).map(|known| known.handle)
    }
}

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
pub(crate) const MAX_THREADS_PER_BLOCK: u32 = 0;
/// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`
pub(crate) const SHARED_SIZE_BYTES: u32 = 1;
/// `CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES`
const CONST_SIZE_BYTES: u32 = 2;
/// `CU_FUNC_ATTRIBUTE_NUM_REGS`
pub(crate) const NUM_REGS: u32 = 4;
/// `CU_FUNC_ATTRIBUTE_PTX_VERSION`
const PTX_VERSION: u32 = 5;
/// `CU_FUNC_ATTRIBUTE_BINARY_VERSION`
const BINARY_VERSION: u32 = 6;

/// No kernel is compiled; each counts as one that takes so many registers a thread.
const REGISTERS: i32 = 32;
const BINARY_VERSION_OF_H200: i32 = 90;
/// The shared memory of a block that no kernel must ask for.
pub(crate) const UNASKED_SHARED_BYTES: i32 = 48 << 10;

const MAX_BLOCK_THREADS: u32 = 1024;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub(crate) const MAX_DYNAMIC_SHARED_SIZE_BYTES: u32 = 8;
/// A block of an H200 has no more.
const MOST_SHARED_BYTES: i32 = 232_448;
/// `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`
const PREFERRED_SHARED_MEMORY_CARVEOUT: u32 = 9;
/// `CU_SHAREDMEM_CARVEOUT_DEFAULT`
const NO_CARVEOUT: i32 = -1;
/// `CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH`
const CLUSTER_WIDTH: u32 = 11;
/// `CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE`
const CLUSTER_POLICY: u32 = 15;
/// `CUclusterSchedulingPolicy`
const CLUSTER_POLICIES: std::ops::RangeInclusive<i32> = 0..=2;
/// `CU_FUNC_ATTRIBUTE_MAX`
const END_OF_ATTRIBUTES: u32 = 16;

impl Driver {
    /// `cuModuleLoadData`. No `kernels`: the image is opaque. Waits for all work of the context.
    pub fn module_load(&mut self, caller: &Caller, kernels: Option<Kernels>) -> Result<u64> {
        let context = self.current(caller)?;
        self.settle_context(context)?;
        Ok(self.code.images.insert(Image::new(context, kernels)))
    }

    /// `cuLibraryLoadData`. `refused` is what a use of its code fails with.
    pub fn library_load(
        &mut self,
        kernels: Option<Kernels>,
        refused: Option<CudaError>,
    ) -> Result<u64> {
        self.initialized()?;
        Ok(self.code.images.insert(Image { refused, ..Image::new(0, kernels) }))
    }

    /// `cuModuleUnload`. Waits for all work of the module's context.
    pub fn module_unload(&mut self, handle: u64) -> Result {
        let context = self.image(handle)?.context;
        if context != 0 {
            self.drain_context(context)?;
        }
        self.drop_image(handle);
        Ok(())
    }

    /// `cuLibraryUnload`. Waits for all work of the contexts in which functions of the library or
    /// of its modules were made, or in which a module of it has a variable.
    pub fn library_unload(&mut self, handle: u64) -> Result {
        self.image(handle)?;
        for context in self.contexts_to_unload_from(handle) {
            self.drain_context(context)?;
        }
        self.drop_image(handle);
        Ok(())
    }

    fn contexts_to_unload_from(&self, handle: u64) -> Vec<u64> {
        // The modules of contexts that have ended are gone.
        let Ok(image) = self.code.images.get(handle) else { return Vec::new() };
        let has_variables = image.kernels.as_ref().is_some_and(Kernels::has_variables);
        let of_variables = has_variables.then_some(image.context).into_iter();
        let of_functions = image.functions.iter().map(|known| known.context);
        let of_modules =
            image.modules.iter().flat_map(|(_, module)| self.contexts_to_unload_from(*module));
        let all = of_variables.chain(of_functions).chain(of_modules);
        all.filter(|context| *context != 0).collect()
    }

    fn drop_image(&mut self, handle: u64) {
        if let Ok(image) = self.code.images.remove(handle) {
            for (_, module) in image.modules {
                self.drop_image(module);
            }
            for (_, address) in image.variables {
                self.release_variable(address);
            }
        }
        for function in self.code.functions.handles(|function| function.image == handle) {
            self.code.functions.remove(function).ok();
        }
    }

    /// `cuModuleGetFunction`. The first look-up of a function loads it, and what any stream of the
    /// context does later comes after all that was queued before.
    pub fn module_function(&mut self, handle: u64, name: &str) -> Result<u64> {
        let image = self.image(handle)?;
        let (context, known) = (image.context, image.functions.len());
        let function = self.image_function(handle, name)?;
        if self.image(handle)?.functions.len() > known && context != 0 {
            self.raise_barrier(context)?;
        }
        Ok(function)
    }

    /// `cuLibraryGetKernel`. An opaque image has every name that is asked for.
    pub fn image_function(&mut self, handle: u64, name: &str) -> Result<u64> {
        let image = self.usable_image(handle)?;
        let context = image.context;
        if let Some(function) = image.known(name, context) {
            return Ok(function);
        }
        let kernel = match &image.kernels {
            Some(kernels) => kernels.kernel(name).cloned().ok_or(CudaError::NOT_FOUND)?,
            None => Kernel::default(),
        };
        let function = self.code.functions.insert(Function {
            image: handle,
            context,
            name: name.to_owned(),
            most_shared_bytes: UNASKED_SHARED_BYTES - static_shared_bytes(&kernel),
            kernel,
            carveout: NO_CARVEOUT,
            cluster_policy: 0,
        });
        let known = Known { name: name.to_owned(), context, handle: function };
        self.image(handle)?.functions.push(known);
        Ok(function)
    }

    /// `cuLibraryGetModule`: the library's module in the current context.
    pub fn library_module(&mut self, caller: &Caller, library: u64) -> Result<u64> {
        let context = self.current(caller)?;
        if self.image(library)?.context != 0 {
            return Ok(library);
        }
        self.load_library(library, context)
    }

    /// The module of a library in a context. Waits for all work of the context the first time, when
    /// the library is loaded there.
    fn load_library(&mut self, library: u64, context: u64) -> Result<u64> {
        let image = self.usable_image(library)?;
        let kernels = image.kernels.clone();
        let known = image.modules.iter().find(|(of, _)| *of == context).map(|(_, module)| *module);
        if let Some(module) = known.filter(|module| self.code.images.get(*module).is_ok()) {
            return Ok(module);
        }
        self.settle_context(context)?;
        let module = self.code.images.insert(Image::new(context, kernels));
        self.image(library)?.modules.push((context, module));
        Ok(module)
    }

    /// `cuModuleGetGlobal`: the address and the bytes of a variable, which takes memory from its
    /// first look-up until its module ends. `INVALID_VALUE` for no name and for a kernel's.
    pub fn module_variable(&mut self, handle: u64, name: &str) -> Result<(DevicePtr, u64)> {
        let image = self.image(handle)?;
        let kernels = image.kernels.as_ref();
        if name.is_empty() || kernels.is_some_and(|kernels| kernels.kernel(name).is_some()) {
            return Err(CudaError::INVALID_VALUE);
        }
        let bytes = kernels.and_then(|kernels| kernels.variable_bytes(name));
        let bytes = bytes.ok_or(CudaError::NOT_FOUND)?;
        if let Some((_, address)) = image.variables.iter().find(|(known, _)| known == name) {
            return Ok((DevicePtr(*address), bytes));
        }
        let context = image.context;
        let device = self.usable(context)?.device;
        let buffer_id = self.next_buffer_id();
        let space = &mut self.devices[device].space;
        let address = space
            .allocate(bytes.max(1), context, Owner::Module, buffer_id)
            .ok_or(CudaError::OUT_OF_MEMORY)?;
        self.image(handle)?.variables.push((name.to_owned(), address));
        Ok((DevicePtr(address), bytes))
    }

    /// Whether a module or library can be asked for what is in it.
    pub fn module_exists(&mut self, handle: u64) -> Result {
        self.image(handle).map(|_| ())
    }

    /// `cuFuncGetAttribute`, `cuKernelGetAttribute`.
    pub fn function_attribute(&mut self, handle: u64, attribute: u32) -> Result<i32> {
        let function = self.function(handle)?;
        let kernel = &function.kernel;
        Ok(match attribute {
            MAX_THREADS_PER_BLOCK => function.most_threads() as i32,
            SHARED_SIZE_BYTES => static_shared_bytes(kernel),
            CONST_SIZE_BYTES => i32::try_from(kernel.constant_bytes).unwrap_or(i32::MAX),
            NUM_REGS => REGISTERS,
            PTX_VERSION => kernel.target,
            BINARY_VERSION => BINARY_VERSION_OF_H200,
            MAX_DYNAMIC_SHARED_SIZE_BYTES => function.most_shared_bytes,
            PREFERRED_SHARED_MEMORY_CARVEOUT => function.carveout,
            CLUSTER_POLICY => function.cluster_policy,
            END_OF_ATTRIBUTES.. => return Err(CudaError::INVALID_VALUE),
            _ => 0,
        })
    }

    /// `cuKernelSetAttribute`: also loads the kernel in all contexts of the device.
    pub fn kernel_set_attribute(
        &mut self,
        kernel: u64,
        attribute: u32,
        value: i32,
        device: i32,
    ) -> Result {
        let device = self.device(device)?;
        self.function_set_attribute(kernel, attribute, value)?;
        let of_device = |context: &Context| context.active && context.device == device;
        for context in self.contexts.handles(of_device) {
            self.load_kernel(kernel, context)?;
        }
        Ok(())
    }

    /// `cuFuncSetAttribute`: dynamic shared memory, the preferred share of shared memory and the
    /// policy of clusters are kept, their sizes accepted.
    pub fn function_set_attribute(&mut self, handle: u64, attribute: u32, value: i32) -> Result {
        let function = self.function(handle)?;
        let (kept, allowed) = match attribute {
            MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                let most = MOST_SHARED_BYTES - static_shared_bytes(&function.kernel);
                (&mut function.most_shared_bytes, 0..=most)
            }
            PREFERRED_SHARED_MEMORY_CARVEOUT => (&mut function.carveout, NO_CARVEOUT..=100),
            CLUSTER_WIDTH..CLUSTER_POLICY => return Ok(()),
            CLUSTER_POLICY => (&mut function.cluster_policy, CLUSTER_POLICIES),
            _ => return Err(CudaError::INVALID_VALUE),
        };
        if !allowed.contains(&value) {
            return Err(CudaError::INVALID_VALUE);
        }
        *kept = value;
        Ok(())
    }

    /// `cuKernelGetFunction`: the kernel's function in the current context.
    pub fn kernel_function(&mut self, caller: &Caller, kernel: u64) -> Result<u64> {
        let context = self.current(caller)?;
        self.load_kernel(kernel, context)
    }

    /// The function of a kernel in a context. Waits if its library must be loaded there. The first
    /// time the kernel itself is loaded, and what any stream of the context does later comes after
    /// all that was queued before.
    fn load_kernel(&mut self, kernel: u64, context: u64) -> Result<u64> {
        let function = self.function(kernel)?.clone();
        if function.context != 0 {
            return Ok(kernel);
        }
        let (image, name) = (function.image, function.name.clone());
        self.load_library(image, context)?;
        if let Some(known) = self.image(image)?.known(&name, context) {
            return Ok(known);
        }
        self.raise_barrier(context)?;
        let handle = self.code.functions.insert(Function { context, ..function });
        self.image(image)?.functions.push(Known { name, context, handle });
        Ok(handle)
    }

    /// Whether there is such a function or kernel.
    pub fn function_exists(&mut self, handle: u64) -> Result {
        self.function(handle).map(|_| ())
    }

    /// `cuKernelGetParamInfo`: also loads the kernel in the current context.
    pub fn kernel_parameter(
        &mut self,
        caller: &Caller,
        kernel: u64,
        index: u64,
    ) -> Result<Parameter> {
        let parameter = self.function_parameter(kernel, index)?;
        self.kernel_function(caller, kernel)?;
        Ok(parameter)
    }

    /// `cuFuncGetParamInfo`.
    pub fn function_parameter(&mut self, handle: u64, index: u64) -> Result<Parameter> {
        let layout = self.function_layout(handle)?.ok_or(CudaError::NOT_SUPPORTED)?;
        let index = usize::try_from(index).map_err(|_| CudaError::INVALID_VALUE)?;
        layout.get(index).copied().ok_or(CudaError::INVALID_VALUE)
    }

    /// A kernel's parameters; `None` if its image does not have them.
    pub fn function_layout(&mut self, handle: u64) -> Result<Layout> {
        self.function(handle).map(|function| function.kernel.layout.clone())
    }

    /// Frees a variable's memory, unless it ended with its context.
    fn release_variable(&mut self, address: u64) {
        let Some(device) = self.device_of(address) else { return };
        let space = &self.devices[device].space;
        let id = space.find_base(address);
        if let Some(id) = id.filter(|id| space.block(*id).owner == Owner::Module) {
            self.release(device, id);
        }
    }

    pub(crate) fn drop_code_of(&mut self, context: u64) {
        for image in self.code.images.handles(|image| image.context == context) {
            self.drop_image(image);
        }
        for function in self.code.functions.handles(|function| function.context == context) {
            if let Ok(function) = self.code.functions.remove(function)
                && let Ok(library) = self.code.images.get_mut(function.image)
            {
                library.functions.retain(|known| known.context != context);
            }
        }
    }

    fn image(&mut self, handle: u64) -> Result<&mut Image> {
        self.initialized()?;
        if self.code.images.get(handle).is_err() {
            self.report_misuse(Misuse::UnknownObject, [handle, 0]);
        }
        self.code.images.get_mut(handle).map_err(|_| CudaError::INVALID_HANDLE)
    }

    /// An image whose code can be used.
    fn usable_image(&mut self, handle: u64) -> Result<&mut Image> {
        let image = self.image(handle)?;
        image.refused.map_or(Ok(image), Err)
    }

    pub(crate) fn function(&mut self, handle: u64) -> Result<&mut Function> {
        self.initialized()?;
        if self.code.functions.get(handle).is_err() {
            self.report_misuse(Misuse::UnknownObject, [handle, 0]);
        }
        self.code.functions.get_mut(handle).map_err(|_| CudaError::INVALID_HANDLE)
    }
}
