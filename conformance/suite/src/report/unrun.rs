//! What cases without a finding say: that they came to nothing, or to what was not expected.

use std::collections::BTreeMap;

use crate::exit::Exit;
use crate::report::{Report, clean};
use crate::run_format::Judged;
use crate::verdict::Verdict;

/// The cases by the name of their verdict and its reason.
pub(super) type Reasons<'a> = BTreeMap<(&'static str, String), Vec<&'a str>>;

/// Every case whose verdict has a reason.
pub(super) fn by_reason<'a>(cases: impl IntoIterator<Item = &'a Judged>) -> Reasons<'a> {
    let mut reasons = Reasons::new();
    for judged in cases {
        let text = match &judged.judgement.verdict {
            Verdict::NotApplicable { reason } => reason.to_string(),
            Verdict::NotObserved { reason } => match &judged.judgement.expected_because {
                Some(listed) => format!("{reason}; listed: {listed}"),
                None => reason.to_string(),
            },
            Verdict::Unusable { message }
            | Verdict::HarnessError { message }
            | Verdict::UnexpectedConformance { message } => message.clone(),
            Verdict::Conforms | Verdict::Violates | Verdict::ExpectedViolation => continue,
        };
        let reason = (judged.judgement.verdict.name(), clean(&text));
        reasons.entry(reason).or_default().push(&judged.case.id);
    }
    reasons
}

/// One reason, beside violations, why a run does not end with exit code 0.
pub(super) struct Failure {
    pub(super) text: String,
    /// Whether the run may lack a result. Otherwise it has all, and one is not as expected.
    pub(super) is_incomplete: bool,
}

/// Why the run fails, beside its violations.
pub(super) fn failures(report: &Report<'_>) -> Vec<Failure> {
    let failing = report.cases.iter().filter(|judged| judged.judgement.fails_the_run());
    let unexpected = Verdict::UnexpectedConformance { message: String::new() }.name();
    let failures: Vec<Failure> = by_reason(failing)
        .into_iter()
        .map(|((verdict, reason), cases)| Failure {
            text: format!("{verdict}: {reason}\nin {}", some(&cases)),
            is_incomplete: verdict != unexpected,
        })
        .collect();
    let of_run = match report.exit() {
        _ if !failures.is_empty() => None,
        Exit::NothingRan => Some(Exit::NothingRan.words().to_owned()),
        Exit::NotObserved => Some(unknown_cases(report)),
        _ => None,
    };
    failures.into_iter().chain(of_run.map(|text| Failure { text, is_incomplete: true })).collect()
}

/// What is said of a run that another suite made.
pub(super) fn unknown_cases(report: &Report<'_>) -> String {
    format!(
        "whether all cases are here is not known: use allocert {}, or give --allow-not-observed",
        clean(&report.header.allocert)
    )
}

/// The first case and how many more there are.
pub(super) fn some(cases: &[&str]) -> String {
    match cases {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, second] => format!("{first}, {second}"),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}
