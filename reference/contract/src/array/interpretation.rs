//! How to read the sentences of the text that can be read in more than one way, and which way is
//! taken if nobody says otherwise.

/// How to read what the text leaves open. The default of every field is its first variant.
///
/// Two open questions have no field here. Whether true means valid in a mask: the text says so, and
/// a description holds no mask's values. Whether a consumer may refuse a legal layout: that is for
/// the judge of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interpretation {
    /// Strides that a C-contiguous array need not say.
    pub explicit_contiguous: ExplicitContiguous,
    /// Which arrays have no size.
    pub zero_size: ZeroSize,
    /// A version above 3.
    pub later_version: LaterVersion,
    /// A stream before version 3.
    pub early_stream: EarlyStream,
    /// The layout of kind `t`.
    pub bit_fields: BitFields,
    /// An object of a class derived from `dict`.
    pub dict_subclass: DictSubclass,
}

/// "If strides is not given, or it is None, the array is in C-contiguous layout. Otherwise, a
/// tuple": may a C-contiguous array from version 2 on say its strides?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExplicitContiguous {
    /// The sentence says what None means, not that a tuple means anything else.
    #[default]
    Allowed,
    /// A tuple means another layout.
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
    /// It breaks the text.
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
    /// It is taken for the dict that it holds.
    Allowed,
}
