//! Address ranges: those that facts claim, and those that the driver gave.

use allocert_contract::array::{
    ArrayInterface, BitFields, Description, DictSubclass, EarlyStream, ExplicitContiguous,
    Interpretation, LaterVersion, ZeroSize,
};
use serde_json::Value;

use crate::judge::range_list::{Entry, RangeList};
use crate::observation::Facts;

/// The half-open address ranges of memory or array facts: the device's, and the host's where it is
/// another; those of an array description from its lowest to its highest byte. The device's memory
/// begins at `base`, or else at `pointer`.
pub(crate) fn ranges(facts: &Facts) -> impl Iterator<Item = (u64, u64)> {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    let device = number("base").or(number("pointer")).unwrap_or(0);
    let (host, size) = (number("host_pointer").unwrap_or(0), number("size_bytes").unwrap_or(0));
    let host = if host == device { 0 } else { host };
    [device, host]
        .into_iter()
        .filter(move |start| *start != 0 && size > 0)
        .map(move |start| (start, start.saturating_add(size)))
        .chain(described(facts).map(|(_, range)| range))
}

/// The pointer of an array, and the half-open range of its elements: of an array description, or of
/// facts with the `base` of its memory. With negative strides the range begins below the pointer.
pub(crate) fn pointer_and_range(facts: &Facts) -> Option<(u64, (u64, u64))> {
    above_base(facts).or_else(|| described(facts))
}

fn above_base(facts: &Facts) -> Option<(u64, (u64, u64))> {
    let number = |name: &str| facts.get(name).and_then(Value::as_u64);
    let (base, size_bytes) = (number("base")?, number("size_bytes")?);
    Some((number("pointer")?, (base, base.saturating_add(size_bytes))))
}

fn described(facts: &Facts) -> Option<(u64, (u64, u64))> {
    let array = array(facts)?;
    let extent = array.extent()?;
    Some((array.data().0, (*extent.start(), extent.end().saturating_add(1))))
}

/// A defect of the description does not change the addresses of the array.
const LENIENT: Interpretation = Interpretation {
    later_version: LaterVersion::Newest,
    early_stream: EarlyStream::Ignored,
    dict_subclass: DictSubclass::Allowed,
    explicit_contiguous: ExplicitContiguous::Allowed,
    zero_size: ZeroSize::Elements,
    bit_fields: BitFields::Packed,
};

/// A description's array: of an interface, or of an object that has one. Facts are one, or hold
/// one beside others.
fn array(facts: &Facts) -> Option<ArrayInterface> {
    let nested = facts.get("description").and_then(Value::as_object);
    let has =
        |key| nested.map_or_else(|| facts.contains_key(key), |nested| nested.contains_key(key));
    let read = match (has("entries"), has("interface")) {
        (true, _) => ArrayInterface::read_with,
        (false, true) => ArrayInterface::read_object,
        (false, false) => return None,
    };
    let own = || facts.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let description: Description =
        serde_json::from_value(Value::Object(nested.cloned().unwrap_or_else(own))).ok()?;
    read(&description, &LENIENT).ok()
}

/// Values by address range. Ranges do not overlap.
#[derive(Debug)]
pub(crate) struct AddressMap<T> {
    ranges: RangeList<T>,
}

impl<T> Default for AddressMap<T> {
    fn default() -> Self {
        Self { ranges: RangeList::default() }
    }
}

impl<T> AddressMap<T> {
    /// The value whose range contains an address, with the start of the range.
    pub(crate) fn at(&self, address: u64) -> Option<(u64, &T)> {
        let found = self.ranges.get(self.ranges.seek(address))?;
        (found.start <= address).then_some((found.start, &found.value))
    }

    /// The first value whose range overlaps `start..end`.
    pub(crate) fn meeting(&self, start: u64, end: u64) -> Option<(u64, &T)> {
        let found = self.ranges.entries_from(self.ranges.seek(start)).next()?;
        (found.start <= start || found.start < end).then_some((found.start, &found.value))
    }

    pub(crate) fn get(&self, start: u64) -> Option<&T> {
        self.ranges.starting_at(start).and_then(|place| self.ranges.get(place)).map(|it| &it.value)
    }

    pub(crate) fn get_mut(&mut self, start: u64) -> Option<&mut T> {
        let place = self.ranges.starting_at(start)?;
        self.ranges.get_mut(place).map(|entry| &mut entry.value)
    }

    /// Inserts a range and removes all ranges that overlap it.
    pub(crate) fn put(&mut self, start: u64, end: u64, value: T) {
        while let Some((met, _)) = self.meeting(start, end) {
            self.remove(met);
        }
        self.ranges.insert(Entry { start, end, value });
    }

    pub(crate) fn remove(&mut self, start: u64) -> Option<T> {
        self.ranges.starting_at(start).map(|place| self.ranges.remove(place))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = (u64, &T)> {
        self.ranges.iter().map(|entry| (entry.start, &entry.value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.ranges.iter_mut().map(|entry| &mut entry.value)
    }
}
