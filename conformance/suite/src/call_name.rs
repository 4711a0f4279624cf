//! The names of recorded calls in fixtures.

use allocert_contract::trace::{Boundary, Function, cuda};
use allocert_requirements::RefusalCode;
use allocert_requirements::nearest::nearest;

use crate::invalid_word::InvalidWord;

/// What stands between the names of functions that do the same.
const OR: &str = " or ";

/// The names that a fixture gives as alternatives: `cuMemFreeHost or cuMemHostUnregister`.
pub(crate) fn alternatives(names: &str) -> impl Iterator<Item = &str> {
    names.split(OR)
}

/// Whether a name, or one of several alternatives, is the name of a function: `memalloc`, or with
/// its boundary `plugin.memalloc`. The name of a driver function without its version is the name of
/// every version.
pub(crate) fn is_name_of(names: &str, function: Function) -> bool {
    alternatives(names).any(|name| is_one_name_of(name, function))
}

/// [`is_name_of`] for many calls: it compares names once for each function.
pub(crate) struct NamedFunctions<'n> {
    names: &'n str,
    asked: Vec<(Function, bool)>,
}

impl<'n> NamedFunctions<'n> {
    pub(crate) fn new(names: &'n str) -> Self {
        Self { names, asked: Vec::new() }
    }

    pub(crate) fn contain(&mut self, function: Function) -> bool {
        match self.asked.iter().find(|(asked, _)| *asked == function) {
            Some((_, answer)) => *answer,
            None => {
                let answer = is_name_of(self.names, function);
                self.asked.push((function, answer));
                answer
            }
        }
    }
}

fn is_one_name_of(name: &str, function: Function) -> bool {
    let name = match name.split_once('.') {
        Some((boundary, name)) if boundary == function.boundary().name() => name,
        Some(_) => return false,
        None => name,
    };
    function.name() == name || function.cuda().is_some_and(|cuda| cuda.base_name() == name)
}

/// The functions of these boundaries that have a name.
pub(crate) fn functions(name: &str, boundaries: &[Boundary]) -> impl Iterator<Item = Function> {
    Function::all()
        .filter(|function| boundaries.contains(&function.boundary()))
        .filter(move |function| is_name_of(name, *function))
}

/// Whether a name is that of a function of one of these boundaries.
pub(crate) fn is_of(name: &str, boundaries: &[Boundary]) -> bool {
    functions(name, boundaries).next().is_some()
}

/// Why a name is that of no function of these boundaries and of CUDA, if it is not.
pub(crate) fn unknown_function(name: &str, boundaries: &[Boundary]) -> Option<InvalidWord> {
    if is_of(name, boundaries) {
        return None;
    }
    let named = name.split_once('.').and_then(|(prefix, function)| {
        let boundary = boundaries.iter().find(|boundary| boundary.name() == prefix)?;
        Some((*boundary, function))
    });
    match named {
        Some((boundary, function)) => Some(unknown_in_boundary(name, boundary, function)),
        None => unknown_driver_function(name),
    }
}

fn unknown_in_boundary(name: &str, boundary: Boundary, function: &str) -> InvalidWord {
    let functions = Function::all().filter(|function| function.boundary() == boundary);
    let close = nearest(function, functions.map(Function::name));
    let help = close.map(|close| format!("did you mean `{boundary}.{close}`?"));
    let message = format!("there is no function `{function}` of the boundary `{boundary}`");
    InvalidWord::new(RefusalCode::UnknownFunction, name, message).help(help)
}

/// Why a name is that of no driver function, if it is not.
pub(crate) fn unknown_driver_function(name: &str) -> Option<InvalidWord> {
    if is_of(name, &[Boundary::Cuda]) {
        return None;
    }
    let close = nearest(name, cuda::Function::all().map(cuda::Function::base_name));
    let help = close.map(|close| format!("did you mean `{close}`?"));
    Some(
        InvalidWord::new(
            RefusalCode::UnknownFunction,
            name,
            format!("there is no driver function `{name}`"),
        )
        .help(help),
    )
}
