//! Tables of functions that a library exports, copied from an address that may be wrong.

use crate::checked_memory;

/// The table of `N` bytes at an address that a library gave, as much of it as its `size`, its first
/// member, says; the rest is zeros. What every table must hold is `opening_bytes` long.
pub(crate) fn copy<const N: usize>(
    address: usize,
    opening_bytes: usize,
) -> Result<[u8; N], String> {
    if address == 0 {
        return Err("NULL".to_owned());
    }
    let mut size = [0; size_of::<usize>()];
    if checked_memory::read(address, &mut size) < size.len() {
        return Err(format!("an address that cannot be read, {address:#x}"));
    }
    let size = usize::from_ne_bytes(size);
    if size < opening_bytes {
        return Err(format!("its size is {size}, too little for an interface_version"));
    }
    let mut bytes = [0; N];
    let known = size.min(bytes.len());
    if checked_memory::read(address, &mut bytes[..known]) < known {
        return Err(format!("its size is {size}, and that much cannot be read"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_copied_no_further_than_its_size() {
        const WORD: usize = size_of::<usize>();
        let copied = |address| copy::<{ 4 * WORD }>(address, 2 * WORD);
        assert_eq!(copied(0).err().as_deref(), Some("NULL"));
        assert_eq!(copied(64).err().as_deref(), Some("an address that cannot be read, 0x40"));
        let mut words = [usize::MAX; 4];
        words[0] = WORD;
        let address = words.as_ptr().addr();
        assert!(copied(address).is_err_and(|why| why.contains("its size is 8")));
        words[0] = 3 * WORD;
        let bytes = copied(words.as_ptr().addr()).expect("readable");
        assert_eq!((bytes[3 * WORD - 1], bytes[3 * WORD]), (0xff, 0));
    }
}
