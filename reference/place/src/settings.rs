use std::env;

use allocert_pool::Settings;

/// The settings of the environment: `ALLOCERT_PLACE_INITIAL_POOL_BYTES` and
/// `ALLOCERT_PLACE_MAX_POOL_BYTES`. A variable that is no number counts as not set; stderr says so.
pub(crate) fn from_environment() -> Settings {
    Settings {
        initial_pool_bytes: bytes("ALLOCERT_PLACE_INITIAL_POOL_BYTES")
            .unwrap_or(Settings::default().initial_pool_bytes),
        max_pool_bytes: bytes("ALLOCERT_PLACE_MAX_POOL_BYTES"),
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
