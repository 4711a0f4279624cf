//! The one place where YAML is read: strict, with positions, and with errors a person can act on.
//!
//! A text becomes a tree of [`Node`]s once, and structures are read from the tree by serde. So the
//! YAML reader is compiled for one type, not for each structure of each file format.

mod deserialize;
mod node;
mod parse;
mod refusal;

use serde::de::DeserializeOwned;

pub use deserialize::{Error, Spanned};
pub use node::{Node, Position};
pub use refusal::{Document, Refusal};

pub use crate::nearest::suggestion;

impl<'a> Document<'a> {
    /// Reads the whole document; an unknown field or a duplicate key is refused.
    ///
    /// # Errors
    /// The first place where the text is not what `T` asks for.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Box<Refusal>> {
        self.parse()?.read()
    }

    /// The tree of the document.
    ///
    /// # Errors
    /// The first place where the text is not YAML, or uses more of it than the formats allow.
    pub fn parse(&self) -> Result<Tree<'a>, Box<Refusal>> {
        let root = parse::parse(self.text).map_err(|error| self.refuse_error(error))?;
        Ok(Tree { document: *self, root })
    }
}

/// A document and what its text says.
#[derive(Debug, Clone)]
pub struct Tree<'a> {
    pub document: Document<'a>,
    pub root: Node,
}

impl Tree<'_> {
    /// Reads a structure from the tree.
    ///
    /// # Errors
    /// The first place that is not what `T` asks for.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Box<Refusal>> {
        T::deserialize(&self.root)
            .map_err(|error| self.document.refuse_error(error.at(self.root.position)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::{Document, Position, Refusal, Spanned};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "snake_case")]
    enum Shape {
        Point,
        Circle { radius: i128 },
        Sides(Vec<u8>),
    }

    fn read<T: DeserializeOwned>(text: &str) -> Result<T, Box<Refusal>> {
        Document { noun: "file", file: "a.yaml", text }.read()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let read: BTreeMap<String, Shape> = read(
            "# comment\na: point\nb: {circle: {radius: 170141183460469231731687303715884105727}}\n\
             c:\n  sides: [1, 255]\n",
        )
        .expect("written here");
        let all: Vec<Shape> = read.into_values().collect();
        let largest = Shape::Circle { radius: i128::MAX };
        assert_eq!(all, [Shape::Point, largest, Shape::Sides(vec![1, 255])]);
    }

    #[test]
    fn a_number_that_is_asked_for_as_text_stays_as_it_is_written() {
        let versions: Vec<String> = read("[0.30, 1_000, \"2\", true]").expect("written here");
        assert_eq!(versions, ["0.30", "1_000", "2", "true"]);
    }

    #[test]
    fn a_position_is_that_of_the_value() {
        let read: Vec<Spanned<Vec<Spanned<u8>>>> =
            read("- [1,\n   2]\n-\n  - 3\n").expect("written here");
        let inner: Vec<Position> =
            read.iter().flat_map(|list| &list.value).map(|one| one.position).collect();
        let at = |line, column| Position { line, column };
        assert_eq!(inner, [at(1, 4), at(2, 4), at(4, 5)]);
        assert_eq!((read[0].position, read[1].position), (at(1, 3), at(4, 3)));
    }

    #[test]
    fn what_is_wrong_is_shown_at_its_place() {
        let broken = [
            ("a: {circle: {radius: round}}", (1, 22), "expected a whole number, found `round`"),
            ("a: {sides: [1,\n  256]}", (2, 3), "expected a whole number from 0 on, found `256`"),
            ("a: {circle: {}}", (1, 13), "missing field `radius`"),
            ("a: {circle: [1]}", (1, 13), "expected a mapping, found a list"),
            ("a: circle", (1, 4), "`circle` stands alone and needs a value: `circle: ...`"),
            ("a: {point: 1}", (1, 12), "expected nothing, found `1`"),
            ("a: {point: , sides: []}", (1, 4), "expected a mapping of one word, found 2"),
            ("a: squre", (1, 4), "unknown word `squre`"),
            ("a:\n  b: [\n", (2, 6), "unclosed bracket '['"),
            ("a: point\na: point", (2, 1), "duplicate key `a`"),
        ];
        for (text, (line, column), message) in broken {
            let refusal = read::<BTreeMap<String, Shape>>(text).expect_err(text);
            assert_eq!(
                (refusal.line, refusal.column, refusal.message.as_str()),
                (line, column, message)
            );
        }
    }

    #[test]
    fn the_word_at_fault_is_underlined_whole() {
        let shown = |text| read::<Vec<Shape>>(text).expect_err("broken").to_string();
        assert_eq!(
            shown("[{circle: {radius: 1, \"größe\": 1}}]"),
            "file broken[unknown-field]: unknown field `größe`
 --> a.yaml:1:23
  |
1 | [{circle: {radius: 1, \"größe\": 1}}]
  |                       ^^^^^^^
  |
  = help: one of: radius"
        );
        assert_eq!(
            shown("[{sides: []}, poïnt]"),
            "file broken[unknown-word]: unknown word `poïnt`
 --> a.yaml:1:15
  |
1 | [{sides: []}, poïnt]
  |               ^^^^^
  |
  = help: did you mean `point`?"
        );
    }
}
