//! The calls of a host into an EMM plugin.

/// The result of a call that ended with an exception.
pub const RAISED: i32 = 1;

super::define_functions::functions! {
    /// One way into a plugin, as the worker that plays the plugin of a host records it. `number`
    /// counts the calls of a case from 1, `manager` the plugin's instances. The result is 0, or
    /// [`RAISED`].
    ///
    /// Values that are not numbers are 0 here; the facts of the step have them under the same
    /// number.
    pub enum Function {
        /// The plugin's class is called, by a host that makes its instance for a context.
        Create(number, manager, registration, context_is_none) -> ();
        /// The property `interface_version`.
        InterfaceVersion(number, manager) -> (version);
        /// `initialize()`.
        Initialize(number, manager) -> ();
        /// `memalloc(size)`.
        Memalloc(number, manager, size_bytes) -> (pointer);
        /// `memhostalloc(size, mapped, portable, wc)`.
        Memhostalloc(number, manager, size_bytes, mapped, portable, wc) -> (host_pointer);
        /// `mempin(owner, pointer, size, mapped)`.
        Mempin(number, manager, host_pointer, size_bytes, mapped) -> ();
        /// `get_memory_info()`.
        GetMemoryInfo(number, manager) -> (free_bytes, total_bytes);
        /// `get_ipc_handle(memory)`.
        GetIpcHandle(number, manager, pointer, size_bytes) -> ();
        /// `reset()`.
        Reset(number, manager) -> ();
        /// `defer_cleanup()`.
        DeferCleanup(number, manager) -> ();
        /// The scope that `defer_cleanup` returned is entered.
        DeferEnter(number, manager) -> ();
        /// The scope that `defer_cleanup` returned is left, `raising` if by an exception.
        DeferExit(number, manager, raising) -> ();
        /// The finalizer of the memory that call `of` gave, for the `times`th time; `live` if the
        /// memory was not given back before.
        Finalize(number, manager, of, pointer, times, live) -> ();
    }
}
