//! A case spelled out: setup and teardown become ordinary steps.

use allocert_requirements::Side;
use allocert_requirements::yaml::Document;

use crate::case::Case;
use crate::nouns::{Name, Teardown, Thread};
use crate::operation::{BoundType, Operation, PluginShape};
use crate::plan::{Part, PlannedCase, PlannedStep};

/// The name of the subject's adapter. It lives as long as its process.
pub(crate) const ADAPTER: &str = "adapter";
/// Steps that setup and teardown add to most cases, at most.
const ADDED: usize = 8;
/// The manager that every setup makes.
const MANAGER: Name = Name::new_static("m");

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
    let (side, operations) = (case.side(), case.operations());
    let mut script =
        Script { line, steps: Vec::with_capacity(case.steps.len() + ADDED), ..Script::default() };
    if case.setup {
        script.setup(operations);
    }
    for step in case.steps {
        let line = step.line().max(1);
        script.step(step.value, line);
    }
    if case.teardown == Teardown::Clean {
        script.teardown(operations);
    }
    let finally = case.r#finally.into_iter();
    PlannedCase {
        id: format!("{}{suffix}", case.case),
        file,
        about: case.about,
        side,
        operations,
        needs: case.needs,
        driver: case.driver,
        teardown: case.teardown,
        timeout_s: case.timeout_s,
        steps: script.steps,
        r#finally: finally
            .map(|(id, one)| (id.into(), one.calls.map(|calls| *calls).unwrap_or_default()))
            .collect(),
    }
}

/// The steps so far and what is alive after them.
#[derive(Default)]
struct Script {
    steps: Vec<PlannedStep>,
    /// Names in order of birth, with the manager they were made on.
    alive: Vec<(Name, Name)>,
    managers: Vec<Name>,
    attached: bool,
    line: usize,
}

impl Script {
    fn setup(&mut self, operations: Side) {
        match operations {
            Side::Emm => {
                self.add(Part::Setup, Operation::Attach { device: 0 }, MANAGER);
                self.add(Part::Setup, Operation::Create { r#as: MANAGER, device: 0 }, MANAGER);
            }
            Side::EmmHost => self.add(
                Part::Setup,
                Operation::Register { interface_version: None, plugin: PluginShape::default() },
                MANAGER,
            ),
            Side::CaiProducer | Side::CaiConsumer => {
                self.add(Part::Setup, Operation::Attach { device: 0 }, MANAGER);
                self.add(
                    Part::Setup,
                    Operation::Instantiate { r#as: Name::new_static(ADAPTER) },
                    MANAGER,
                );
            }
            Side::Nep49 | Side::Nep49Host | Side::Place => {}
        }
    }

    fn step(&mut self, step: crate::case::Step, line: usize) {
        // An attachment of a thread that is gone leaves nothing to detach.
        let gone =
            step.thread == Some(Thread::Fresh) && matches!(step.r#do, Operation::Attach { .. });
        self.add(Part::Step, step.r#do, step.on);
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

    fn teardown(&mut self, operations: Side) {
        for (name, on) in self.alive.clone() {
            self.add(Part::Teardown, Operation::Drop { name }, on);
        }
        if operations == Side::EmmHost {
            let closed = self.steps.last().is_some_and(|step| step.r#do == Operation::Close {});
            if !closed {
                self.add(Part::Teardown, Operation::Close {}, MANAGER);
            }
            return;
        }
        for manager in self.managers.clone() {
            self.add(Part::Teardown, Operation::Reset {}, manager.clone());
            self.add(Part::Teardown, Operation::Destroy {}, manager);
        }
        if self.attached {
            self.add(Part::Teardown, Operation::Detach {}, MANAGER);
        }
    }

    fn add(&mut self, part: Part, operation: Operation, on: Name) {
        match operation.binds() {
            Some((name, BoundType::Manager)) => self.managers.push(name.into()),
            Some((_, BoundType::Adapter)) => {}
            Some((name, _)) => self.alive.push((name.into(), on.clone())),
            None => {}
        }
        if let Some(gone) = operation.unbinds() {
            self.alive.retain(|(name, _)| name != gone);
        }
        match operation {
            Operation::Attach { .. } => self.attached = true,
            Operation::Detach {} => self.attached = false,
            Operation::Destroy {} => self.managers.retain(|name| *name != on),
            _ => {}
        }
        self.steps.push(PlannedStep {
            index: u32::try_from(self.steps.len()).unwrap_or(u32::MAX),
            r#do: operation,
            on,
            thread: None,
            label: None,
            expect: Default::default(),
            part,
            line: self.line,
        });
    }
}
