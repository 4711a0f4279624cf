//! What an export said, as data: any Python value, with the name of its class. Untrusted.

use std::collections::BTreeMap;

/// A Python value as far as it can be carried. Its JSON form is in `runners/PROTOCOL.md`, under
/// "Descriptions".
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The name of its class.
    pub class: String,
    /// The built-in class below that, for a value of a subclass.
    pub base: Option<String>,
    /// What it holds.
    pub content: Content,
}

/// What a Python value holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// An integer that does not fit `Int`, in digits that may be cut short; the sign comes first.
    Huge(String),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Str(String),
    /// A tuple.
    Tuple(Items),
    /// A list.
    List(Items),
    /// A dict.
    Dict(Entries),
    /// An object whose `__cuda_array_interface__` is this.
    Exporter(Box<Description>),
    /// An object whose `__cuda_array_interface__` raised this.
    Raised(String),
    /// Anything else, of which only the class is known.
    Opaque,
    /// It was too long or too deep to be carried.
    NotCarried,
}

/// The items of a sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// The first items.
    pub carried: Vec<Description>,
    /// How many more there were.
    pub truncated: u64,
}

/// The entries of a dict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries {
    /// The entries that the interface knows, by their key.
    pub known: BTreeMap<String, Description>,
    /// Keys that the interface does not know, as text.
    pub others: Vec<String>,
}

impl Description {
    fn builtin(class: &str, content: Content) -> Self {
        Self { class: class.to_owned(), base: None, content }
    }

    /// The value `None`.
    #[must_use]
    pub fn none() -> Self {
        Self::builtin("NoneType", Content::None)
    }

    /// A bool.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self::builtin("bool", Content::Bool(value))
    }

    /// An int.
    #[must_use]
    pub fn int(value: impl Into<i128>) -> Self {
        Self::builtin("int", Content::Int(value.into()))
    }

    /// A str.
    #[must_use]
    pub fn str(value: impl Into<String>) -> Self {
        Self::builtin("str", Content::Str(value.into()))
    }

    /// A tuple of these items.
    #[must_use]
    pub fn tuple(items: impl IntoIterator<Item = Self>) -> Self {
        Self::builtin(
            "tuple",
            Content::Tuple(Items { carried: items.into_iter().collect(), truncated: 0 }),
        )
    }

    /// A list of these items.
    #[must_use]
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::builtin(
            "list",
            Content::List(Items { carried: items.into_iter().collect(), truncated: 0 }),
        )
    }

    /// A dict of these entries.
    #[must_use]
    pub fn dict<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        let known = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Self::builtin("dict", Content::Dict(Entries { known, others: Vec::new() }))
    }

    /// An object of `class` whose attribute is `interface`.
    #[must_use]
    pub fn exporter(class: &str, interface: Self) -> Self {
        Self::builtin(class, Content::Exporter(Box::new(interface)))
    }

    /// An object of `class` of which nothing else is known.
    #[must_use]
    pub fn opaque(class: &str) -> Self {
        Self::builtin(class, Content::Opaque)
    }
}
