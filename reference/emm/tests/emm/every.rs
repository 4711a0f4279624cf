//! What all three managers promise alike.

use allocert_emm::{
    Deferred, Direct, Error, HostFlags, HostOnly, Kind, Manager, MemoryKind, Pool, Token,
};
use rstest::rstest;

use crate::script::Script;

const MIB: u64 = 1 << 20;

pub(crate) fn open(kind: Kind, driver: &Script) -> Box<dyn Manager> {
    let driver = driver.clone();
    match kind {
        Kind::Pool => Box::new(Pool::new(driver)),
        Kind::Deferred => Box::new(Deferred::new(driver)),
        Kind::HostOnly => Box::new(HostOnly::<Direct<Script>, Script>::new(driver)),
    }
}

macro_rules! every {
    (fn $name:ident($kind:ident, $driver:ident, $manager:ident) $body:block) => {
        #[rstest]
        fn $name(#[values(Kind::Pool, Kind::Deferred, Kind::HostOnly)] $kind: Kind) {
            let $driver = Script::new(256 * MIB);
            let $manager = open($kind, &$driver);
            $body
        }
    };
}

every! {
    fn reset_may_come_first_and_again(kind, driver, manager) {
        manager.reset();
        manager.reset();
        manager.initialize().expect("a driver");
        let memory = manager.memalloc(1000).expect("enough memory");
        let found = (memory.kind, memory.size_bytes, memory.host_pointer);
        assert_eq!(found, (MemoryKind::Device, 1000, 0));
        manager.reset();
        assert!(driver.state().device.is_empty());
        manager.memalloc(1000).expect("works without another initialize");
    }
}

every! {
    fn initialize_again_loses_nothing(kind, driver, manager) {
        manager.initialize().expect("a driver");
        let memory = manager.memalloc(1000).expect("enough memory");
        driver.calls();
        manager.initialize().expect("a driver");
        assert_eq!(driver.calls(), [""; 0]);
        assert_eq!(manager.release(memory.token), Ok(()));
    }
}

every! {
    fn a_finalizer_after_reset_touches_nothing(kind, driver, manager) {
        manager.initialize().expect("a driver");
        let old = manager.memalloc(1000).expect("enough memory");
        let pinned = manager.mempin(0x1000, 64, false).expect("not pinned yet");
        manager.reset();
        let new = manager.memalloc(1000).expect("enough memory");
        driver.calls();
        assert_eq!(manager.release(old.token), Ok(()));
        assert_eq!(manager.release(pinned.token), Ok(()));
        assert_eq!(driver.calls(), [""; 0]);
        assert_eq!(manager.release(new.token), Ok(()));
    }
}

every! {
    fn releasing_twice_or_a_foreign_token_is_the_callers_fault(kind, _driver, manager) {
        let memory = manager.memalloc(1000).expect("enough memory");
        let pinned = manager.memhostalloc(64, HostFlags::default()).expect("enough memory");
        for token in [memory.token, pinned.token] {
            assert_eq!(manager.release(token), Ok(()));
            assert!(matches!(manager.release(token), Err(Error::InvalidValue(_))), "{token:?}");
        }
        assert!(matches!(manager.release(Token(0)), Err(Error::InvalidValue(_))));
    }
}

every! {
    fn size_0_is_an_allocation_of_its_own(kind, driver, manager) {
        let [a, b] = [(); 2].map(|()| manager.memalloc(0).expect("enough memory"));
        assert_eq!((a.size_bytes, b.size_bytes), (0, 0));
        assert!(a.device_pointer != b.device_pointer && a.token != b.token);
        let host = manager.memhostalloc(0, HostFlags::default()).expect("enough memory");
        assert!(host.size_bytes == 0 && host.host_pointer != 0);
        assert!(matches!(manager.get_ipc_handle(a.token, 0), Err(Error::InvalidValue(_))));
        for token in [a.token, b.token, host.token] {
            assert_eq!(manager.release(token), Ok(()));
        }
        manager.reset();
        assert!(driver.state().device.is_empty() && driver.state().host.is_empty());
    }
}

every! {
    fn running_out_changes_nothing(kind, driver, manager) {
        manager.initialize().expect("a driver");
        let memory = manager.memalloc(1000).expect("enough memory");
        let before = driver.state().device.clone();
        assert!(manager.memalloc(1 << 40).expect_err("too much").is_out_of_memory());
        assert!(manager.memalloc(u64::MAX).expect_err("too much").is_out_of_memory());
        assert_eq!(driver.state().device, before);
        assert_eq!(manager.release(memory.token), Ok(()));
    }
}

every! {
    fn host_flags_reach_the_driver_unchanged(kind, driver, manager) {
        let flags = HostFlags { mapped: true, portable: true, write_combined: false };
        let memory = manager.memhostalloc(64, flags).expect("enough memory");
        assert_eq!(memory.kind, MemoryKind::Mapped);
        assert_eq!(memory.device_pointer, memory.host_pointer as u64 | 1 << 60);
        assert_eq!(driver.calls()[0], "hostalloc 64 true true false");
        let flags = HostFlags { write_combined: true, ..HostFlags::default() };
        let memory = manager.memhostalloc(64, flags).expect("enough memory");
        assert_eq!((memory.kind, memory.device_pointer), (MemoryKind::Pinned, 0));
        assert_eq!(driver.calls(), ["hostalloc 64 false false true"]);
    }
}

every! {
    fn unpinning_does_not_wait(kind, driver, manager) {
        manager.initialize().expect("a driver");
        manager.defer_begin();
        let pinned = manager.mempin(0x1000, 64, true).expect("not pinned yet");
        assert!(matches!(manager.mempin(0x1000, 64, true), Err(Error::Driver(_))), "pinned twice");
        driver.calls();
        manager.release(pinned.token).expect("live");
        assert_eq!(driver.calls(), ["unregister"]);
        manager.mempin(0x1000, 64, true).expect("may be pinned again at once");
        manager.defer_end().expect("begun");
    }
}

every! {
    fn nothing_is_freed_while_deferred(kind, driver, manager) {
        manager.initialize().expect("a driver");
        manager.defer_begin();
        manager.defer_begin();
        for _ in 0..50 {
            let device = manager.memalloc(MIB).expect("enough memory");
            let host = manager.memhostalloc(64, HostFlags::default()).expect("enough memory");
            manager.release(device.token).expect("live");
            manager.release(host.token).expect("live");
        }
        manager.defer_end().expect("begun twice");
        assert!(!driver.calls().iter().any(|call| call == "free" || call == "hostfree"));
        manager.defer_end().expect("begun twice");
        assert!(driver.state().host.is_empty(), "what came due is freed at the end");
        assert!(matches!(manager.defer_end(), Err(Error::State(_))));
        manager.reset();
        assert!(driver.state().device.is_empty());
    }
}

every! {
    fn reset_takes_everything_back_inside_defer_and_keeps_its_nesting(kind, driver, manager) {
        manager.initialize().expect("a driver");
        manager.defer_begin();
        let memory = manager.memalloc(1000).expect("enough memory");
        manager.memhostalloc(64, HostFlags::default()).expect("enough memory");
        manager.mempin(0x1000, 64, false).expect("not pinned yet");
        manager.release(memory.token).expect("live");
        manager.reset();
        assert!(driver.state().device.is_empty() && driver.state().host.is_empty());
        assert_eq!(manager.defer_end(), Ok(()));
    }
}

every! {
    fn a_context_that_is_gone_stops_neither_reset_nor_drop(kind, driver, manager) {
        manager.memalloc(1000).expect("enough memory");
        manager.memhostalloc(64, HostFlags::default()).expect("enough memory");
        driver.state().dead = true;
        manager.reset();
        driver.calls();
        drop(manager);
        assert_eq!(driver.calls(), [""; 0], "reset has let go of everything");
    }
}

every! {
    fn dropping_the_manager_gives_everything_back(kind, driver, manager) {
        manager.memalloc(1000).expect("enough memory");
        manager.mempin(0x1000, 64, false).expect("not pinned yet");
        drop(manager);
        assert!(driver.state().device.is_empty() && driver.state().host.is_empty());
    }
}

every! {
    fn an_ipc_handle_counts_from_the_base(kind, driver, manager) {
        driver.state().base_offset_bytes = match kind {
            Kind::Pool => 0, // asks for no base: it knows its chunks
            _ => 512,
        };
        let [first, second] = [(); 2].map(|()| manager.memalloc(1000).expect("enough memory"));
        driver.calls();
        let handle = manager.get_ipc_handle(second.token, 10).expect("live");
        let base = match kind {
            Kind::Pool => first.device_pointer,
            _ => second.device_pointer - 512,
        };
        assert!(driver.calls().contains(&format!("ipc {base:#x}")));
        assert_eq!(base + handle.offset_bytes, second.device_pointer + 10);
        let found = (handle.size_bytes, handle.handle, handle.device_uuid);
        assert_eq!(found, (1000, [7; 64], [9; 16]));
        assert!(matches!(manager.get_ipc_handle(second.token, 1000), Err(Error::InvalidValue(_))));
        manager.release(second.token).expect("live");
        assert!(matches!(manager.get_ipc_handle(second.token, 0), Err(Error::InvalidValue(_))));
    }
}

every! {
    fn any_thread_may_release(kind, driver, manager) {
        let manager = &*manager;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for size_bytes in 0..500 {
                        let memory = manager.memalloc(size_bytes * 64).expect("enough memory");
                        scope.spawn(move || manager.release(memory.token).expect("live"));
                    }
                });
            }
        });
        manager.reset();
        assert!(driver.state().device.is_empty());
    }
}

#[rstest]
#[case::pool(Kind::Pool, true)]
#[case::deferred(Kind::Deferred, true)]
#[case::host_only(Kind::HostOnly, false)]
fn memory_info_or_a_refusal(#[case] kind: Kind, #[case] tells: bool) {
    let driver = Script::new(256 * MIB);
    let manager = open(kind, &driver);
    manager.initialize().expect("a driver");
    let before = manager.get_memory_info();
    assert_eq!(before.is_ok(), tells);
    let Ok(before) = before else {
        assert!(matches!(before, Err(Error::NotSupported(_))));
        return;
    };
    manager.memalloc(MIB).expect("enough memory");
    let after = manager.get_memory_info().expect("it told before");
    assert_eq!((before.total_bytes, before.free_bytes - after.free_bytes), (256 * MIB, MIB));
}
