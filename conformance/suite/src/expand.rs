//! A case spelled out: setup and teardown become ordinary steps.

use allocert_requirements::yaml::Document;

use crate::case::{Case, Teardown, Thread, Through};
use crate::operation::{Noun, Operation, PluginShape};
use crate::plan::{Part, PlannedCase, PlannedStep};
use crate::sense;

/// The name of the subject's adapter. It lives as long as its process.
pub(crate) const ADAPTER: &str = "adapter";

/// The case as a worker performs it.
pub(crate) fn expand(case: Case, document: &Document<'_>, suffix: &str) -> PlannedCase {
    let line = document.find(1, "steps").map_or(1, |(line, _)| line);
    spell_out(case, document.file.to_owned(), line, suffix)
}

/// A case that no file holds; its steps stand on line 1 of the file that it would have.
impl From<Case> for PlannedCase {
    fn from(case: Case) -> Self {
        let file = format!("cases/{}.yaml", case.case);
        spell_out(case, file, 1, "")
    }
}

fn spell_out(case: Case, file: String, line: usize, suffix: &str) -> PlannedCase {
    let through = case.through();
    let mut script = Script { line, ..Script::default() };
    if case.setup {
        script.setup(through);
    }
    for step in case.steps {
        let line = sense::line(step.referenced.line()).max(1);
        script.step(step.value, line);
    }
    if case.teardown == Teardown::Clean {
        script.teardown(through);
    }
    let finally = case.r#finally.into_iter();
    PlannedCase {
        id: format!("{}{suffix}", case.case),
        file,
        about: case.about,
        through,
        needs: case.needs,
        driver: case.driver,
        teardown: case.teardown,
        timeout_s: case.timeout_s,
        steps: script.steps,
        r#finally: finally.map(|(id, one)| (id, one.calls.unwrap_or_default())).collect(),
    }
}

/// The steps so far and what is alive after them.
#[derive(Default)]
struct Script {
    steps: Vec<PlannedStep>,
    /// Names in order of birth, with the manager they were made on.
    alive: Vec<(String, String)>,
    managers: Vec<String>,
    attached: bool,
    line: usize,
}

impl Script {
    fn setup(&mut self, through: Through) {
        match through {
            Through::Manager => {
                self.add(Part::Setup, Operation::Attach { device: 0 }, "m");
                self.add(Part::Setup, Operation::Create { r#as: "m".to_owned(), device: 0 }, "m");
            }
            Through::Host => self.add(
                Part::Setup,
                Operation::Register { interface_version: None, plugin: PluginShape::default() },
                "m",
            ),
            Through::Producer | Through::Consumer => {
                self.add(Part::Setup, Operation::Attach { device: 0 }, "m");
                self.add(Part::Setup, Operation::Instantiate { r#as: ADAPTER.to_owned() }, "m");
            }
        }
    }

    fn step(&mut self, step: crate::case::Step, line: usize) {
        // An attachment of a thread that is gone leaves nothing to detach.
        let gone = step.thread == Some(Thread::Fresh) && matches!(step.r#do, Operation::Attach { .. });
        self.add(Part::Step, step.r#do, &step.on);
        if let Some(planned) = self.steps.last_mut() {
            planned.thread = step.thread;
            planned.label = step.label;
            planned.expect = step.expect;
            planned.line = line;
        }
        if gone {
            self.attached = false;
        }
    }

    fn teardown(&mut self, through: Through) {
        for (name, on) in self.alive.clone() {
            self.add(Part::Teardown, Operation::Drop { name }, &on);
        }
        if through == Through::Host {
            let closed = self.steps.last().is_some_and(|step| step.r#do == Operation::Close {});
            if !closed {
                self.add(Part::Teardown, Operation::Close {}, "m");
            }
            return;
        }
        for manager in self.managers.clone() {
            self.add(Part::Teardown, Operation::Reset {}, &manager);
            self.add(Part::Teardown, Operation::Destroy {}, &manager);
        }
        if self.attached {
            self.add(Part::Teardown, Operation::Detach {}, "m");
        }
    }

    fn add(&mut self, part: Part, operation: Operation, on: &str) {
        match operation.binds() {
            Some((name, Noun::Manager)) => self.managers.push(name.to_owned()),
            Some((_, Noun::Adapter)) => {}
            Some((name, _)) => self.alive.push((name.to_owned(), on.to_owned())),
            None => {}
        }
        if let Some(gone) = operation.unbinds() {
            self.alive.retain(|(name, _)| name != gone);
        }
        match operation {
            Operation::Attach { .. } => self.attached = true,
            Operation::Detach {} => self.attached = false,
            Operation::Destroy {} => self.managers.retain(|name| name != on),
            _ => {}
        }
        self.steps.push(PlannedStep {
            index: u32::try_from(self.steps.len()).unwrap_or(u32::MAX),
            r#do: operation,
            on: on.to_owned(),
            thread: None,
            label: None,
            expect: Default::default(),
            part,
            line: self.line,
        });
    }
}
