use std::env;

/// How large the pool of a place is at first, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The length of the first chunk. Later chunks are as long, or an eighth of what the pool has.
    pub initial_pool_bytes: u64,
    /// So much the pool takes from the system at most. `None`: no limit but the system's.
    pub max_pool_bytes: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { initial_pool_bytes: 32 << 20, max_pool_bytes: None }
    }
}

impl Settings {
    /// The settings of the environment: `ALLOCERT_PLACE_INITIAL_POOL_BYTES` and
    /// `ALLOCERT_PLACE_MAX_POOL_BYTES`. A variable that is no number counts as not set; stderr says
    /// so.
    #[must_use]
    pub fn from_environment() -> Self {
        let default = Self::default();
        Self {
            initial_pool_bytes: bytes("ALLOCERT_PLACE_INITIAL_POOL_BYTES")
                .unwrap_or(default.initial_pool_bytes),
            max_pool_bytes: bytes("ALLOCERT_PLACE_MAX_POOL_BYTES"),
        }
    }
}

fn bytes(variable: &str) -> Option<u64> {
    let text = env::var_os(variable)?;
    let number = text.to_str().and_then(|text| text.parse().ok());
    if number.is_none() {
        eprintln!(
            "allocert_place: {variable} is {text:?}, which is no number of bytes; it counts as not \
             set"
        );
    }
    number
}
