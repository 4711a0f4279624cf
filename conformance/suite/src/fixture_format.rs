//! A case as its fixture states it. `fixtures/README.md` describes the format. These types accept
//! nothing else.

use std::collections::BTreeMap;

use allocert_requirements::yaml::{Document, Spanned, Tree};
use allocert_requirements::{Refusal, RefusalCode, Side};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::expectation::Expectations;
use crate::interface::{Operation, SideInterface, interface};
use crate::nouns::{DriverSettings, Name, Need, Teardown, Thread};

/// One fixture with its axes already replaced.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case<O = Operation> {
    /// `emm/alloc/exact-size`, equal to the path of the file.
    pub case: String,
    /// What the subject must do, in one sentence.
    pub about: String,
    /// The side whose operations the steps use. Written only where it is not the case's own side;
    /// see [`Case::operations`].
    #[serde(default)]
    pub operations: Option<Side>,
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Names of the axes; their values are already in the text.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub driver: DriverSettings,
    #[serde(default = "yes")]
    pub setup: bool,
    #[serde(default)]
    pub teardown: Teardown,
    #[serde(default = "ten")]
    pub timeout_s: u32,
    pub steps: Vec<Spanned<Step<O>>>,
    #[serde(default)]
    pub r#finally: Expectations,
}

impl<O> Case<O> {
    /// The side that the case certifies: the first folder of its path.
    #[must_use]
    pub fn side(&self) -> Side {
        Side::of_path(&self.case).expect("`read` refuses a case below no side")
    }

    /// The side whose operations the steps use: what is written, or the case's own side.
    #[must_use]
    pub fn operations(&self) -> Side {
        self.operations.unwrap_or_else(|| self.side())
    }
}

impl Case {
    /// Reads a fixture. Which operations there are depends on the side, so they are read when all
    /// else is.
    ///
    /// # Errors
    /// The first thing that the format does not allow.
    pub(crate) fn read(document: &Document<'_>) -> Result<Self, Box<Refusal>> {
        let tree = document.parse()?;
        let case: Case<IgnoredAny> = tree.read()?;
        if Side::of_path(&case.case).is_none() {
            let message = format!("`{}` is below no side of an interface", case.case);
            return Err(document.refuse_word(RefusalCode::WrongCaseName, 1, &case.case, message));
        }
        let (side, used) = (case.side(), case.operations());
        let Some(interface) = interface(used) else {
            let message = format!("there are no operations of {used} yet");
            return Err(document.refuse_word(RefusalCode::NoCases, 1, &case.case, message));
        };
        if case.operations.is_some() && !may_use(side, used) {
            let message = format!("a case of {side} cannot use the operations of {used}");
            return Err(document.refuse_word(RefusalCode::WrongSide, 1, "operations", message));
        }
        let operations = (interface.read_steps)(&tree)
            .map_err(|refusal| of_another_side(&tree, interface).unwrap_or(refusal))?;
        Ok(case.with_operations(operations))
    }
}

impl<O> Case<O> {
    fn with_operations<P>(self, operations: Vec<P>) -> Case<P> {
        let steps = self.steps.into_iter().zip(operations);
        let steps = steps.map(|(Spanned { value, position }, operation)| Spanned {
            value: value.map_operation(|_| operation),
            position,
        });
        Case {
            steps: steps.collect(),
            case: self.case,
            about: self.about,
            operations: self.operations,
            needs: self.needs,
            axes: self.axes,
            driver: self.driver,
            setup: self.setup,
            teardown: self.teardown,
            timeout_s: self.timeout_s,
            r#finally: self.r#finally,
        }
    }
}

/// Whether cases of a side may use the operations of another one.
fn may_use(side: Side, other: Side) -> bool {
    interface(side).is_some_and(|interface| interface.facts.may_use.contains(&other))
}

/// The refusal of the first operation that is none of this side's but of another one's.
fn of_another_side(tree: &Tree<'_>, used: &SideInterface) -> Option<Box<Refusal>> {
    let steps: OperationWords = tree.read().ok()?;
    steps.steps.iter().find_map(|step| {
        let word = step.r#do.value.keys().next()?;
        let has = |side: &SideInterface| side.operation_names.contains(&word.as_str());
        let owner = Side::all().filter_map(interface).find(|side| has(side))?;
        if has(used) {
            return None;
        }
        let (used, owner) = (&used.facts, owner.facts.side);
        let message = format!("`{word}` is an operation of {owner}, not of {}", used.side);
        let refusal =
            tree.document.refuse_word(RefusalCode::WrongSide, step.r#do.line(), word, message);
        let help = format!("write `operations: {owner}` to use the operations of {owner}");
        Some(Box::new(Refusal { help: used.may_use.contains(&owner).then_some(help), ..*refusal }))
    })
}

/// A fixture, of which only the names of the operations are read.
#[derive(Deserialize)]
struct OperationWords {
    steps: Vec<OperationWord>,
}

#[derive(Deserialize)]
struct OperationWord {
    r#do: Spanned<BTreeMap<String, IgnoredAny>>,
}

/// One step: an operation and what must come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step<O = Operation> {
    pub r#do: O,
    /// The manager that is used.
    #[serde(default = "first_manager")]
    pub on: Name,
    #[serde(default)]
    pub thread: Option<Thread>,
    /// A name for `since`.
    #[serde(default)]
    pub label: Option<String>,
    /// Requirement id to what must hold.
    #[serde(default)]
    pub expect: Expectations,
}

impl<O> Step<O> {
    /// The same step with another operation.
    pub fn map_operation<P>(self, map: impl FnOnce(O) -> P) -> Step<P> {
        Step {
            r#do: map(self.r#do),
            on: self.on,
            thread: self.thread,
            label: self.label,
            expect: self.expect,
        }
    }
}

fn yes() -> bool {
    true
}

fn ten() -> u32 {
    10
}

fn first_manager() -> Name {
    Name::new_static("m")
}
