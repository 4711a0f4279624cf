//! The time of day.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// By the clock of Greenwich, so that a file expires everywhere at once.
pub(crate) fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// For the header of a run; nothing if the clock is before 1970.
pub(crate) fn unix_time_ms() -> Option<u64> {
    u64::try_from(Timestamp::now().as_millisecond()).ok()
}
