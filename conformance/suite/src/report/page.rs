//! Runs as one page, which loads nothing and runs no script: a table of requirements and subjects,
//! and the findings with their calls. The template is `templates/run_report.html`. A cell has a
//! letter and a word; its colour only repeats them.

use std::collections::BTreeSet;

use allocert_requirements::Catalogue;
use askama::Template;
use strum::VariantArray;

use crate::exit::Exit;
use crate::report::requirement_state::{Seen, State};
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
    part: Option<String>,
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

impl State {
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
        part: report.part(),
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
