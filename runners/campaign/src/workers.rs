//! Where the workers of a campaign come from, and what each is asked for.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use allocert_harness::{
    Artifact, Error, Interrupt, Isolation, Launch, Machine, Request, RunDir, Subject, parallel,
};
use allocert_suite::offer::Driver;

/// The programs that workers are, and the wish to stop that they share.
#[derive(Debug, Clone)]
pub struct Workers {
    /// `PROGRAM worker-native SOCKET` is the native worker, `PROGRAM driver-facts` asks the driver.
    pub program: PathBuf,
    /// Runs Python subjects.
    pub interpreter: PathBuf,
    pub interrupt: Interrupt,
}

impl Workers {
    /// The machine under the workers. A real one is asked whether it is there.
    ///
    /// # Errors
    /// Those of [`Machine::real`].
    pub fn machine(&self, driver: Driver) -> Result<Machine, Error> {
        match driver {
            Driver::Sim => Ok(Machine::simulated()),
            Driver::Real => {
                Machine::real(&self.program, &RunDir::create(&Artifact::Driver.find()?)?)
            }
        }
    }

    /// One worker that has `subject` to load, and runs each case in a process of its own. A caller
    /// that wants it otherwise changes the request.
    ///
    /// # Errors
    /// What keeps the folder of the run from being made.
    pub fn request(
        &self,
        machine: &Machine,
        interface: &str,
        subject: Subject,
    ) -> Result<Request, Error> {
        let run = RunDir::create(&Artifact::Driver.find()?)?;
        Ok(self.request_in(run, machine, interface, subject))
    }

    /// As [`Workers::request`], in a folder that is there.
    pub(crate) fn request_in(
        &self,
        run: RunDir,
        machine: &Machine,
        interface: &str,
        subject: Subject,
    ) -> Request {
        let launch = if subject.is_python() {
            Launch::python(self.interpreter.clone(), &run)
        } else {
            Launch::native(self.program.clone())
        };
        Request {
            run,
            launch: launch.on(machine),
            interface: interface.to_owned(),
            subject,
            isolation: Isolation::Case,
            jobs: NonZeroUsize::MIN,
            timeout_s: None,
            end: None,
            alone: None,
            interrupt: self.interrupt.clone(),
        }
    }
}

/// As many workers side by side as there are cores, and one alone on a real machine, because all
/// share its device's memory.
pub(crate) fn default_jobs(machine: &Machine) -> NonZeroUsize {
    match machine.driver {
        Driver::Sim => parallel::cores(),
        Driver::Real => NonZeroUsize::MIN,
    }
}
