//! Adds the steps of setup and teardown to a case.

use allocert_requirements::yaml::Document;

use crate::fixture_format::{Case, Step};
use crate::interface::properties::Attachment;
use crate::interface::{Left, LeftName, Operation, SideInterface, interface};
use crate::nouns::{Name, Teardown, Thread};
use crate::plan::{Part, PlannedCase, PlannedStep};

/// Steps that setup and teardown add to most cases, at most.
const ADDED: usize = 8;
/// What `on` is in a step that does not say it.
const MANAGER: Name = Name::new_static("m");

/// The case as a worker performs it.
pub(crate) fn expand(case: Case, document: &Document<'_>, suffix: &str) -> PlannedCase {
    let line = document.find(1, "steps").map_or(1, |(line, _)| line);
    spell_out(case, document.file.to_owned(), line, suffix)
}

/// A case without a file; its steps have line number 1.
impl From<Case> for PlannedCase {
    fn from(case: Case) -> Self {
        let file = format!("cases/{}.yaml", case.case);
        spell_out(case, file, 1, "")
    }
}

fn spell_out(case: Case, file: String, line: usize, suffix: &str) -> PlannedCase {
    let (side, operations) = (case.side(), case.operations());
    let interface = interface(operations);
    let steps = Vec::with_capacity(case.steps.len() + ADDED);
    let mut script = Script { line, steps, left: Left::default() };
    if let Some(interface) = interface.filter(|_| case.setup) {
        script.set_up(interface);
    }
    for step in case.steps {
        let line = step.line().max(1);
        script.step(step.value, line);
    }
    if let Some(interface) = interface.filter(|_| case.teardown == Teardown::Clean) {
        script.tear_down(interface);
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

/// The steps so far and what is left after them.
struct Script {
    steps: Vec<PlannedStep>,
    left: Left,
    /// Where the steps of setup and teardown stand.
    line: usize,
}

impl Script {
    fn set_up(&mut self, interface: &SideInterface) {
        for operation in (interface.setup)() {
            self.add(Part::Setup, operation, MANAGER);
        }
    }

    fn step(&mut self, step: Step, line: usize) {
        // The context of a thread that ended needs no detach.
        let detached = step.thread == Some(Thread::Fresh)
            && matches!(step.r#do.properties().attachment, Some(Attachment::Attached { .. }));
        self.add(Part::Step, step.r#do, step.on);
        if let Some(planned) = self.steps.last_mut() {
            planned.thread = step.thread;
            planned.label = step.label;
            planned.expect = step.expect;
            planned.line = line;
        }
        if detached {
            self.left.attached = false;
        }
    }

    fn tear_down(&mut self, interface: &SideInterface) {
        let droppable = self.left.names.iter().filter(|left| left.bound.is_droppable());
        let drops: Vec<(Operation, Name)> = droppable
            .map(|left| ((interface.drop_name)(left.name.clone()), left.on.clone()))
            .collect();
        self.add_all(drops);
        self.add_all((interface.teardown)(&self.left));
    }

    fn add_all(&mut self, steps: Vec<(Operation, Name)>) {
        for (operation, on) in steps {
            self.add(Part::Teardown, operation, on);
        }
    }

    fn add(&mut self, part: Part, operation: Operation, on: Name) {
        self.left.step(&operation, &on);
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

impl Left {
    /// What is left after one more step.
    fn step(&mut self, operation: &Operation, on: &Name) {
        let properties = operation.properties();
        if let Some((name, bound)) = properties.binds {
            self.names.push(LeftName { name: name.into(), bound, on: on.clone() });
        }
        let unbound = properties.unbinds.or(properties.unbinds_on.then_some(on.as_str()));
        if let Some(unbound) = unbound {
            self.names.retain(|left| left.name != unbound);
        }
        if let Some(attachment) = properties.attachment {
            self.attached = matches!(attachment, Attachment::Attached { .. });
        }
        self.closed = properties.closes_host;
    }
}
