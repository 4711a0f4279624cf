//! The threads that the steps of a case run on.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use allocert_suite::nouns::Thread;
use allocert_suite::observation::Outcome;

use crate::protocol::Step;
use crate::subject::CaseRun;

/// A case in progress, whose steps several threads perform one after the other.
pub(crate) type SharedRun<'a> = Mutex<Box<dyn CaseRun + 'a>>;

pub(crate) fn lock<'l, 'a>(run: &'l SharedRun<'a>) -> MutexGuard<'l, Box<dyn CaseRun + 'a>> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Performs each step on its thread.
pub(crate) struct StepThreads<'scope, 'env, 'a> {
    scope: &'scope Scope<'scope, 'env>,
    run: &'env SharedRun<'a>,
    second: Option<SecondThread<'scope>>,
}

impl<'scope, 'env, 'a> StepThreads<'scope, 'env, 'a> {
    /// The second thread starts with its first step.
    pub(crate) fn new(scope: &'scope Scope<'scope, 'env>, run: &'env SharedRun<'a>) -> Self {
        Self { scope, run, second: None }
    }

    pub(crate) fn perform(&mut self, step: &'env Step) -> Outcome {
        let run = self.run;
        match step.thread {
            None => lock(run).perform(step),
            Some(Thread::Fresh) => joined(self.scope.spawn(move || lock(run).perform(step))),
            Some(Thread::Second) => {
                let second = self.second.take();
                let second = second.unwrap_or_else(|| SecondThread::start(self.scope, run));
                let (second, outcome) = second.perform(step);
                self.second = Some(second);
                outcome
            }
        }
    }
}

/// A thread that waits for steps until it is dropped.
struct SecondThread<'scope> {
    steps: Sender<&'scope Step>,
    outcomes: Receiver<Outcome>,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> SecondThread<'scope> {
    fn start<'env>(scope: &'scope Scope<'scope, 'env>, run: &'env SharedRun<'_>) -> Self {
        let (steps, own_steps) = mpsc::channel::<&Step>();
        let (own_outcomes, outcomes) = mpsc::channel();
        let thread = scope.spawn(move || {
            for step in own_steps {
                let outcome = lock(run).perform(step);
                // The case waits for it.
                let _ = own_outcomes.send(outcome);
            }
        });
        Self { steps, outcomes, thread }
    }

    /// A panic of the thread goes on in this one.
    fn perform(self, step: &'scope Step) -> (Self, Outcome) {
        let sent = self.steps.send(step);
        match sent.ok().and_then(|()| self.outcomes.recv().ok()) {
            Some(outcome) => (self, outcome),
            None => {
                joined(self.thread);
                unreachable!("the second thread ends only by a panic while it has a step")
            }
        }
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
