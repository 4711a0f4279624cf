//! Descriptions that tests start from.

use allocert_contract::array::{Content, Description};

/// Four floats at 0x1000, version 3.
pub(crate) fn vector() -> Description {
    Description::dict([
        ("shape", Description::tuple([Description::int(4)])),
        ("typestr", Description::str("<f4")),
        ("data", data(0x1000)),
        ("version", Description::int(3)),
    ])
}

pub(crate) fn data(pointer: i128) -> Description {
    Description::tuple([Description::int(pointer), Description::bool(false)])
}

pub(crate) fn ints<const N: usize>(values: [i128; N]) -> Description {
    Description::tuple(values.map(Description::int))
}

/// The field of a record.
pub(crate) fn field(name: &str, typestr: &str) -> Description {
    Description::tuple([Description::str(name), Description::str(typestr)])
}

pub(crate) trait Change {
    /// With another entry, or one more.
    fn with(self, key: &str, value: Description) -> Self;
    fn without(self, key: &str) -> Self;
}

impl Change for Description {
    fn with(mut self, key: &str, value: Description) -> Self {
        let Content::Dict(entries) = &mut self.content else { panic!("not a dict: {self:?}") };
        entries.known.insert(key.to_owned(), value);
        self
    }

    fn without(mut self, key: &str) -> Self {
        let Content::Dict(entries) = &mut self.content else { panic!("not a dict: {self:?}") };
        entries.known.remove(key).expect("the entry is there");
        self
    }
}
