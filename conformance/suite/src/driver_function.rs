//! The names of driver functions, as fixtures write them.

use allocert_contract::trace::Function;
use allocert_requirements::nearest::nearest;

use crate::invalid_word::InvalidWord;

/// Why a word names no driver function. A name without its version stands for every version.
pub(crate) fn unknown(name: &str) -> Option<InvalidWord> {
    if Function::all().any(|function| function.name() == name || function.base_name() == name) {
        return None;
    }
    let close = nearest(name, Function::all().map(Function::base_name));
    let help = close.map(|close| format!("did you mean `{close}`?"));
    Some(InvalidWord::new(name, format!("there is no driver function `{name}`")).help(help))
}
