//! The functions of the CUDA driver, and what only a trace of them has: launches and misuses.

mod launch;
mod misuse;
mod row_copy;
mod table;

use std::{collections::HashMap, fmt, sync::OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::parameter::Parameter;

pub use launch::{ATTRIBUTES_WORD, Launch};
pub use misuse::Misuse;
pub use row_copy::{RowCopy, Rows};

/// A driver function that the software driver exports. The number is an index into the table of
/// this build: write names to files, not numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function(u16);

struct Row {
    name: &'static str,
    per_thread_name: Option<&'static str>,
    introduced: i32,
    implemented: bool,
    parameters: &'static [Parameter],
}

impl Function {
    /// How many functions there are.
    pub const COUNT: usize = TABLE.len();

    /// The function at this place of the table.
    #[must_use]
    pub fn from_index(index: u16) -> Option<Self> {
        (usize::from(index) < TABLE.len()).then_some(Self(index))
    }

    /// Its place in the table.
    #[must_use]
    #[inline]
    pub const fn index(self) -> u16 {
        self.0
    }

    /// All functions, in table order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len()).map(|index| Self(index as u16))
    }

    /// The function with exactly this symbol, e.g. `cuMemAlloc_v2`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        static INDEX: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
        INDEX
            .get_or_init(|| Self::all().map(|function| (function.name(), function)).collect())
            .get(name)
            .copied()
    }

    /// The exported symbol, e.g. `cuMemAlloc_v2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The exported symbol of its variant for per-thread default streams, e.g.
    /// `cuMemcpyAsync_ptsz`.
    #[must_use]
    pub fn per_thread_name(self) -> Option<&'static str> {
        self.row().per_thread_name
    }

    /// The name without version suffix, as `cuGetProcAddress` takes it, e.g. `cuMemAlloc`.
    #[must_use]
    pub fn base_name(self) -> &'static str {
        let name = self.name();
        match name.rsplit_once("_v") {
            Some((base, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => base,
            _ => name,
        }
    }

    /// The CUDA version that introduced this symbol, e.g. 11020 for 11.2.
    #[must_use]
    pub fn introduced(self) -> i32 {
        self.row().introduced
    }

    /// Whether the software driver gives it a meaning; otherwise it answers
    /// `CUDA_ERROR_NOT_SUPPORTED`.
    #[must_use]
    pub fn implemented(self) -> bool {
        self.row().implemented
    }

    /// Whether the function launches a kernel and is recorded as a [`Launch`].
    #[must_use]
    #[inline]
    pub fn is_launch(self) -> bool {
        matches!(
            self,
            Self::cuLaunchKernel | Self::cuLaunchKernelEx | Self::cuLaunchCooperativeKernel
        )
    }

    /// Whether the function copies rows and is recorded as a [`RowCopy`].
    #[must_use]
    #[inline]
    pub fn is_row_copy(self) -> bool {
        matches!(
            self,
            Self::cuMemcpy2D_v2
                | Self::cuMemcpy2DUnaligned_v2
                | Self::cuMemcpy2DAsync_v2
                | Self::cuMemcpy3D_v2
                | Self::cuMemcpy3DAsync_v2
        )
    }

    /// The parameters in C order, or those of a [`Launch`] or a [`RowCopy`].
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        if self.is_launch() {
            launch::PARAMETERS
        } else if self.is_row_copy() {
            row_copy::PARAMETERS
        } else {
            self.row().parameters
        }
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

const fn first(names: &[&'static str]) -> Option<&'static str> {
    if let [name, ..] = names { Some(name) } else { None }
}

const fn is_output(kind: &str) -> bool {
    matches!(kind.as_bytes(), b"Out")
}

macro_rules! define {
    (
        implemented {
            $(
                $version:literal
                $name:ident($($param:ident : $kind:ident $(<$inner:ident>)?),*)
                $(| $variant:ident)?;
            )*
        }
        unsupported { $($stub_version:literal $stub:ident $(| $stub_variant:ident)?;)* }
    ) => {
        #[expect(non_camel_case_types, reason = "CUDA's own symbols; only their numbers are used")]
        #[repr(u16)]
        enum Index { $($name,)* $($stub,)* }

        #[expect(
            non_upper_case_globals,
            missing_docs,
            reason = "CUDA's own symbols, which its reference describes"
        )]
        impl Function {
            $(pub const $name: Self = Self(Index::$name as u16);)*
            $(pub const $stub: Self = Self(Index::$stub as u16);)*
        }

        static TABLE: &[Row] = &[
            $(Row {
                name: stringify!($name),
                per_thread_name: first(&[$(stringify!($variant))?]),
                introduced: $version,
                implemented: true,
                parameters: &[
                    $(Parameter {
                        name: stringify!($param),
                        output: is_output(stringify!($kind)),
                    }),*
                ],
            },)*
            $(Row {
                name: stringify!($stub),
                per_thread_name: first(&[$(stringify!($stub_variant))?]),
                introduced: $stub_version,
                implemented: false,
                parameters: &[],
            },)*
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
        let parameters = [("base", true), ("size", true), ("dptr", false)];
        let parameters = parameters.map(|(name, output)| Parameter { name, output });
        assert_eq!(range.parameters(), parameters);
        assert_eq!((range.base_name(), range.introduced()), ("cuMemGetAddressRange", 3020));
        assert!(!Function::cuGetExportTable.implemented());
        assert_eq!(range.per_thread_name(), None);
        assert_eq!(Function::cuMemcpyAsync.per_thread_name(), Some("cuMemcpyAsync_ptsz"));
    }
}
