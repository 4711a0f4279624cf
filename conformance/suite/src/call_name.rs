//! The names by which fixtures speak of recorded calls.

use allocert_contract::trace::{Boundary, Function};
use allocert_requirements::Side;

/// The boundaries whose calls the cases of a side may speak of.
pub(crate) fn boundaries(side: Side) -> &'static [Boundary] {
    match side {
        // The worker plays the plugin of the host under test and records the calls into it.
        Side::EmmHost => &[Boundary::Cuda, Boundary::Plugin],
        Side::Nep49 | Side::Nep49Host => &[Boundary::Handler],
        Side::Place => &[Boundary::Cuda, Boundary::Place],
        Side::Emm | Side::CaiProducer | Side::CaiConsumer => &[Boundary::Cuda],
    }
}

/// Whether a name stands for a function: `memalloc`, or with its boundary `plugin.memalloc`. The
/// name of a driver function without its version stands for every version.
pub(crate) fn stands_for(name: &str, function: Function) -> bool {
    let name = match name.split_once('.') {
        Some((boundary, name)) if boundary == function.boundary().name() => name,
        Some(_) => return false,
        None => name,
    };
    function.name() == name || function.cuda().is_some_and(|cuda| cuda.base_name() == name)
}

/// Whether a name stands for a function of a boundary other than CUDA that the side may speak of.
pub(crate) fn is_beside_cuda(name: &str, side: Side) -> bool {
    let other = |function: &Function| {
        function.cuda().is_none() && boundaries(side).contains(&function.boundary())
    };
    Function::all().filter(other).any(|function| stands_for(name, function))
}

/// Whether a name stands for a driver function.
pub(crate) fn is_cuda(name: &str) -> bool {
    Function::all().any(|function| function.cuda().is_some() && stands_for(name, function))
}
