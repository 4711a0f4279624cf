//! Driver functions as small numbers with names.

use std::{collections::HashMap, fmt, sync::OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::launch::{self, Launch};

/// A driver function that the software driver exports. The number is an index into the table of
/// this build: write names to files, not numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function(u16);

/// A parameter's name and whether the driver writes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub output: bool,
}

impl Parameter {
    pub(super) const fn input(name: &'static str) -> Self {
        Self { name, output: false }
    }
}

struct Row {
    name: &'static str,
    introduced: i32,
    implemented: bool,
    parameters: &'static [Parameter],
}

impl Function {
    pub fn from_index(index: u16) -> Option<Self> {
        (usize::from(index) < TABLE.len()).then_some(Self(index))
    }

    pub const fn index(self) -> u16 {
        self.0
    }

    /// All functions, in table order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len()).map(|index| Self(index as u16))
    }

    /// The function with exactly this symbol, e.g. `cuMemAlloc_v2`.
    pub fn by_name(name: &str) -> Option<Self> {
        static INDEX: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
        INDEX
            .get_or_init(|| Self::all().map(|function| (function.name(), function)).collect())
            .get(name)
            .copied()
    }

    /// The exported symbol, e.g. `cuMemAlloc_v2`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name without version suffix, as `cuGetProcAddress` takes it, e.g. `cuMemAlloc`.
    pub fn base_name(self) -> &'static str {
        let name = self.name();
        match name.rsplit_once("_v") {
            Some((base, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => name,
        }
    }

    /// The CUDA version that introduced this symbol, e.g. 11020 for 11.2.
    pub fn introduced(self) -> i32 {
        self.row().introduced
    }

    /// Whether the software driver gives it a meaning; otherwise it answers
    /// `CUDA_ERROR_NOT_SUPPORTED`.
    pub fn implemented(self) -> bool {
        self.row().implemented
    }

    /// Names of the inputs that a trace record keeps: the first eight in C order, or a [`Launch`].
    pub fn params(self) -> impl Iterator<Item = &'static str> {
        let recorded = if Launch::is(self) { launch::PARAMETERS } else { self.row().parameters };
        recorded.iter().filter(|parameter| !parameter.output).map(|parameter| parameter.name)
    }

    /// Names of the outputs, in C order. A trace record keeps the first three.
    pub fn outputs(self) -> impl Iterator<Item = &'static str> {
        self.row()
            .parameters
            .iter()
            .filter(|parameter| parameter.output)
            .map(|parameter| parameter.name)
    }

    fn row(self) -> &'static Row {
        &TABLE[usize::from(self.0)]
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Function {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Function {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::by_name(&name)
            .ok_or_else(|| D::Error::custom(format_args!("unknown driver function `{name}`")))
    }
}

const fn is_output(kind: &str) -> bool {
    matches!(kind.as_bytes(), b"Out")
}

macro_rules! define {
    (
        implemented { $($version:literal $name:ident($($param:ident : $kind:ident $(<$inner:ident>)?),*) $(| $variant:ident)?;)* }
        unsupported { $($stub_version:literal $stub:ident $(| $stub_variant:ident)?;)* }
    ) => {
        #[expect(non_camel_case_types, reason = "CUDA's own symbols; only their numbers are used")]
        #[repr(u16)]
        enum Index { $($name,)* $($stub,)* }

        #[expect(non_upper_case_globals, reason = "CUDA's own symbols")]
        impl Function {
            $(pub const $name: Self = Self(Index::$name as u16);)*
            $(pub const $stub: Self = Self(Index::$stub as u16);)*
        }

        static TABLE: &[Row] = &[
            $(Row {
                name: stringify!($name),
                introduced: $version,
                implemented: true,
                parameters: &[$(Parameter { name: stringify!($param), output: is_output(stringify!($kind)) }),*],
            },)*
            $(Row { name: stringify!($stub), introduced: $stub_version, implemented: false, parameters: &[] },)*
        ];
    };
}

crate::driver_functions!(define);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_function() {
        for function in Function::all() {
            assert_eq!(Function::by_name(function.name()), Some(function));
            assert_eq!(Function::from_index(function.index()), Some(function));
        }
        assert_eq!(Function::by_name("cuMemAlloc_v9"), None);
    }

    #[test]
    fn inputs_and_outputs_follow_the_c_prototype() {
        let range = Function::cuMemGetAddressRange_v2;
        assert_eq!(range.params().collect::<Vec<_>>(), ["dptr"]);
        assert_eq!(range.outputs().collect::<Vec<_>>(), ["base", "size"]);
        assert_eq!((range.base_name(), range.introduced()), ("cuMemGetAddressRange", 3020));
        assert!(!Function::cuGetExportTable.implemented());
    }
}
