//! How the boundaries other than CUDA list their functions.

/// Defines `Function`, an enum with one variant for each row `Name(INPUTS) -> (OUTPUTS)`.
macro_rules! functions {
    (
        $(#[$attribute:meta])*
        pub enum Function {
            $($(#[$documentation:meta])* $name:ident($($input:ident),*) -> ($($output:ident),*);)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            strum::Display, strum::EnumString, strum::FromRepr, strum::IntoStaticStr,
            strum::VariantArray,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        #[repr(u16)]
        pub enum Function {
            $($(#[$documentation])* $name,)*
        }

        impl Function {
            /// The name that run files and fixtures write.
            #[must_use]
            pub fn name(self) -> &'static str {
                self.into()
            }

            /// The parameters that a record keeps: inputs, then outputs.
            #[must_use]
            pub fn parameters(self) -> &'static [$crate::trace::Parameter] {
                use $crate::trace::Parameter;
                match self {
                    $(Self::$name => const {
                        &[
                            $(Parameter::input(stringify!($input)),)*
                            $(Parameter::output(stringify!($output)),)*
                        ]
                    },)*
                }
            }
        }
    };
}

pub(super) use functions;
