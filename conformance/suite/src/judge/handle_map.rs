//! Maps by handle or address. The standard hasher costs more than the rest of a look-up.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Values by handle. The order of its entries is another one in each run.
pub(crate) type HandleMap<T> = HashMap<u64, T, HandleHash>;

/// Multiplies handles with a number that each map draws, so that no subject can choose handles that
/// meet in the map.
#[derive(Debug, Clone)]
pub(crate) struct HandleHash {
    factor: u64,
}

impl Default for HandleHash {
    fn default() -> Self {
        // Odd, so that no handle is lost.
        Self { factor: RandomState::new().hash_one(0) | 1 }
    }
}

impl BuildHasher for HandleHash {
    type Hasher = HandleHasher;

    fn build_hasher(&self) -> HandleHasher {
        HandleHasher { factor: self.factor, hash: 0 }
    }
}

#[derive(Debug)]
pub(crate) struct HandleHasher {
    factor: u64,
    hash: u64,
}

impl Hasher for HandleHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.hash ^ value ^ self.factor) * u128::from(self.factor);
        self.hash = (product >> 64) as u64 ^ product as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.hash
    }
}
