//! A plugin that frees device memory in a thread of its own.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use allocert_abi::export_emm_plugin;
use allocert_cuda::DriverError;

use crate::emm::choice::{Choice, Cuda};
use crate::emm::manager::Manager;

export_emm_plugin! {
    variant_frees_in_a_thread => Manager<FreesInAThread>,
}

/// Hands released device memory to a thread, and waits for it where memory is short and in reset().
/// The thread begins with the first release.
#[derive(Debug, Default)]
struct FreesInAThread {
    thread: Mutex<Option<Releases>>,
}

#[derive(Debug)]
struct Releases {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

enum Order {
    Free(Cuda, u64),
    /// Answered when everything before it is done.
    Report(SyncSender<()>),
}

impl Choice for FreesInAThread {
    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let Releases { orders, .. } = thread.get_or_insert_with(Releases::begin);
        // The thread ends after the last sender, so it receives this.
        let _ = orders.send(Order::Free(cuda, pointer));
        Ok(())
    }

    fn trim(&self, _cuda: Cuda) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Releases { orders, .. }) = thread.as_ref() {
            let (done, wait) = mpsc::sync_channel(1);
            let _ = orders.send(Order::Report(done));
            let _ = wait.recv();
        }
    }
}

impl Releases {
    fn begin() -> Self {
        let (orders, received) = mpsc::channel();
        Self { orders, thread: thread::spawn(move || obey(&received)) }
    }
}

fn obey(orders: &Receiver<Order>) {
    for order in orders {
        match order {
            Order::Free(cuda, pointer) => {
                let _ = cuda.free(pointer);
            }
            Order::Report(done) => {
                let _ = done.send(());
            }
        }
    }
}

impl Drop for FreesInAThread {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(Releases { orders, thread }) = thread.take() {
            drop(orders);
            let _ = thread.join();
        }
    }
}
