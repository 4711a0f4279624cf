//! Builds observations for tests: a small catalogue, cases from text, and a recorder that acts as
//! worker and driver.

use allocert_contract::trace::{Call, Event, Function, Marker, What, cuda};
use allocert_suite::observation::{
    Captured, Ending, Facts, Observation, Outcome, Raised, StepOutcome,
};
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Judgement, Verdict};
use allocert_suite::{Catalogue, Refusal, fixture, judge};
use serde_json::{Value, json};

pub(crate) const CONTEXT: u64 = 0xc0;
pub(crate) const THREAD: u32 = 7;
const PROCESS: u32 = 70;

const CHECKS: [&str; 13] = [
    "leak",
    "double_free",
    "foreign_free",
    "use_after_free",
    "overlap",
    "driver_misuse",
    "context_balance",
    "crash",
    "hang",
    "exit",
    "chatter",
    "finalizer_error",
    "race",
];

/// `EMM-T-01` is free for expectations, `EMM-OP-…` stand for operations, `EMM-CHECK-…` for the
/// always-on checks.
pub(crate) fn catalogue() -> Catalogue {
    let host = format!(
        "{}{}",
        duty("EMM-T-03", "MUST", "host", ""),
        duty("EMM-T-04", "MUST", "host", "  check: own_allocation\n")
    );
    Catalogue::from_files([("emm/test.yaml", catalogue_text().as_str()), ("emm/host.yaml", &host)])
        .expect("written here")
}

pub(crate) fn catalogue_text() -> String {
    let mut text = entry("EMM-T-01", "MUST", "");
    text.push_str(&entry("EMM-T-02", "SHOULD", ""));
    for operation in ["memalloc", "create", "reset", "destroy", "drop", "get_memory_info"] {
        let id = format!("EMM-OP-{}", operation.to_uppercase());
        text.push_str(&entry(&id, "MUST", &format!("  operation: {operation}\n")));
    }
    for check in CHECKS {
        let level = if check == "chatter" { "SHOULD" } else { "MUST" };
        let id = format!("EMM-CHECK-{}", check.to_uppercase());
        text.push_str(&entry(&id, level, &format!("  check: {check}\n")));
    }
    text
}

/// As [`catalogue`], with requirements that stand for what the fault sweep demands.
pub(crate) fn sweep_catalogue() -> Catalogue {
    let demands = ["failure_surfaces", "serves_afterwards", "memory_holds"];
    let text = (1..).zip(demands).map(|(number, demand)| {
        let more = format!("  demands: [sweep.{demand}]\n");
        entry(&format!("EMM-FAULT-0{number}"), "MUST", &more)
    });
    let text = text.fold(catalogue_text(), |all, one| all + &one);
    Catalogue::from_files([("emm/test.yaml", text.as_str())]).expect("written here")
}

fn entry(id: &str, level: &str, more: &str) -> String {
    duty(id, level, "plugin", more)
}

pub(crate) fn duty(id: &str, level: &str, role: &str, more: &str) -> String {
    format!(
        "- id: {id}\n  level: {level}\n  role: {role}\n  statement: Statement of {id}.\n  \
         source: {{text: a text, section: a section}}\n  versions: [one]\n  observed_by: [trace]\n\
         {more}"
    )
}

/// A case of one step that allocates `a` and expects what is given.
pub(crate) fn memalloc(expect: &str) -> PlannedCase {
    case(&format!("steps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n    expect: {expect}\n"))
}

pub(crate) fn case(rest: &str) -> PlannedCase {
    case_of("emm", rest).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// A case of any side.
pub(crate) fn case_of(side: &str, rest: &str) -> Result<PlannedCase, Box<Refusal>> {
    let text = format!(
        "# A case of the suite's own tests.\ncase: {side}/test/case\nabout: a test\n{rest}"
    );
    Ok(fixture::plan_file(&format!("cases/{side}/test/case.yaml"), &text, &catalogue())?.remove(0))
}

/// Plays worker and driver. Steps are 0 attach, 1 create, 2 and on the case's own.
pub(crate) struct Recorder {
    pub(crate) case: PlannedCase,
    pub(crate) seen: Observation,
}

impl Recorder {
    /// A recorder after setup.
    pub(crate) fn new(case: PlannedCase) -> Self {
        Self::bare(case).step(&[], json!({})).step(&[], json!({}))
    }

    /// A recorder before setup.
    pub(crate) fn bare(case: PlannedCase) -> Self {
        let seen = Observation::silent(&case.id, Ending::Done);
        let mut recorder = Self { case, seen };
        recorder.marker(Marker::CaseBegin);
        recorder
    }

    /// The next step makes these calls and returns these facts.
    pub(crate) fn step(self, calls: &[Call], facts: Value) -> Self {
        let facts: Facts = serde_json::from_value(facts).expect("an object");
        self.outcome(calls, Outcome::Returned(facts))
    }

    pub(crate) fn raise(self, calls: &[Call], raised: Raised) -> Self {
        self.outcome(calls, Outcome::Raised(raised))
    }

    pub(crate) fn outcome(mut self, calls: &[Call], outcome: Outcome) -> Self {
        let index = self.seen.steps.len() as u32;
        let step = u64::from(index);
        self.marker(Marker::StepBegin { step });
        for call in calls {
            self.event(What::Call(call.clone()));
        }
        self.marker(Marker::StepEnd { step });
        self.seen.steps.push(StepOutcome {
            index,
            outcome,
            plugin_calls: Vec::new(),
            table_calls: None,
        });
        self
    }

    /// Calls within a step whose markers are made by hand.
    pub(crate) fn inside(mut self, calls: &[Call]) -> Self {
        calls.iter().for_each(|call| self.event(What::Call(call.clone())));
        self
    }

    /// The outcome of a step whose markers were made by hand.
    pub(crate) fn silent(mut self, facts: Value) -> Self {
        let facts: Facts = serde_json::from_value(facts).expect("an object");
        let index = self.seen.steps.len() as u32;
        self.seen.steps.push(StepOutcome {
            index,
            outcome: Outcome::Returned(facts),
            plugin_calls: Vec::new(),
            table_calls: None,
        });
        self
    }

    /// The remaining steps return nothing and call nothing.
    pub(crate) fn rest(mut self) -> Self {
        while self.seen.steps.len() < self.case.steps.len() {
            self = self.step(&[], json!({}));
        }
        self.seen.done = true;
        self
    }

    /// A step begins, makes calls, and is never heard of again.
    pub(crate) fn dies(mut self, calls: &[Call], ending: Ending) -> Self {
        let step = self.seen.steps.len() as u64;
        self.marker(Marker::StepBegin { step });
        for call in calls {
            self.event(What::Call(call.clone()));
        }
        self.seen.ending = ending;
        self
    }

    pub(crate) fn prints(mut self, text: &str) -> Self {
        self.seen.stderr = Captured { text: text.to_owned(), bytes: text.len() as u64 };
        self
    }

    pub(crate) fn marker(&mut self, marker: Marker) {
        self.event(What::Marker(marker));
    }

    pub(crate) fn event(&mut self, what: What) {
        let seq = self.seen.events.len() as u64;
        self.seen.events.push(Event {
            seq,
            thread: THREAD,
            process: PROCESS,
            context: CONTEXT,
            what,
        });
    }

    pub(crate) fn judged(&self) -> Judgement {
        judge::judge(&catalogue(), &self.case, &self.seen)
    }

    /// The ids of all findings.
    pub(crate) fn found(&self) -> Vec<String> {
        self.judged().findings.into_iter().map(|finding| finding.requirement).collect()
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.judged().verdict
    }
}

pub(crate) fn call(function: impl Into<Function>, args: &[u64], out: &[u64], result: i32) -> Call {
    let mut call = Call {
        function: function.into(),
        args: [0; 8],
        out: [0; 3],
        result: Some(result),
        per_thread: false,
        injected: false,
    };
    call.args[..args.len()].copy_from_slice(args);
    call.out[..out.len()].copy_from_slice(out);
    call
}

pub(crate) fn alloc(pointer: u64, size: u64) -> Call {
    call(cuda::Function::cuMemAlloc_v2, &[size], &[pointer], 0)
}

pub(crate) fn free(pointer: u64, result: i32) -> Call {
    call(cuda::Function::cuMemFree_v2, &[pointer], &[], result)
}

pub(crate) fn memory(pointer: u64, size: u64) -> Value {
    json!({"kind": "device", "pointer": pointer, "host_pointer": 0, "size_bytes": size})
}

pub(crate) fn error(class: &str, code: Option<i32>, message: &str) -> Raised {
    Raised {
        r#type: class.to_owned(),
        bases: [class.to_owned()].into(),
        message: message.to_owned(),
        code,
        ..Raised::default()
    }
}
