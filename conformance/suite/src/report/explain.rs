//! `allocert explain`: one requirement, where it is written and what tests it; or one case.

use std::fmt::Write as _;

use allocert_requirements::{Catalogue, Requirement, nearest};

use crate::plan::PlannedCase;

/// What there is to say about a requirement id or a case id.
///
/// # Errors
/// A message with the nearest id, when there is neither.
pub fn render(id: &str, catalogue: &Catalogue, cases: &[PlannedCase]) -> Result<String, String> {
    if let Some(requirement) = catalogue.get(id) {
        return Ok(explain(requirement, cases));
    }
    if let Some(case) = cases.iter().find(|case| case.id == id) {
        return Ok(explain_case(case, catalogue));
    }
    let ids = catalogue.iter().map(|one| one.id.as_str()).chain(cases.iter().map(|case| case.id.as_str()));
    let hint = nearest::nearest(id, ids).map(|near| format!(", did you mean {near}?")).unwrap_or_default();
    Err(format!("no requirement and no case is called {id}{hint}"))
}

fn explain(requirement: &Requirement, cases: &[PlannedCase]) -> String {
    let Requirement { id, level, role, statement, source, versions, observed_by, gpu, .. } = requirement;
    let observed: Vec<String> = observed_by.iter().map(|channel| format!("{channel:?}").to_lowercase()).collect();
    let mut lines = vec![
        format!("{id}  {level}  {}", format!("{role:?}").to_lowercase()),
        String::new(),
        format!("    {statement}"),
        String::new(),
        format!("source     {}, \"{}\"", source.text, source.section),
        format!("versions   {}", versions.join(", ")),
        format!("observed   by {}{}", observed.join(" and "), if *gpu { ", on a real GPU only" } else { "" }),
    ];
    lines.extend(requirement.operation.as_ref().map(|name| format!("stands for {name}, when it fails unexpectedly")));
    lines.extend(requirement.check.as_ref().map(|name| format!("checked    in every case ({name})")));
    lines.extend(requirement.excluded.as_ref().map(|reason| format!("excluded   {reason}")));
    lines.push(format!("written in conformance/requirements/catalogue/{}:{}", requirement.file, requirement.line));
    let testing = cases.iter().filter(|case| case.requirements().any(|named| named == id));
    let mut files: Vec<&str> = testing.map(|case| case.file.as_str()).collect();
    files.dedup();
    if !files.is_empty() {
        lines.push(String::new());
    }
    lines.extend(files.iter().map(|file| format!("tested by  fixtures/{file}")));
    lines.join("\n") + "\n"
}

fn explain_case(case: &PlannedCase, catalogue: &Catalogue) -> String {
    let mut text = format!("{}\n\n    {}\n\nfixtures/{}\n", case.id, case.about, case.file);
    for step in &case.steps {
        let operation = serde_json::to_string(&step.r#do).unwrap_or_default();
        let _infallible = write!(text, "{:>4}  {operation}", step.index);
        text.push('\n');
        for id in step.expect.keys() {
            let statement = catalogue.get(id).map_or("", |one| one.statement.as_str());
            let _infallible = writeln!(text, "        {id}: {statement}");
        }
    }
    text
}
