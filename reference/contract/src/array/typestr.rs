//! The typestr of the NumPy array interface: `<f4`, `|V16`, `>M8[25s]`.

use std::fmt;
use std::str::FromStr;

use strum::FromRepr;

use super::unit::Multiple;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typestr {
    /// The order of its bytes.
    pub order: ByteOrder,
    /// What it is.
    pub kind: ElementKind,
    /// As written: code points for [`ElementKind::Unicode`], bits for [`ElementKind::BitField`],
    /// bytes for all others.
    pub count: u32,
    /// Of [`ElementKind::Timedelta`] and [`ElementKind::Datetime`] only, where it may be missing.
    pub unit: Option<Multiple>,
}

/// The order of the bytes of an element. The number is its character in a typestr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u8)]
pub enum ByteOrder {
    /// The least significant byte first.
    Little = b'<',
    /// The most significant byte first.
    Big = b'>',
    /// The order does not matter.
    None = b'|',
}

/// What an element is. The number is its letter in a typestr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRepr)]
#[repr(u8)]
pub enum ElementKind {
    /// A number of bits.
    BitField = b't',
    /// True or false.
    Boolean = b'b',
    /// A signed integer.
    Integer = b'i',
    /// An unsigned integer.
    Unsigned = b'u',
    /// A floating-point number.
    Float = b'f',
    /// A complex number.
    Complex = b'c',
    /// A duration in a [`Unit`](super::Unit).
    Timedelta = b'm',
    /// A time in a [`Unit`](super::Unit), counted from 1970.
    Datetime = b'M',
    /// A reference to a Python object.
    Object = b'O',
    /// A string of bytes.
    Bytes = b'S',
    /// A string of code points, four bytes each.
    Unicode = b'U',
    /// Bytes without a meaning, or a record.
    Void = b'V',
}

/// Why a text is no typestr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypestrError {
    /// It does not begin with `<`, `>` or `|`.
    Order,
    /// The letter is none of the interface's kinds.
    ElementKind,
    /// No count follows the kind.
    NoCount,
    /// NumPy has no type of this kind and count.
    Count(ElementKind, u64),
    /// What follows the count of `m` or `M` is no unit.
    Unit,
    /// Something follows that does not belong there.
    Rest,
}

impl ByteOrder {
    /// Its character in a typestr.
    #[must_use]
    pub fn letter(self) -> char {
        char::from(self as u8)
    }
}

impl ElementKind {
    /// Its letter in a typestr.
    #[must_use]
    pub fn letter(self) -> char {
        char::from(self as u8)
    }

    /// Whether NumPy has a type of this kind with this count.
    fn has(self, count: u64) -> bool {
        match self {
            Self::Boolean => count == 1,
            Self::Integer | Self::Unsigned => matches!(count, 1 | 2 | 4 | 8),
            Self::Float => matches!(count, 2 | 4 | 8 | 16),
            Self::Complex => matches!(count, 8 | 16 | 32),
            Self::Timedelta | Self::Datetime => count == 8,
            // The size of a pointer, which older programs wrote as 4.
            Self::Object => matches!(count, 4 | 8),
            Self::Bytes | Self::Void => count <= i32::MAX as u64,
            Self::Unicode => count <= i32::MAX as u64 / 4,
            Self::BitField => (1..=i32::MAX as u64).contains(&count),
        }
    }
}

impl Typestr {
    /// Bytes of one element; those of a bit field are rounded up.
    #[must_use]
    pub const fn size_bytes(&self) -> u64 {
        match self.kind {
            ElementKind::Unicode => 4 * self.count as u64,
            ElementKind::BitField => (self.count as u64).div_ceil(8),
            _ => self.count as u64,
        }
    }

    /// Whether the order of bytes changes the value.
    #[must_use]
    pub const fn order_matters(&self) -> bool {
        match self.kind {
            ElementKind::Integer | ElementKind::Unsigned => self.count > 1,
            ElementKind::Float
            | ElementKind::Complex
            | ElementKind::Timedelta
            | ElementKind::Datetime
            | ElementKind::Unicode => true,
            ElementKind::BitField
            | ElementKind::Boolean
            | ElementKind::Object
            | ElementKind::Bytes
            | ElementKind::Void => false,
        }
    }

    /// Whether elements have their bytes the other way round than this machine reads them.
    #[must_use]
    pub const fn is_foreign(&self) -> bool {
        let foreign =
            if cfg!(target_endian = "little") { ByteOrder::Big } else { ByteOrder::Little };
        self.order_matters() && self.order as u8 == foreign as u8
    }
}

impl FromStr for Typestr {
    type Err = TypestrError;

    fn from_str(text: &str) -> Result<Self, TypestrError> {
        let mut letters = text.chars();
        let mut next = || letters.next().and_then(|letter| u8::try_from(letter).ok());
        let order = next().and_then(ByteOrder::from_repr).ok_or(TypestrError::Order)?;
        let kind = next().and_then(ElementKind::from_repr).ok_or(TypestrError::ElementKind)?;
        let rest = letters.as_str();
        // NumPy itself writes objects without a count.
        if kind == ElementKind::Object && rest.is_empty() {
            return Ok(Self { order, kind: ElementKind::Object, count: 8, unit: None });
        }
        let (count, rest) =
            rest.split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let count = number(count)?;
        if !kind.has(count) {
            return Err(TypestrError::Count(kind, count));
        }
        let unit = match (kind, rest) {
            (_, "") => None,
            (ElementKind::Timedelta | ElementKind::Datetime, "[generic]") => None,
            (ElementKind::Timedelta | ElementKind::Datetime, rest) => {
                Some(bracketed(rest).ok_or(TypestrError::Unit)?)
            }
            _ => return Err(TypestrError::Rest),
        };
        Ok(Self { order, kind, count: u32::try_from(count).unwrap_or(u32::MAX), unit })
    }
}

fn number(digits: &str) -> Result<u64, TypestrError> {
    match digits {
        "" => Err(TypestrError::NoCount),
        // More digits than a u64 has are more than any kind has.
        digits => Ok(digits.parse().unwrap_or(u64::MAX)),
    }
}

fn bracketed(text: &str) -> Option<Multiple> {
    Multiple::parse(text.strip_prefix('[')?.strip_suffix(']')?)
}

impl fmt::Display for Typestr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.order.letter(), self.kind.letter(), self.count)?;
        self.unit.map_or(Ok(()), |unit| unit.fmt(f))
    }
}

impl fmt::Display for TypestrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order => {
                f.write_str("it does not begin with a byte order, one of `<`, `>` and `|`")
            }
            Self::ElementKind => {
                f.write_str("no kind of the array interface (tbiufcmMOSUV) follows the byte order")
            }
            Self::NoCount => f.write_str("no count follows the kind"),
            Self::Count(kind, count) => {
                write!(f, "NumPy has no type of kind `{}` with count {count}", kind.letter())
            }
            Self::Unit => {
                f.write_str("what follows the count is no unit of time such as `[ns]` or `[25s]`")
            }
            Self::Rest => f.write_str("something follows the count"),
        }
    }
}
