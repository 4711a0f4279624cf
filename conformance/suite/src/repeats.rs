//! Several runs of the same cases: which verdicts each case had, and the worst of them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::reason::Reason;
use crate::run_format::{Judged, Repeats};
use crate::verdict::Verdict;

/// A case whose verdict was not the same in all repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flaky<'a> {
    pub case: &'a str,
    pub verdicts: &'a BTreeMap<String, u32>,
    /// Repeats that did not conform, and all that have a verdict.
    pub failed: u32,
    pub of: u32,
    /// The share of repeats that do not conform lies between these, with 95% confidence.
    pub interval: (f64, f64),
}

impl Repeats {
    /// Takes one repeat in, and leaves the worst judgement of each case in `worst`, which has the
    /// same cases in the same order, or none before the first repeat.
    pub fn add(&mut self, repeat: Vec<Judged>, worst: &mut Vec<Judged>) {
        self.count += 1;
        for judged in &repeat {
            // A case that was not run for lack of time has no verdict in this repeat.
            if !is_out_of_time(&judged.judgement.verdict) {
                let verdicts = self.verdicts.entry(judged.case.id.clone()).or_default();
                *verdicts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
            }
        }
        if worst.is_empty() {
            *worst = repeat;
            return;
        }
        for (worst, judged) in worst.iter_mut().zip(repeat) {
            if severity(&judged.judgement.verdict) > severity(&worst.judgement.verdict) {
                *worst = judged;
            }
        }
    }

    /// The repeats of these cases and of other cases that were run as often.
    #[must_use]
    pub fn join(mut self, of_others: Self) -> Self {
        self.verdicts.extend(of_others.verdicts);
        self
    }

    /// The cases that had several verdicts, those that failed most often first.
    #[must_use]
    pub fn flaky(&self) -> Vec<Flaky<'_>> {
        let cases = self.verdicts.keys();
        let mut flaky: Vec<Flaky<'_>> = cases.filter_map(|case| self.flaky_case(case)).collect();
        flaky.sort_by_key(|flaky| (Reverse(flaky.failed), flaky.case));
        flaky
    }

    /// The case if it had several verdicts.
    #[must_use]
    pub fn flaky_case(&self, case: &str) -> Option<Flaky<'_>> {
        let (case, verdicts) = self.verdicts.get_key_value(case)?;
        let of = verdicts.values().sum();
        let failed = of - verdicts.get(Verdict::Conforms.name()).copied().unwrap_or(0);
        let flaky = Flaky { case, verdicts, failed, of, interval: wilson(failed, of) };
        (verdicts.len() > 1).then_some(flaky)
    }
}

fn is_out_of_time(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::NotObserved { reason: Reason::OutOfTime { .. } })
}

fn severity(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Violates => 5,
        Verdict::HarnessError { .. } => 4,
        Verdict::Unusable { .. } => 3,
        Verdict::NotObserved { .. } => 2,
        Verdict::ExpectedViolation | Verdict::UnexpectedConformance { .. } => 1,
        Verdict::Conforms | Verdict::NotApplicable { .. } => 0,
    }
}

/// The score interval of Wilson (1927) for a share of `count` in `of`, with 95% confidence. It is
/// right for few repeats and for shares near 0, where the usual interval has no width.
#[must_use]
pub fn wilson(count: u32, of: u32) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    // The 97.5th percentile of the normal distribution.
    let z = 1.959_964;
    let (n, share) = (f64::from(of), f64::from(count) / f64::from(of));
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of Newcombe, Statistics in Medicine 17 (1998), table I.
    #[test]
    fn the_interval_is_that_of_the_literature() {
        let rounded = |(low, high): (f64, f64)| format!("{low:.4} {high:.4}");
        assert_eq!(rounded(wilson(81, 263)), "0.2553 0.3662");
        assert_eq!(rounded(wilson(15, 148)), "0.0624 0.1605");
        assert_eq!(rounded(wilson(0, 20)), "0.0000 0.1611");
        assert_eq!(rounded(wilson(1, 29)), "0.0061 0.1718");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }
}
