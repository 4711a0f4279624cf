//! `allocert list`

use std::process::ExitCode;

use allocert_campaign::case_filter::Filter;
use allocert_campaign::{Failure, Suite, profiles};
use allocert_suite::applicability::outside;
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::list;

use crate::terminal;

pub(crate) fn list(filter: Option<&str>, profile: Option<&str>) -> Result<ExitCode, Failure> {
    let mut suite = Suite::load()?;
    if let Some(name) = profile {
        let profile = profiles::by_name(&suite.catalogue, name)?;
        suite.cases.retain(|case| case.side.interface() == profile.interface);
        suite.catalogue.choose(Some(profile));
    }
    let inside = suite.cases.iter().filter(|case| outside(case, &suite.catalogue).is_none());
    let cases: Vec<PlannedCase> =
        Filter::new(filter)?.select(inside, None)?.into_iter().cloned().collect();
    terminal::print(&list::render(&cases))?;
    Ok(ExitCode::SUCCESS)
}
