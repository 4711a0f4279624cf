//! What a library exports.

use crate::interface::place::functions::Functions;
use crate::interface::place::table::Table;

/// The table of `allocert_place.h`, or two functions of another ABI.
pub(crate) enum Exported {
    Table(Table),
    Functions(Functions),
}
