//! Functions of all boundaries: a small number with a name and parameters.

use std::{fmt, str::FromStr};

use strum::VariantArray as _;

use super::{boundary::Boundary, cuda, handler, parameter::Parameter, place, plugin};

/// A function of one boundary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// A function of the CUDA driver.
    Cuda(cuda::Function),
    /// A call of a host into an EMM plugin.
    Plugin(plugin::Function),
    /// A function of a NumPy allocation handler.
    Handler(handler::Function),
    /// A function of a place's allocator.
    Place(place::Function),
}

/// A code has the boundary in its upper bits and the function's index within it in the lower.
const INDEX_BITS: u32 = 12;
const INDEX_MASK: u16 = (1 << INDEX_BITS) - 1;
const _: () = assert!(cuda::Function::COUNT <= 1 << INDEX_BITS);

impl Function {
    /// All functions, boundary by boundary.
    pub fn all() -> impl Iterator<Item = Self> {
        let plugin = plugin::Function::VARIANTS.iter().copied().map(Self::Plugin);
        let handler = handler::Function::VARIANTS.iter().copied().map(Self::Handler);
        let place = place::Function::VARIANTS.iter().copied().map(Self::Place);
        cuda::Function::all().map(Self::Cuda).chain(plugin).chain(handler).chain(place)
    }

    /// The boundary that the function belongs to.
    #[must_use]
    #[inline]
    pub const fn boundary(self) -> Boundary {
        match self {
            Self::Cuda(_) => Boundary::Cuda,
            Self::Plugin(_) => Boundary::Plugin,
            Self::Handler(_) => Boundary::Handler,
            Self::Place(_) => Boundary::Place,
        }
    }

    /// The driver function, if it is one.
    #[must_use]
    #[inline]
    pub const fn cuda(self) -> Option<cuda::Function> {
        match self {
            Self::Cuda(function) => Some(function),
            _ => None,
        }
    }

    /// The number that a record keeps. It holds for one build: write names to files.
    #[must_use]
    #[inline]
    pub const fn code(self) -> u16 {
        let index = match self {
            Self::Cuda(function) => function.index(),
            Self::Plugin(function) => function as u16,
            Self::Handler(function) => function as u16,
            Self::Place(function) => function as u16,
        };
        (self.boundary() as u16) << INDEX_BITS | index
    }

    /// The function with this code.
    #[must_use]
    #[inline]
    pub fn from_code(code: u16) -> Option<Self> {
        let index = code & INDEX_MASK;
        Some(match Boundary::from_repr(code >> INDEX_BITS)? {
            Boundary::Cuda => Self::Cuda(cuda::Function::from_index(index)?),
            Boundary::Plugin => Self::Plugin(plugin::Function::from_repr(index)?),
            Boundary::Handler => Self::Handler(handler::Function::from_repr(index)?),
            Boundary::Place => Self::Place(place::Function::from_repr(index)?),
        })
    }

    /// The function of a boundary with exactly this name.
    #[must_use]
    pub fn by_name(boundary: Boundary, name: &str) -> Option<Self> {
        Some(match boundary {
            Boundary::Cuda => Self::Cuda(cuda::Function::by_name(name)?),
            Boundary::Plugin => Self::Plugin(name.parse().ok()?),
            Boundary::Handler => Self::Handler(name.parse().ok()?),
            Boundary::Place => Self::Place(name.parse().ok()?),
        })
    }

    /// The name within its boundary, such as `cuMemAlloc_v2` or `memalloc`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda(function) => function.name(),
            Self::Plugin(function) => function.name(),
            Self::Handler(function) => function.name(),
            Self::Place(function) => function.name(),
        }
    }

    /// Names of the inputs that a record keeps, eight at most.
    pub fn inputs(self) -> impl Iterator<Item = &'static str> {
        self.parameters().filter(|parameter| !parameter.output).map(|parameter| parameter.name)
    }

    /// Names of the outputs. A record keeps the first three.
    pub fn outputs(self) -> impl Iterator<Item = &'static str> {
        self.parameters().filter(|parameter| parameter.output).map(|parameter| parameter.name)
    }

    fn parameters(self) -> impl Iterator<Item = &'static Parameter> {
        let parameters = match self {
            Self::Cuda(function) => function.parameters(),
            Self::Plugin(function) => function.parameters(),
            Self::Handler(function) => function.parameters(),
            Self::Place(function) => function.parameters(),
        };
        parameters.iter()
    }
}

/// `cuMemAlloc_v2` for a driver function, whose names say what they are; `plugin.memalloc` for any
/// other.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(function) => function.fmt(f),
            other => write!(f, "{}.{}", other.boundary(), other.name()),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// There is no function of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFunction;

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a driver function, or BOUNDARY.FUNCTION such as plugin.memalloc")
    }
}

impl std::error::Error for UnknownFunction {}

/// Reads what [`Display`](fmt::Display) writes, and `cuda.cuMemAlloc_v2` too.
impl FromStr for Function {
    type Err = UnknownFunction;

    fn from_str(text: &str) -> Result<Self, UnknownFunction> {
        let (boundary, name) = match text.split_once('.') {
            Some((boundary, name)) => (boundary.parse().map_err(|_| UnknownFunction)?, name),
            None => (Boundary::Cuda, text),
        };
        Self::by_name(boundary, name).ok_or(UnknownFunction)
    }
}

impl From<cuda::Function> for Function {
    #[inline]
    fn from(function: cuda::Function) -> Self {
        Self::Cuda(function)
    }
}

/// Equal to the driver function, and to no function of another boundary.
impl PartialEq<cuda::Function> for Function {
    fn eq(&self, other: &cuda::Function) -> bool {
        matches!(self, Self::Cuda(function) if function == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back_to_their_function() {
        for function in Function::all() {
            assert_eq!(Function::from_code(function.code()), Some(function));
            assert_eq!(Function::by_name(function.boundary(), function.name()), Some(function));
            assert_eq!(function.to_string().parse(), Ok(function));
        }
    }

    #[test]
    fn codes_without_a_function_are_refused() {
        assert_eq!(Function::from_code(INDEX_MASK), None, "beyond the driver's table");
        assert_eq!(Function::from_code(4 << INDEX_BITS), None, "no such boundary");
        assert_eq!("plugin.malloc".parse::<Function>(), Err(UnknownFunction));
        assert_eq!("heap.malloc".parse::<Function>(), Err(UnknownFunction));
    }

    #[test]
    fn a_record_has_room_for_the_parameters() {
        let narrow = |function: &Function| function.boundary() != Boundary::Cuda;
        for function in Function::all().filter(narrow) {
            assert!(function.inputs().count() <= 8, "{function}");
            assert!(function.outputs().count() <= 3, "{function}");
        }
    }
}
