//! `allocert explain ID`

use std::fmt::Write;
use std::process::ExitCode;

use allocert_suite::Requirement;
use allocert_suite::plan::PlannedCase;

use crate::failure::Failure;
use crate::suite::Suite;
use crate::terminal;

pub(crate) fn explain(id: &str) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let requirement = suite.catalogue.get(id).or_else(|| suite.catalogue.get(&id.to_uppercase()));
    let text = match requirement {
        Some(requirement) => tell_requirement(&suite, requirement),
        None => tell_cases(&suite, id)?,
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn tell_requirement(suite: &Suite, requirement: &Requirement) -> String {
    let Requirement { id, level, statement, source, versions, .. } = requirement;
    let mut text = format!("{id} ({level})\n  {statement}\n\n");
    let versions = versions.join(", ");
    let _ = writeln!(text, "source    {}, {}\nversions  {versions}", source.text, source.section);
    if let Some(reason) = &requirement.excluded {
        let _ = writeln!(text, "not tested: {reason}");
    }
    if requirement.gpu {
        text.push_str("shows only on a real GPU\n");
    }
    if let Some(check) = &requirement.check {
        let _ = writeln!(text, "watched in every case by the check {check}");
    }
    let cases = suite.cases.iter().filter(|case| case.requirements().any(|named| named == id));
    let mut fixtures: Vec<_> = cases.map(|case| (case.file.as_str(), case.about.as_str())).collect();
    fixtures.dedup();
    text.extend(fixtures.iter().map(|(file, about)| format!("tested by {file}\n          {about}\n")));
    text
}

fn tell_cases(suite: &Suite, id: &str) -> Result<String, Failure> {
    let folder = format!("{id}/");
    let cases = suite.cases.iter().filter(|case| case.id == id || case.id.starts_with(&folder));
    let text: String = cases.map(tell_case).collect();
    if text.is_empty() {
        let help = suite.catalogue.suggestion(id).unwrap_or_else(|| "`allocert list` names the cases".to_owned());
        return Err(Failure::usage(format!("there is no requirement and no case `{id}`; {help}")));
    }
    Ok(text)
}

fn tell_case(case: &PlannedCase) -> String {
    let mut text = format!("{}\n  {}\n  {}\n", case.id, case.about, case.file);
    for requirement in case.requirements().collect::<std::collections::BTreeSet<_>>() {
        let _ = writeln!(text, "  tests {requirement}");
    }
    text
}
