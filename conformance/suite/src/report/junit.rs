//! JUnit XML in the form that Jenkins, GitLab and GitHub actions read: `classname` is the group, a
//! failure's text stands in the message and again in the body, a skip says why. A failure names the
//! causes in its case; what follows from each is one line below it.

use std::collections::BTreeSet;
use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Property, Report as Xml, SerializeError, TestCase, TestCaseStatus, TestSuite,
};

use crate::report::outcome::{self, Outcome};
use crate::report::{Report, clean, repeats};
use crate::run_format::Judged;

/// The whole file.
///
/// # Errors
/// Those of the XML writer, which a string does not cause.
pub fn render(report: &Report<'_>) -> Result<String, SerializeError> {
    let mut xml = Xml::new("allocert");
    let mut suites: Vec<TestSuite> = Vec::new();
    let (listed, unlisted) = outcome::listed(report.cases);
    for judged in listed {
        suite(&mut suites, report, judged.case.group()).add_test_case(test_case(report, judged));
    }
    for (group, count) in unlisted {
        let mut test = TestCase::new("fault sweep", TestCaseStatus::success());
        test.set_classname(classname(group));
        test.set_system_out(format!("{count} more injections, without a finding"));
        suite(&mut suites, report, group).add_test_case(test);
    }
    for suite in &mut suites {
        let time = suite.test_cases.iter().filter_map(|test| test.time).sum();
        suite.set_time(time);
    }
    xml.set_time(suites.iter().filter_map(|suite| suite.time).sum());
    xml.add_test_suites(suites);
    xml.to_string()
}

/// The suite of a group, made where there is none.
fn suite<'s>(
    suites: &'s mut Vec<TestSuite>,
    report: &Report<'_>,
    group: &str,
) -> &'s mut TestSuite {
    let place = suites.iter().position(|suite| suite.name.as_str() == group);
    let place = place.unwrap_or_else(|| {
        let mut suite = TestSuite::new(group);
        let header = report.header;
        suite.add_property(Property::new("subject", clean(&header.subject.argument)));
        suite.add_property(Property::new("suite", &header.suite));
        suite
            .add_properties(header.profile.iter().map(|profile| Property::new("profile", profile)));
        let count = report.repeats.map(|several| several.count.to_string());
        suite.add_properties(count.map(|count| Property::new("repeats", &count)));
        suites.push(suite);
        suites.len() - 1
    });
    &mut suites[place]
}

fn classname(group: &str) -> String {
    group.replace('/', ".")
}

fn test_case(report: &Report<'_>, judged: &Judged) -> TestCase {
    let (case, judgement) = (&judged.case, &judged.judgement);
    let group = case.group();
    let name = case.id.strip_prefix(group).unwrap_or(&case.id).trim_start_matches('/');
    let mut test = TestCase::new(name, status(report, judged));
    test.set_classname(classname(group));
    if let Some(duration_ms) = judged.duration_ms() {
        test.set_time(Duration::from_millis(duration_ms));
    }
    let line = judgement.findings.first().map_or(1, |finding| finding.place.line);
    test.extra.insert("file".into(), format!("fixtures/{}", case.file).into());
    test.extra.insert("line".into(), line.to_string().into());
    for requirement in case.requirements().collect::<BTreeSet<_>>() {
        test.add_property(Property::new("requirement", requirement));
    }
    // What the standard has, `flakyFailure`, is of a case that passes in the end.
    let flaky = report.flaky(&case.id).map(|flaky| repeats::share(&flaky));
    test.add_properties(flaky.map(|share| Property::new("flaky", &share)));
    // A failure says it all already; warnings and listed violations have no other place.
    if let Some(notes) = outcome::notes(report, judged) {
        test.set_system_out(notes);
    }
    test
}

fn status(report: &Report<'_>, judged: &Judged) -> TestCaseStatus {
    let non_success = |kind, message: String, body: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(message).set_type(judged.judgement.verdict.name()).set_description(body);
        status
    };
    match outcome::outcome(report, judged) {
        Outcome::Passed => TestCaseStatus::success(),
        Outcome::Failed { message, body } => non_success(NonSuccessKind::Failure, message, body),
        Outcome::Error { message } => non_success(NonSuccessKind::Error, message.clone(), message),
        Outcome::Skipped { message } | Outcome::Expected { message } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(message);
            status
        }
    }
}
