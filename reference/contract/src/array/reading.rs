//! Where the text can be read in more than one way: the ways, and the one that is taken if nobody
//! says otherwise.

/// How to read what the text leaves open. The default of every switch is its first variant.
///
/// Two open questions have no switch here. Whether true means valid in a mask: the text says so,
/// and a description holds no mask's values. Whether refusing a legal layout conforms: that is for
/// the judge of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    pub explicit_contiguous: ExplicitContiguous,
    pub zero_size: ZeroSize,
    pub later_version: LaterVersion,
    pub early_stream: EarlyStream,
    pub bit_fields: BitFields,
    pub dict_subclass: DictSubclass,
}

/// "If strides is not given, or it is None, the array is in C-contiguous layout. Otherwise, a
/// tuple": may a C-contiguous array from version 2 on say its strides?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExplicitContiguous {
    /// The sentence says what None means, not that a tuple means anything else.
    #[default]
    Allowed,
    Refused,
}

/// "For zero-size arrays, use 0 here": which arrays are meant?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroSize {
    /// Those without elements. Elements of no bytes (`|V0`) may have any pointer.
    #[default]
    Elements,
    /// Those without bytes, so that `|V0` needs pointer 0 as well.
    Bytes,
}

/// A version above 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaterVersion {
    /// There is no such version of the interface.
    #[default]
    Refused,
    /// Taken for version 3.
    Newest,
}

/// A stream in versions 0 to 2, which have no such entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyStream {
    #[default]
    Refused,
    /// As in version 3, which is always safe for who consumes.
    Obeyed,
    /// An unknown entry like any other.
    Ignored,
}

/// How the elements of kind `t` lie in memory. NumPy, whose type it is, implements none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BitFields {
    /// One after the other without gaps. With explicit strides each begins at a byte of its own.
    #[default]
    Packed,
    /// Each in whole bytes of its own.
    Bytes,
}

/// The attribute gives an object of a subclass of `dict`. Subclasses of `tuple`, `int` and `str`
/// are always taken for what they are, except `bool` for `int`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DictSubclass {
    /// A subclass may answer look-ups with other things than it holds, so two consumers may see two
    /// arrays.
    #[default]
    Refused,
    Allowed,
}
