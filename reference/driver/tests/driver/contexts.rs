//! Contexts and threads.

use allocert_contract::trace::cuda::Misuse;
use allocert_driver::{CudaError, Thread};

use crate::machine::Machine;

#[test]
fn each_thread_has_its_own_stack() {
    let mut machine = Machine::new();
    let context = machine.context;
    let main = std::mem::replace(&mut machine.thread, Thread::new(2));
    machine.driver.adopt(&mut machine.thread);
    assert_eq!(
        machine.call(|driver, caller| driver.alloc(caller, 1)),
        Err(CudaError::INVALID_CONTEXT)
    );
    machine.call(|driver, caller| driver.context_push(caller, context)).expect("pushed");
    machine.alloc(1);
    assert_eq!(main.current(), context);
}

/// As an H200.
#[test]
fn a_thread_pushes_any_number_of_contexts() {
    let mut machine = Machine::new();
    let (primary, times) = (machine.context, 100);
    let other = machine.call(|driver, caller| driver.context_create(caller, 0, 0));
    let other = other.expect("created");
    for number in 0..times {
        let context = if number % 2 == 0 { primary } else { other };
        machine.call(|driver, caller| driver.context_push(caller, context)).expect("pushed");
    }
    for number in (0..times).rev() {
        assert_eq!(machine.thread.current(), if number % 2 == 0 { primary } else { other });
        machine.call(|driver, caller| driver.context_pop(caller)).expect("popped");
    }
    assert_eq!(machine.thread.current(), other);
}

#[test]
fn a_created_context_is_current_and_gone_after_its_destruction() {
    let mut machine = Machine::new();
    let primary = machine.context;
    let created =
        machine.call(|driver, caller| driver.context_create(caller, 0, 0)).expect("created");
    assert_eq!(machine.thread.current(), created);
    machine.call(|driver, caller| driver.context_destroy(caller, created)).expect("destroyed");
    assert_eq!(machine.thread.current(), primary);
    let set = machine.call(|driver, caller| driver.context_set(caller, created));
    assert_eq!(set, Err(CudaError::INVALID_CONTEXT));
    assert_eq!(machine.driver.take_misuses(), [(Misuse::DestroyedContext, [created, 0])]);
}
