//! Parameters of recorded functions.

/// A parameter's name, and whether the callee writes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name that the trace gives its value.
    pub name: &'static str,
    /// Whether the callee answers with it. A record keeps eight inputs and three outputs.
    pub output: bool,
}

impl Parameter {
    pub(super) const fn input(name: &'static str) -> Self {
        Self { name, output: false }
    }

    pub(super) const fn output(name: &'static str) -> Self {
        Self { name, output: true }
    }
}
