//! The report a person reads after a run: the likeliest cause, a table by group, then every cause
//! with the calls around its first finding.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use allocert_contract::trace::Event;
use allocert_requirements::{Level, Requirement, Side};

use crate::causes::{Cause, Found, causes};
use crate::exit::Exit;
use crate::nouns::Need;
use crate::observation::Ending;
use crate::report::style::Palette;
use crate::report::table::align;
use crate::report::unrun::{by_reason, some, unknown_cases};
use crate::report::{Report, call, clean, outcome, repeats, verdict_counts};
use crate::run_format::Judged;
use crate::verdict::{Finding, Verdict};

/// Calls shown before the first and after the last one that a finding points to.
const AROUND: usize = 2;
/// Calls shown for one finding at most.
const CALLS: usize = 14;
/// Causes of one requirement that are shown in full; each further one is a line.
const IN_FULL: usize = 3;
/// The most lines for one requirement.
const IN_BRIEF: usize = 10;
/// The most requirements that are named as consequences of one cause.
const CONSEQUENCES: usize = 8;

/// How much of the findings is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One finding of each cause.
    Causes,
    /// Every case that was not run, and after the causes a line for every finding.
    Findings,
}

/// The whole report, with a newline at its end.
#[must_use]
pub fn render(report: &Report<'_>, detail: Detail, palette: Palette) -> String {
    let mut out = String::new();
    let causes = causes(report.catalogue, report.cases);
    missing_runtime(&mut out, report);
    likeliest(&mut out, report, &causes, palette);
    head(&mut out, report, palette);
    groups(&mut out, report, palette);
    unrun(&mut out, report, detail, palette);
    show_causes(&mut out, report, &causes, palette);
    if detail == Detail::Findings {
        every_finding(&mut out, &causes, palette);
    }
    closing(&mut out, report, &causes, palette);
    if let Some(several) = report.repeats {
        out.push_str(&repeats::render(several, palette));
    }
    out
}

/// What the report says of one case by itself, without colours; nothing if nothing was found in it.
#[must_use]
pub(super) fn of_case(report: &Report<'_>, judged: &Judged) -> String {
    let mut out = String::new();
    let causes = causes(report.catalogue, std::slice::from_ref(judged));
    show_causes(&mut out, report, &causes, Palette::default());
    out.trim().to_owned()
}

/// The first line, where the subject needs the CUDA runtime and the driver does not let it start.
fn missing_runtime(out: &mut String, report: &Report<'_>) {
    let wants = |judged: &&Judged| match &judged.judgement.verdict {
        Verdict::NotObserved { reason } => reason.is_for_want_of_runtime(),
        _ => false,
    };
    let count = report.cases.iter().filter(wants).count();
    if count > 0 {
        let all = report.cases.len();
        line!(
            out,
            "the CUDA runtime, which the subject needs, does not start on the software driver: \
             {count} of {all} cases show nothing; use --driver real"
        );
        line!(out);
    }
}

/// The first line otherwise: what to look at first, if there is something that no expectation
/// file lists.
fn likeliest(out: &mut String, report: &Report<'_>, causes: &[Cause<'_>], palette: Palette) {
    let unlisted = || causes.iter().filter(|cause| !cause.is_listed());
    let Some(first) = unlisted().next() else { return };
    let (of, all) = (first.len(), unlisted().map(Cause::len).sum::<usize>());
    let finding = first.first().finding;
    let breaks_a_must = unlisted().any(|cause| cause.first().finding.level == Level::Must);
    let (start, noun) = match breaks_a_must {
        true => ("", "finding"),
        false => ("no MUST is violated; ", "warning"),
    };
    let share = match (of, all) {
        (_, 1) => format!("the only {noun}"),
        (of, all) if of == all => format!("all {all} {noun}s"),
        _ => format!("{of} of {all} {noun}s"),
    };
    let id = palette.strong(&finding.requirement);
    let statement = report.catalogue.get(&finding.requirement).map(|one| one.statement.trim_end());
    let statement = statement.map(|text| format!(": {text}")).unwrap_or_default();
    line!(
        out,
        "{start}likeliest cause of {share}: the subject violates {id} ({}){statement}",
        finding.level
    );
    line!(out);
}

fn head(out: &mut String, report: &Report<'_>, palette: Palette) {
    let header = report.header;
    let subject = palette.strong(clean(&header.subject.argument));
    let driver = header.driver.kind.words();
    line!(out, "{} {subject} on the {driver}, suite {}", header.interface, header.suite);
    profile(out, report, palette);
    if let Some(part) = report.part() {
        line!(out, "this run shows {part}");
    }
    line!(out);
}

/// States how many requirements the profile leaves out.
fn profile(out: &mut String, report: &Report<'_>, palette: Palette) {
    let (Some(profile), Some(side)) =
        (report.catalogue.chosen(), Side::by_name(&report.header.interface))
    else {
        return;
    };
    // A C contract applies only to subjects that implement it, so for other subjects it is not left
    // out.
    let table = Need::Table.is_declared(&report.header.subject.capabilities);
    let bound = |one: &&Requirement| {
        one.side() == Some(side) && (table || report.catalogue.contract_of(one).is_none())
    };
    let all = || report.catalogue.iter().filter(bound);
    let left_out = all().filter(|requirement| report.catalogue.leaves_out(&requirement.id)).count();
    let more = palette.faint(format!("(more: allocert explain {})", profile.name));
    line!(
        out,
        "profile {}: {left_out} of {} requirements are left out {more}",
        palette.strong(&profile.name),
        all().count()
    );
}

fn groups(out: &mut String, report: &Report<'_>, palette: Palette) {
    let unswept = report.cases.iter().filter(|judged| !judged.case.is_swept());
    let counts = verdict_counts::by_group(unswept);
    let total = verdict_counts::total(&counts);
    let used = verdict_counts::occurring(&total);
    let mut rows =
        vec![std::iter::once("").chain(used.iter().copied()).map(str::to_owned).collect()];
    rows.extend(counts.iter().map(|(group, counts)| row(group, counts, &used)));
    rows.push(row("all", &total, &used));
    for (index, text) in align(&rows, 1).iter().enumerate() {
        let bold = index == 0 || index + 1 == rows.len();
        line!(out, "{}", if bold { palette.strong(text) } else { text.clone() });
    }
}

fn row(name: &str, counts: &BTreeMap<&str, u64>, used: &[&str]) -> Vec<String> {
    let cell = |verdict: &&str| counts.get(*verdict).map_or_else(|| "·".to_owned(), u64::to_string);
    std::iter::once(name.to_owned()).chain(used.iter().map(cell)).collect()
}

/// Every case that says nothing about the subject, by reason.
fn unrun(out: &mut String, report: &Report<'_>, detail: Detail, palette: Palette) {
    let reasons = by_reason(report.cases);
    if !reasons.is_empty() {
        line!(out);
    }
    for ((verdict, reason), cases) in reasons {
        line!(out, "{}: {reason}", palette.odd(verdict));
        match detail {
            Detail::Causes => line!(out, "    {}", palette.faint(some(&cases))),
            Detail::Findings => {
                cases.iter().for_each(|case| line!(out, "    {}", palette.faint(case)))
            }
        }
    }
}

fn show_causes(out: &mut String, report: &Report<'_>, causes: &[Cause<'_>], palette: Palette) {
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let mut more: Vec<&Cause<'_>> = Vec::new();
    for cause in causes {
        let places = shown.entry(&cause.first().finding.requirement).or_default();
        *places += 1;
        if *places > IN_FULL {
            more.push(cause);
            continue;
        }
        line!(out);
        show(out, report, cause, palette);
    }
    briefly(out, &more, palette);
}

/// The further causes of requirements that have many, a line a cause; the run file has all of it.
fn briefly(out: &mut String, more: &[&Cause<'_>], palette: Palette) {
    let mut requirements: BTreeMap<&str, Vec<&Cause<'_>>> = BTreeMap::new();
    for cause in more {
        requirements.entry(&cause.first().finding.requirement).or_default().push(cause);
    }
    for (requirement, causes) in requirements {
        let noun = if causes.len() == 1 { "way" } else { "ways" };
        line!(out);
        line!(
            out,
            "{} {}",
            palette.strong(requirement),
            palette.faint(format!("in {} more {noun}", causes.len()))
        );
        for cause in causes.iter().take(IN_BRIEF) {
            one_line(out, cause.first().finding, &some(&cause.cases()), palette);
        }
        if causes.len() > IN_BRIEF {
            line!(
                out,
                "    {}",
                palette.faint(format!("and {} more, in the run file", causes.len() - IN_BRIEF))
            );
        }
    }
}

fn one_line(out: &mut String, finding: &Finding, cases: &str, palette: Palette) {
    let step = finding.step.map(|step| format!(" step {step}")).unwrap_or_default();
    line!(
        out,
        "    fixtures/{}{step}: {} {}",
        finding.place,
        clean(&finding.observed),
        palette.faint(format!("({cases})"))
    );
}

/// A line for each finding, below the cause that it belongs to.
fn every_finding(out: &mut String, causes: &[Cause<'_>], palette: Palette) {
    for cause in causes {
        let requirement = &cause.first().finding.requirement;
        list(out, requirement, &cause.findings, palette);
        for (consequence, findings) in &cause.consequences {
            list(
                out,
                &format!("{consequence}, which follows from {requirement}"),
                findings,
                palette,
            );
        }
    }
}

fn list(out: &mut String, title: &str, findings: &[Found<'_>], palette: Palette) {
    line!(out);
    line!(out, "every finding of {}", palette.strong(title));
    for found in findings {
        one_line(out, found.finding, &found.finding.case, palette);
    }
}

fn show(out: &mut String, report: &Report<'_>, cause: &Cause<'_>, palette: Palette) {
    let Found { judged, finding } = cause.first();
    let cases = cause.cases();
    let colour = |text: String| match (finding.level, &finding.expected_because) {
        (_, Some(_)) => palette.faint(text),
        (Level::Must, None) => palette.bad(text),
        (_, None) => palette.odd(text),
    };
    line!(
        out,
        "{} {} {}{}",
        colour(format!("{} {}", finding.level, finding.requirement)),
        palette.faint("in"),
        some(&cases),
        match cause.findings.len() {
            count if count == cases.len() => String::new(),
            count => palette.faint(format!(", {count} findings")),
        }
    );
    if let Some(requirement) = report.catalogue.get(&finding.requirement) {
        line!(out, "    {}", requirement.statement);
    }
    let step = finding.step.and_then(|index| judged.case.steps.get(index as usize));
    let step =
        step.map(|step| format!(", step {} {}", step.index, step.r#do.name())).unwrap_or_default();
    line!(out, "    the subject violated this at fixtures/{}{step}", finding.place);
    line!(out, "    expected  {}", clean(&finding.expected));
    line!(out, "    observed  {}", clean(&finding.observed));
    if let Some(reason) = &finding.expected_because {
        line!(out, "    listed    {}", clean(reason));
    }
    for (index, frame) in outcome::traceback(judged, finding).iter().enumerate() {
        let label = if index == 0 { "raised at" } else { "" };
        line!(out, "    {label:<9} {}", clean(frame));
    }
    calls(out, judged, finding, palette);
    if let Some(text) = consequences(cause) {
        line!(out, "    leads to  {text}");
    }
    line!(out, "    {}", palette.faint(format!("more: allocert explain {}", finding.requirement)));
}

/// What follows from a cause, in one line: how many findings, of which requirements, and why.
fn consequences(cause: &Cause<'_>) -> Option<String> {
    let count = cause.consequence_count();
    let noun = match count {
        0 => return None,
        1 => "finding",
        _ => "findings",
    };
    let mut requirements: Vec<(&str, usize)> =
        cause.consequences.iter().map(|(id, findings)| (*id, findings.len())).collect();
    requirements.sort_by_key(|(_, count)| Reverse(*count));
    let named = requirements.iter().take(CONSEQUENCES).map(|(id, count)| format!("{id} ({count})"));
    let mut text = format!("{count} more {noun}: {}", named.collect::<Vec<_>>().join(", "));
    if requirements.len() > CONSEQUENCES {
        text.push_str(&format!(" and {} more", requirements.len() - CONSEQUENCES));
    }
    let because: Vec<&str> = cause.because.iter().copied().collect();
    if !because.is_empty() {
        text.push_str(&format!("; because {}", because.join(", and ")));
    }
    Some(text)
}

/// The calls that the finding points to and their neighbours.
fn calls(out: &mut String, judged: &Judged, finding: &Finding, palette: Palette) {
    let Some(observation) = &judged.observation else { return };
    let calls: Vec<&Event> =
        observation.events.iter().filter(|event| call::is_shown(event)).collect();
    let role = |event: &Event| finding.events.iter().find(|witness| witness.seq == event.seq);
    let meant: Vec<usize> =
        (0..calls.len()).filter(|index| role(calls[*index]).is_some()).collect();
    let near = |index: &usize| meant.iter().any(|at| at.abs_diff(*index) <= AROUND);
    let shown: Vec<usize> = (0..calls.len()).filter(near).take(CALLS).collect();
    let mut previous = None;
    for index in shown {
        if previous.is_some_and(|previous| previous + 1 < index) {
            line!(out, "              {}", palette.faint("..."));
        }
        let event = calls[index];
        let text = format!("#{:<5} {}", event.seq, call::render(event));
        let label = if previous.is_none() { "calls" } else { "" };
        match role(event) {
            Some(witness) => {
                line!(out, "    {label:<9} {text}  {}", palette.odd(format!("<- {}", witness.role)))
            }
            None => line!(out, "    {label:<9} {}", palette.faint(text)),
        }
        previous = Some(index);
    }
}

fn closing(out: &mut String, report: &Report<'_>, causes: &[Cause<'_>], palette: Palette) {
    let all = || report.cases.iter().flat_map(|judged| &judged.judgement.findings);
    let unlisted = |finding: &&Finding| finding.expected_because.is_none();
    let broken: Vec<&str> = all()
        .filter(unlisted)
        .filter(|finding| finding.level == Level::Must)
        .map(|finding| finding.requirement.as_str())
        .collect();
    let must = broken.len();
    let requirements = BTreeSet::from_iter(broken).len();
    let other = all().filter(unlisted).count() - must;
    let cases = || report.cases.iter().filter(|judged| !judged.case.is_swept());
    let ran = cases().filter(|judged| judged.judgement.verdict.ran()).count();
    let unlisted = causes.iter().filter(|cause| !cause.is_listed());
    let from = unlisted.filter(|cause| cause.first().finding.level == Level::Must).count();
    let begun = cases().filter(|judged| is_begun(judged)).count();
    let verdict = match (must, ran, report.exit()) {
        (_, 0, _) if begun > 0 => palette.bad("no case has a result"),
        (_, 0, _) => palette.odd("nothing ran"),
        (0, _, Exit::Violations) => palette.bad("a listed violation no longer happens"),
        (0, _, Exit::Harness) => palette.bad("no violation, but a case has no result"),
        (0, _, Exit::Usage) => palette.bad("no violation, but a case cannot use the subject"),
        (0, _, Exit::NotObserved) => palette.bad(not_observed(report)),
        (0, ..) => palette.good(no_violation(report)),
        (1, ..) => palette.bad("1 violation"),
        (count, ..) => palette.bad(format!(
            "{count} violations of {requirements} {}, from {from} {}",
            if requirements == 1 { "requirement" } else { "requirements" },
            if from == 1 { "cause" } else { "causes" }
        )),
    };
    let warnings = match other {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        count => format!(", {count} warnings"),
    };
    line!(out);
    let ran = if ran == 0 { begun } else { ran };
    line!(out, "{verdict}{warnings}; {ran} of {} cases ran", cases().count());
    sweep(out, report, palette);
}

/// Whether the worker began the case, however that ended.
fn is_begun(judged: &Judged) -> bool {
    let ending = judged.observation.as_ref().map(|observation| &observation.ending);
    ending.is_some_and(|one| !matches!(one, Ending::Stopped { .. } | Ending::OutOfTime { .. }))
}

/// Violations that an expectation file lists are there all the same.
fn no_violation(report: &Report<'_>) -> String {
    let findings = report.cases.iter().flat_map(|judged| &judged.judgement.findings);
    let listed = findings
        .filter(|finding| finding.level == Level::Must && finding.expected_because.is_some());
    match listed.count() {
        0 => "no violation".to_owned(),
        1 => "no violation except 1 that is listed".to_owned(),
        count => format!("no violation except {count} that are listed"),
    }
}

/// How many cases ran without showing what they ask about, and what a user can do.
fn not_observed(report: &Report<'_>) -> String {
    let judgements = report.cases.iter().map(|judged| &judged.judgement);
    let count = judgements.filter(|one| one.is_unseen() && one.fails_the_run()).count();
    if count == 0 {
        return format!("no violation, but {}", unknown_cases(report));
    }
    let cases = if count == 1 { "1 case was".to_owned() } else { format!("{count} cases were") };
    format!(
        "no violation, but {cases} not observed: list what is known in the expectation file, or \
         give --allow-not-observed"
    )
}

/// The fault sweep in one line. Why injections were left out or came to nothing is told with the
/// other cases that were not run.
fn sweep(out: &mut String, report: &Report<'_>, palette: Palette) {
    let swept: Vec<&Judged> = report.cases.iter().filter(|judged| judged.case.is_swept()).collect();
    if swept.is_empty() {
        return;
    }
    let ran: Vec<&&Judged> = swept.iter().filter(|judged| judged.observation.is_some()).collect();
    let survived =
        ran.iter().filter(|judged| judged.judgement.verdict == Verdict::Conforms).count();
    let findings = ran.iter().flat_map(|judged| &judged.judgement.findings);
    let findings = findings
        .filter(|finding| finding.level == Level::Must && finding.expected_because.is_none())
        .count();
    let unsaid = ran.iter().filter(|judged| !judged.judgement.verdict.ran()).count();
    let findings = match findings {
        0 => palette.good("0 findings"),
        1 => palette.bad("1 finding"),
        count => palette.bad(format!("{count} findings")),
    };
    let mut more = String::new();
    if unsaid > 0 {
        more.push_str(&format!(", {unsaid} told nothing"));
    }
    if swept.len() > ran.len() {
        more.push_str(&format!("; {} more left out", swept.len() - ran.len()));
    }
    line!(out, "fault sweep: {} injections, {survived} survived, {findings}{more}", ran.len());
}
