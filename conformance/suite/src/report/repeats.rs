//! The cases whose verdict differed between repeats, for a person.

use std::collections::BTreeMap;

use crate::repeats::Flaky;
use crate::report::clean;
use crate::report::style::Palette;
use crate::run_format::Repeats;

/// A line for all cases, and one for each case with several verdicts.
#[must_use]
pub fn render(repeats: &Repeats, palette: Palette) -> String {
    let flaky = repeats.flaky();
    let mut out = String::new();
    let count = match flaky.len() {
        0 => palette.good("0"),
        count => palette.bad(count),
    };
    line!(out, "{}", headline(repeats, &count));
    for flaky in flaky {
        line!(out, "  {}", clean(flaky.case));
        line!(out, "    {}", share(&flaky));
    }
    out
}

/// How many cases had several verdicts: `flaky`, as a format writes the number.
pub(super) fn headline(repeats: &Repeats, flaky: &str) -> String {
    let (count, cases) = (repeats.count, repeats.verdicts.len());
    format!("{count} repeats: {flaky} of {cases} cases had several verdicts")
}

/// How many repeats of a case do not conform, and its verdicts.
pub(super) fn share(flaky: &Flaky<'_>) -> String {
    let Flaky { verdicts, failed, of, interval: (low, high), .. } = flaky;
    let share = 100.0 * f64::from(*failed) / f64::from(*of);
    let (low, high) = (100.0 * low, 100.0 * high);
    format!(
        "{failed} of {of} do not conform ({share:.1}%, 95% interval {low:.1}% to {high:.1}%): {}",
        counts(verdicts)
    )
}

fn counts(verdicts: &BTreeMap<String, u32>) -> String {
    let counts = verdicts.iter().map(|(verdict, count)| format!("{count} {}", clean(verdict)));
    counts.collect::<Vec<_>>().join(", ")
}
