//! `allocert coverage [INTERFACE]`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use allocert_suite::Requirement;

use crate::failure::Failure;
use crate::suite::Suite;
use crate::{interface, terminal};

pub(crate) fn coverage(word: &str) -> Result<ExitCode, Failure> {
    let interface = interface::parse(word)?;
    let suite = Suite::load()?;
    let tested = count(&suite);
    let of_interface = |requirement: &&Requirement| requirement.interface() == Some(interface);
    let mut text = String::new();
    let (mut total, mut bare) = (0, 0);
    for requirement in suite.catalogue.iter().filter(of_interface) {
        let how = how(requirement, tested.get(requirement.id.as_str()).copied().unwrap_or_default());
        total += 1;
        bare += usize::from(how.is_none());
        let how = how.unwrap_or_else(|| "NOT TESTED".to_owned());
        let _ = writeln!(text, "{:<18} {:<6} {how}", requirement.id, requirement.level);
    }
    let _ = writeln!(text, "\n{total} requirements, {bare} without a case");
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Number of cases that name each requirement.
fn count(suite: &Suite) -> BTreeMap<&str, usize> {
    let mut tested = BTreeMap::new();
    for case in &suite.cases {
        let mut named: Vec<&str> = case.requirements().collect();
        named.sort_unstable();
        named.dedup();
        for requirement in named {
            *tested.entry(requirement).or_default() += 1;
        }
    }
    tested
}

fn how(requirement: &Requirement, cases: usize) -> Option<String> {
    match (&requirement.excluded, &requirement.check, cases) {
        (Some(reason), _, _) => Some(format!("excluded: {reason}")),
        (None, Some(check), 0) => Some(format!("every case, check {check}")),
        (None, Some(check), _) => Some(format!("every case, check {check}; {}", number(cases))),
        (None, None, 0) => None,
        (None, None, _) => Some(number(cases)),
    }
}

fn number(cases: usize) -> String {
    format!("{cases} case{}", if cases == 1 { "" } else { "s" })
}
