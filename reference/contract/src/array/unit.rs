//! Units of `m` and `M`: `[ns]`, `[25s]`.

use std::fmt;

/// A NumPy datetime unit, from years to attoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
}

/// So many of a unit: the step of a datetime or a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiple {
    /// At most 2^31 - 1, as in NumPy.
    pub count: u32,
    pub unit: Unit,
}

const NAMES: [(&str, Unit); 13] = [
    ("Y", Unit::Year),
    ("M", Unit::Month),
    ("W", Unit::Week),
    ("D", Unit::Day),
    ("h", Unit::Hour),
    ("m", Unit::Minute),
    ("s", Unit::Second),
    ("ms", Unit::Millisecond),
    ("us", Unit::Microsecond),
    ("ns", Unit::Nanosecond),
    ("ps", Unit::Picosecond),
    ("fs", Unit::Femtosecond),
    ("as", Unit::Attosecond),
];

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
        let (_, unit) = NAMES.iter().find(|(known, _)| *known == name)?;
        Some(Self { count, unit: *unit })
    }
}

impl fmt::Display for Multiple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, unit)| *unit == self.unit).map_or("", |(name, _)| name);
        match self.count {
            1 => write!(f, "[{name}]"),
            count => write!(f, "[{count}{name}]"),
        }
    }
}
