//! Memory shared with another process.

use crate::{
    child_process::{printed_lines, run_task},
    library::{Cuda, IpcHandle},
};

pub(crate) fn decode(hex: &str) -> [u8; 64] {
    std::array::from_fn(|index| {
        u8::from_str_radix(&hex[2 * index..2 * index + 2], 16)
            .expect("two hexadecimal digits a byte")
    })
}

fn import(handle: IpcHandle) -> Vec<String> {
    let hex: String = handle.0.iter().map(|byte| format!("{byte:02x}")).collect();
    printed_lines(&run_task(&format!("import {hex}"), &[]))
}

#[test]
fn another_process_reads_and_writes_exported_memory() {
    let cuda = Cuda::up();
    let data = cuda.alloc(1000);
    assert_eq!(cuda.cuMemcpyHtoD_v2(data, [1, 2, 3, 4].as_ptr(), 4), 0);
    let mut handle = IpcHandle([0; 64]);
    assert_eq!(cuda.cuIpcGetMemHandle(&mut handle, data), 0);
    let expected =
        ["open=0", "again=0 same=true", "read=[1, 2, 3, 4]", "write=0", "free=1", "close=0 0 1"];
    assert_eq!(import(handle), expected);
    assert_eq!(cuda.read(data, 4), [9, 8, 7, 6]);
    assert_eq!(cuda.cuMemFree_v2(data), 0);
    assert_eq!(import(handle), ["open=1"], "freed memory cannot be opened");
}
