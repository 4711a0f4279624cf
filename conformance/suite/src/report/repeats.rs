//! The cases whose verdict differed between repeats, for a person.

use std::collections::BTreeMap;

use crate::repeats::Flaky;
use crate::report::clean;
use crate::report::style::Palette;
use crate::run_format::Repeats;

/// A line for all cases, and one for each case with several verdicts.
#[must_use]
pub fn render(repeats: &Repeats, palette: Palette) -> String {
    let (flaky, cases) = (repeats.flaky(), repeats.verdicts.len());
    let mut out = String::new();
    line!(
        out,
        "{} repeats: {} of {cases} cases had several verdicts",
        repeats.count,
        match flaky.len() {
            0 => palette.good("0"),
            count => palette.bad(count),
        }
    );
    for Flaky { case, verdicts, failed, of, interval: (low, high) } in flaky {
        let share = 100.0 * f64::from(failed) / f64::from(of);
        let (low, high) = (100.0 * low, 100.0 * high);
        line!(out, "  {}", clean(case));
        line!(
            out,
            "    {failed} of {of} do not conform ({share:.1}%, 95% interval {low:.1}% to \
             {high:.1}%): {}",
            counts(verdicts)
        );
    }
    out
}

fn counts(verdicts: &BTreeMap<String, u32>) -> String {
    let counts = verdicts.iter().map(|(verdict, count)| format!("{count} {}", clean(verdict)));
    counts.collect::<Vec<_>>().join(", ")
}
