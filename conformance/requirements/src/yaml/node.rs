//! The content of a YAML text as a tree with positions.

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From 1; 0 for what stands in no file.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Position {
    /// The position of what stands in no file.
    pub const NOWHERE: Self = Self { line: 0, column: 0 };
}

/// One value of a text and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub position: Position,
    pub(super) content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Scalar(Scalar),
    List(Vec<Node>),
    /// Keys and values in the order of the text; no key is there twice.
    Map(Vec<(Node, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scalar {
    /// As it is written, without quotes and escapes: a version `0.30` stays `0.30`.
    pub(super) text: String,
    pub(super) meaning: Meaning,
}

/// What YAML takes a scalar for. Only a plain one, without quotes, is anything but text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    PlainText,
    QuotedText,
}
