//! The addresses of device memory.

use crate::{fork::in_child, library::Cuda};

#[test]
fn device_memory_cannot_be_touched_from_the_host() {
    in_child(|| {
        let cuda = Cuda::up();
        let data = cuda.alloc(64);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let holding = maps.lines().find(|line| {
            let bounds =
                line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
            let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
            (number(bounds.0)..number(bounds.1)).contains(&data)
        });
        assert!(holding.is_some_and(|line| line.contains(" ---p ")), "{holding:?}");
    });
}
