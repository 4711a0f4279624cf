//! What an interface tells the matrix of libraries: the cases in which a subject of one side gives
//! something to a subject of another.

use allocert_requirements::Side;
use serde_json::Value;

/// The names of the two adapters, and what the `on` of a step says.
pub(crate) const PRODUCER: &str = "producer";
pub(crate) const CONSUMER: &str = "consumer";
/// The `on` of a step that the harness performs without an adapter.
pub(crate) const HARNESS: &str = "m";

/// The matrix of one interface.
#[derive(Debug)]
pub struct ExchangeDefinition {
    pub producer: Side,
    pub consumer: Side,
    /// Makes the two adapters.
    pub(crate) setup: fn() -> Vec<ExchangeStep>,
    /// Ends a case that bound these names, in this order.
    pub(crate) teardown: fn(&[String]) -> Vec<ExchangeStep>,
    /// The cases, in the order of the report.
    pub(crate) patterns: fn() -> Vec<ExchangePattern>,
}

/// One case without its libraries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExchangePattern {
    /// `sliced`
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) steps: Vec<ExchangeStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExchangeStep {
    pub(crate) on: &'static str,
    pub(crate) r#do: Value,
    pub(crate) label: Option<&'static str>,
    /// What is demanded of the consumer, such as `matrix.data`, and the expectation.
    pub(crate) expect: Option<(&'static str, Value)>,
}

impl ExchangeStep {
    pub(crate) fn new(on: &'static str, r#do: Value) -> Self {
        Self { on, r#do, label: None, expect: None }
    }

    pub(crate) fn labelled(self, label: &'static str) -> Self {
        Self { label: Some(label), ..self }
    }

    pub(crate) fn expect(self, demand: &'static str, expectation: Value) -> Self {
        Self { expect: Some((demand, expectation)), ..self }
    }
}
