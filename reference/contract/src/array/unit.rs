//! Units of `m` and `M`: `[ns]`, `[25s]`.

use std::fmt;

use strum::{Display, EnumString};

/// A NumPy datetime unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString)]
pub enum Unit {
    /// A calendar year.
    #[strum(serialize = "Y")]
    Year,
    /// A calendar month.
    #[strum(serialize = "M")]
    Month,
    /// Seven days.
    #[strum(serialize = "W")]
    Week,
    /// 24 hours.
    #[strum(serialize = "D")]
    Day,
    /// 60 minutes.
    #[strum(serialize = "h")]
    Hour,
    /// 60 seconds.
    #[strum(serialize = "m")]
    Minute,
    /// A second.
    #[strum(serialize = "s")]
    Second,
    /// 10^-3 s.
    #[strum(serialize = "ms")]
    Millisecond,
    /// 10^-6 s.
    #[strum(serialize = "us")]
    Microsecond,
    /// 10^-9 s.
    #[strum(serialize = "ns")]
    Nanosecond,
    /// 10^-12 s.
    #[strum(serialize = "ps")]
    Picosecond,
    /// 10^-15 s.
    #[strum(serialize = "fs")]
    Femtosecond,
    /// 10^-18 s.
    #[strum(serialize = "as")]
    Attosecond,
}

/// So many of a unit: the step of a datetime or a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiple {
    /// How many, at most 2^31 - 1 as in NumPy.
    pub count: u32,
    /// Of what.
    pub unit: Unit,
}

impl Multiple {
    /// What stands between the brackets. NumPy takes divisors too (`[s/2]`) and never writes them;
    /// here they are refused.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, name) = text.split_at(digits);
        let count = if count.is_empty() {
            1
        } else {
            count.parse().ok().filter(|count| *count <= i32::MAX as u32)?
        };
        Some(Self { count, unit: name.parse().ok()? })
    }
}

impl fmt::Display for Multiple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "[{}]", self.unit),
            count => write!(f, "[{count}{}]", self.unit),
        }
    }
}
