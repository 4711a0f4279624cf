//! `allocert list [INTERFACE]`

use std::process::ExitCode;

use allocert_campaign::case_filter::Filter;
use allocert_campaign::{Failure, Suite, find_side, profiles};
use allocert_suite::Side;
use allocert_suite::applicability::outside;
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::list;

use crate::terminal;

pub(crate) fn list(
    interface: Option<&str>,
    filter: Option<&str>,
    profile: Option<&str>,
) -> Result<ExitCode, Failure> {
    let sides = interface.map_or_else(|| Ok(Side::all().collect()), find_side::sides)?;
    let mut suite = Suite::of(&sides)?;
    if let Some(name) = profile {
        let profile = match (interface, sides.first()) {
            (Some(_), Some(side)) => profiles::of(&suite.catalogue, side.interface(), Some(name))?,
            _ => Some(profiles::by_name(&suite.catalogue, name)?),
        };
        if let Some(profile) = &profile {
            suite.cases.retain(|case| case.side.interface() == profile.interface);
        }
        suite.catalogue.choose(profile);
    }
    let inside = suite.cases.iter().filter(|case| outside(case, &suite.catalogue).is_none());
    let cases: Vec<PlannedCase> =
        Filter::new(filter)?.select(inside, None)?.into_iter().cloned().collect();
    terminal::print(&list::render(&cases))?;
    Ok(ExitCode::SUCCESS)
}
