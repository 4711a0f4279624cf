//! Runs as one page, which loads nothing and runs no script: a table of requirements and subjects,
//! and the findings with their calls. The template is `templates/run_report.html`. A cell has a
//! letter and a word; its colour only repeats them.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::{Catalogue, Level};
use askama::Template;
use strum::VariantArray;

use crate::exit::Exit;
use crate::report::{Report, filters, outcome, verdict_counts};
use crate::run_format::Judged;
use crate::verdict::{Finding, Place};

const TITLE: &str = "What allocert found";
/// The most findings of one requirement in one run that are shown.
const FINDINGS: usize = 20;

#[derive(Template)]
#[template(path = "run_report.html")]
struct Page<'a> {
    runs: Vec<Run<'a>>,
    rows: Vec<Row<'a>>,
}

struct Run<'a> {
    /// `run-0`
    anchor: String,
    subject: &'a str,
    side: &'a str,
    profile: Option<&'a str>,
    driver: &'static str,
    suite: &'a str,
    allocert: &'a str,
    verdict: &'static str,
    css_class: &'static str,
    /// Cases by verdict.
    verdicts: Vec<(&'static str, u64)>,
}

/// One requirement in all runs.
struct Row<'a> {
    id: &'a str,
    level: String,
    statement: &'a str,
    source: Option<String>,
    cells: Vec<Cell<'a>>,
}

/// One requirement in one run.
struct Cell<'a> {
    run: usize,
    /// `run-0-EMM-RESET-01`
    anchor: String,
    state: State,
    findings: Vec<Shown<'a>>,
    /// Findings that are not shown.
    more: usize,
}

struct Shown<'a> {
    case: &'a str,
    place: &'a Place,
    expected: &'a str,
    observed: &'a str,
    because: Option<&'a str>,
    traceback: &'a [Box<str>],
    calls: Vec<String>,
}

/// What a run shows of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
enum State {
    Violated,
    Warned,
    Known,
    Fulfilled,
    NoResult,
    Untested,
}

impl State {
    fn words(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Warned => "warning",
            Self::Known => "known violation",
            Self::Fulfilled => "no violation",
            Self::NoResult => "no result",
            Self::Untested => "not tested",
        }
    }

    fn letter(self) -> &'static str {
        match self {
            Self::Violated => "✗",
            Self::Warned => "!",
            Self::Known => "k",
            Self::Fulfilled => "✓",
            Self::NoResult => "–",
            Self::Untested => "·",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Violated => "a case shows that the subject violates the requirement, a MUST",
            Self::Warned => "a case shows that the subject violates the requirement, no MUST",
            Self::Known => "all violations stand in the expectation file",
            Self::Fulfilled => "at least one case was judged by it, and none shows a violation",
            Self::NoResult => {
                "no case that states it came to a result: it was not applicable or not observed"
            }
            Self::Untested => "no case of this run states it",
        }
    }

    fn css_class(self) -> &'static str {
        match self {
            Self::Violated => "bad",
            Self::Warned | Self::Known => "odd",
            Self::Fulfilled => "good",
            Self::NoResult => "no",
            Self::Untested => "faint",
        }
    }
}

/// One page about all runs.
#[must_use]
pub fn render(reports: &[Report<'_>]) -> String {
    let sides: Vec<Seen<'_>> = reports.iter().map(Seen::of).collect();
    let ids: BTreeSet<&str> = sides.iter().flat_map(Seen::ids).collect();
    let rows = ids.into_iter().map(|id| row(id, reports, &sides));
    let page = Page {
        runs: reports.iter().enumerate().map(|(place, report)| run(place, report)).collect(),
        rows: rows.collect(),
    };
    page.render().expect("the template writes to memory")
}

/// What the cases of one run say of requirements.
struct Seen<'r> {
    judged: BTreeSet<&'r str>,
    stated: BTreeSet<&'r str>,
    findings: BTreeMap<&'r str, Vec<(&'r Judged, &'r Finding)>>,
}

impl<'r> Seen<'r> {
    fn of(report: &Report<'r>) -> Self {
        let mut seen =
            Self { judged: BTreeSet::new(), stated: BTreeSet::new(), findings: BTreeMap::new() };
        for judged in report.cases {
            seen.stated.extend(judged.case.requirements());
            seen.judged.extend(judged.judgement.checked.iter().map(String::as_str));
            for finding in &judged.judgement.findings {
                seen.findings.entry(&finding.requirement).or_default().push((judged, finding));
            }
        }
        seen
    }

    fn ids(&self) -> impl Iterator<Item = &'r str> {
        self.judged.iter().chain(&self.stated).copied().chain(self.findings.keys().copied())
    }

    fn state(&self, id: &str) -> State {
        let findings = self.findings.get(id).map(Vec::as_slice).unwrap_or_default();
        let unlisted = || findings.iter().filter(|(_, one)| one.expected_because.is_none());
        if unlisted().any(|(_, finding)| finding.level == Level::Must) {
            State::Violated
        } else if unlisted().next().is_some() {
            State::Warned
        } else if !findings.is_empty() {
            State::Known
        } else if self.judged.contains(id) {
            State::Fulfilled
        } else if self.stated.contains(id) {
            State::NoResult
        } else {
            State::Untested
        }
    }
}

fn run<'r>(place: usize, report: &Report<'r>) -> Run<'r> {
    let header = report.header;
    let exit = report.exit();
    let css_class = match exit {
        Exit::Conforms => "good",
        Exit::Violations => "bad",
        Exit::Usage | Exit::Harness | Exit::NothingRan | Exit::NotObserved => "no",
    };
    let total = verdict_counts::total(&verdict_counts::by_group(report.cases));
    let verdicts = verdict_counts::occurring(&total).into_iter();
    Run {
        anchor: format!("run-{place}"),
        subject: &header.subject.argument,
        side: &header.interface,
        profile: header.profile.as_deref(),
        driver: header.driver.kind.words(),
        suite: &header.suite,
        allocert: &header.allocert,
        verdict: exit.words(),
        css_class,
        verdicts: verdicts.map(|name| (name, total[name])).collect(),
    }
}

fn row<'r>(id: &'r str, reports: &[Report<'r>], seen: &[Seen<'r>]) -> Row<'r> {
    let catalogue = reports.first().map(|report| report.catalogue);
    let requirement = catalogue.and_then(|catalogue: &'r Catalogue| catalogue.get(id));
    let cells = seen.iter().enumerate().map(|(run, seen)| {
        let findings = seen.findings.get(id).map(Vec::as_slice).unwrap_or_default();
        Cell {
            run,
            anchor: format!("run-{run}-{id}"),
            state: seen.state(id),
            findings: findings.iter().take(FINDINGS).map(shown).collect(),
            more: findings.len().saturating_sub(FINDINGS),
        }
    });
    Row {
        id,
        level: requirement.map(|one| one.level.to_string()).unwrap_or_default(),
        statement: requirement.map_or("", |one| one.statement.trim_end()),
        source: requirement.map(|one| format!("{}, {}", one.source.text, one.source.section)),
        cells: cells.collect(),
    }
}

fn shown<'r>((judged, finding): &(&'r Judged, &'r Finding)) -> Shown<'r> {
    Shown {
        case: &finding.case,
        place: &finding.place,
        expected: &finding.expected,
        observed: &finding.observed,
        because: finding.expected_because.as_deref(),
        traceback: outcome::traceback(judged, finding),
        calls: outcome::shown_calls(judged, finding),
    }
}

impl Row<'_> {
    /// The classes by which the page shows a part of the rows: `has-bad has-no`.
    fn css_classes(&self) -> String {
        let classes: BTreeSet<&str> =
            self.cells.iter().map(|cell| cell.state.css_class()).collect();
        classes.into_iter().map(|class| format!("has-{class}")).collect::<Vec<_>>().join(" ")
    }
}
