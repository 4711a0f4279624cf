//! The typestr of the NumPy array interface: `<f4`, `|V16`, `>M8[25s]`.

use std::fmt;
use std::str::FromStr;

use super::unit::Multiple;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typestr {
    pub order: ByteOrder,
    pub kind: Kind,
    /// As written: code points for [`Kind::Unicode`], bits for [`Kind::BitField`], bytes for all
    /// others.
    pub count: u32,
    /// Of [`Kind::Timedelta`] and [`Kind::Datetime`] only, where it may be missing.
    pub unit: Option<Multiple>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// `<`
    Little,
    /// `>`
    Big,
    /// `|`: it does not matter.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `t`
    BitField,
    /// `b`
    Boolean,
    /// `i`
    Integer,
    /// `u`
    Unsigned,
    /// `f`
    Float,
    /// `c`
    Complex,
    /// `m`
    Timedelta,
    /// `M`
    Datetime,
    /// `O`
    Object,
    /// `S`
    Bytes,
    /// `U`
    Unicode,
    /// `V`
    Void,
}

/// Why a text is no typestr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTypestr {
    /// It does not begin with `<`, `>` or `|`.
    Order,
    /// The letter is none of the interface's kinds.
    Kind,
    /// No count follows the kind.
    NoCount,
    /// NumPy has no type of this kind and count.
    Count(Kind, u64),
    /// What follows the count of `m` or `M` is no unit.
    Unit,
    /// Something follows that does not belong there.
    Rest,
}

const KINDS: [(char, Kind); 12] = [
    ('t', Kind::BitField),
    ('b', Kind::Boolean),
    ('i', Kind::Integer),
    ('u', Kind::Unsigned),
    ('f', Kind::Float),
    ('c', Kind::Complex),
    ('m', Kind::Timedelta),
    ('M', Kind::Datetime),
    ('O', Kind::Object),
    ('S', Kind::Bytes),
    ('U', Kind::Unicode),
    ('V', Kind::Void),
];

impl Kind {
    /// Its letter in a typestr.
    #[must_use]
    pub fn letter(self) -> char {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or('?', |(letter, _)| *letter)
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
            Kind::Unicode => 4 * self.count as u64,
            Kind::BitField => (self.count as u64).div_ceil(8),
            _ => self.count as u64,
        }
    }

    /// Whether the order of bytes changes the value.
    #[must_use]
    pub const fn order_matters(&self) -> bool {
        match self.kind {
            Kind::Integer | Kind::Unsigned => self.count > 1,
            Kind::Float | Kind::Complex | Kind::Timedelta | Kind::Datetime | Kind::Unicode => true,
            Kind::BitField | Kind::Boolean | Kind::Object | Kind::Bytes | Kind::Void => false,
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
    type Err = BadTypestr;

    fn from_str(text: &str) -> Result<Self, BadTypestr> {
        let mut letters = text.chars();
        let order = match letters.next() {
            Some('<') => ByteOrder::Little,
            Some('>') => ByteOrder::Big,
            Some('|') => ByteOrder::None,
            _ => return Err(BadTypestr::Order),
        };
        let letter = letters.next().ok_or(BadTypestr::Kind)?;
        let (_, kind) = KINDS.iter().find(|(known, _)| *known == letter).ok_or(BadTypestr::Kind)?;
        let rest = letters.as_str();
        // NumPy itself writes objects without a count.
        if *kind == Kind::Object && rest.is_empty() {
            return Ok(Self { order, kind: Kind::Object, count: 8, unit: None });
        }
        let (count, rest) =
            rest.split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let count = number(count)?;
        if !kind.has(count) {
            return Err(BadTypestr::Count(*kind, count));
        }
        let unit = match (kind, rest) {
            (_, "") => None,
            (Kind::Timedelta | Kind::Datetime, "[generic]") => None,
            (Kind::Timedelta | Kind::Datetime, rest) => {
                Some(bracketed(rest).ok_or(BadTypestr::Unit)?)
            }
            _ => return Err(BadTypestr::Rest),
        };
        Ok(Self { order, kind: *kind, count: u32::try_from(count).unwrap_or(u32::MAX), unit })
    }
}

fn number(digits: &str) -> Result<u64, BadTypestr> {
    match digits {
        "" => Err(BadTypestr::NoCount),
        // More digits than a u64 has are more than any kind has.
        digits => Ok(digits.parse().unwrap_or(u64::MAX)),
    }
}

fn bracketed(text: &str) -> Option<Multiple> {
    Multiple::parse(text.strip_prefix('[')?.strip_suffix(']')?)
}

impl fmt::Display for Typestr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
            ByteOrder::None => '|',
        };
        write!(f, "{order}{}{}", self.kind.letter(), self.count)?;
        self.unit.map_or(Ok(()), |unit| unit.fmt(f))
    }
}

impl fmt::Display for BadTypestr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order => {
                f.write_str("it does not begin with a byte order, one of `<`, `>` and `|`")
            }
            Self::Kind => {
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
