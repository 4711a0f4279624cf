//! The functions of a NumPy `PyDataMem_Handler`. NEP 49.

super::define_functions::functions! {
    /// A function of a handler's `PyDataMemAllocator`. The parameters have the names of the C
    /// declaration; sizes are in bytes. None of them reports an error but by a null pointer, so the
    /// result of a call that returned is 0.
    pub enum Function {
        /// `malloc(ctx, size)`.
        Malloc(ctx, size) -> (ptr);
        /// `calloc(ctx, nelem, elsize)`: `nelem` elements of `elsize` bytes.
        Calloc(ctx, nelem, elsize) -> (ptr);
        /// `realloc(ctx, ptr, new_size)`.
        Realloc(ctx, ptr, new_size) -> (new_ptr);
        /// `free(ctx, ptr, size)`.
        Free(ctx, ptr, size) -> ();
    }
}
