/// How large a pool is at first, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The length of the first chunk. Later chunks are as long, or a sixteenth of what the pool
    /// has.
    pub initial_pool_bytes: u64,
    /// So much the pool takes from the system at most. `None`: no limit but the system's.
    pub max_pool_bytes: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { initial_pool_bytes: 32 << 20, max_pool_bytes: None }
    }
}
