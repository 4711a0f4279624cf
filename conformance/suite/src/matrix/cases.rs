//! Plans the cases of a pair of libraries. No fixture states them, because a fixture has one
//! subject.

use allocert_requirements::{Catalogue, Side};

use crate::expectation::Expectation;
use crate::interface::exchange::{ExchangeDefinition, ExchangePattern, ExchangeStep, PRODUCER};
use crate::interface::{Operation, interface};
use crate::nouns::Teardown;
use crate::plan::{Part, PlannedCase, PlannedStep};

/// One case without its libraries.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// `sliced`
    pub name: &'static str,
    pub about: &'static str,
    exchange: &'static ExchangeDefinition,
    steps: Vec<ExchangeStep>,
}

/// The cases of all interfaces whose subjects exchange something, in the order of the report.
#[must_use]
pub fn patterns() -> Vec<Pattern> {
    let exchanges = Side::all().filter_map(|side| interface(side)?.facts.exchange);
    exchanges
        .flat_map(|exchange| {
            (exchange.patterns)().into_iter().map(move |ExchangePattern { name, about, steps }| {
                Pattern { name, about, exchange, steps }
            })
        })
        .collect()
}

impl Pattern {
    /// The case for one pair; `pair` distinguishes it from the cases of other pairs. A step expects
    /// nothing if the catalogue has no requirement for its demand.
    #[must_use]
    pub fn plan(&self, catalogue: &Catalogue, pair: &str) -> PlannedCase {
        let consumer = self.exchange.consumer;
        let id = format!("{consumer}/pair/{}/{pair}", self.name);
        let planned = |part, step: &ExchangeStep| self.planned(catalogue, part, step);
        let setup = (self.exchange.setup)();
        let mut steps: Vec<PlannedStep> =
            setup.iter().map(|step| planned(Part::Setup, step)).collect();
        steps.extend(self.steps.iter().map(|step| planned(Part::Step, step)));
        let names: Vec<String> = steps[setup.len()..]
            .iter()
            .filter_map(|step| step.r#do.bound_name())
            .map(str::to_owned)
            .collect();
        let teardown = (self.exchange.teardown)(&names);
        steps.extend(teardown.iter().map(|step| planned(Part::Teardown, step)));
        for (step, index) in steps.iter_mut().zip(0..) {
            step.index = index;
        }
        PlannedCase {
            file: id.clone(),
            id,
            about: self.about.to_owned(),
            side: consumer,
            operations: consumer,
            needs: Vec::new(),
            driver: Default::default(),
            teardown: Teardown::Clean,
            timeout_s: 60,
            steps,
            r#finally: Default::default(),
        }
    }

    fn planned(&self, catalogue: &Catalogue, part: Part, step: &ExchangeStep) -> PlannedStep {
        let ExchangeDefinition { producer, consumer, .. } = *self.exchange;
        let side = if step.on == PRODUCER { producer } else { consumer };
        let expect = step.expect.iter().filter_map(|(demand, expectation)| {
            let requirement = catalogue.by_demand(consumer, demand)?;
            let read: Expectation = serde_json::from_value(expectation.clone())
                .expect("an exchange pattern states an expectation");
            Some((requirement.id.as_str().into(), read))
        });
        PlannedStep {
            index: 0,
            r#do: Operation::read(side, &step.r#do.to_string())
                .expect("an exchange pattern states operations of its side"),
            on: step.on.into(),
            thread: None,
            label: step.label.map(str::to_owned),
            expect: expect.collect(),
            part,
            line: 1,
        }
    }
}
