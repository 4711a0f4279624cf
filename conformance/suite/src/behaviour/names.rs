//! Names for addresses and handles, which are others in each run.
//!
//! The first allocation of a case is `p1`, the next one `p2`, even at the address of one that was
//! freed; an address inside of one is `p1+256`. A block that a place or a handler gives comes
//! before the memory of the driver that it lies in. A block of the heap is `block`: cases go
//! through such blocks by their addresses, whose order is another in each run. Contexts are `ctx1`,
//! streams `stream1`, events `event1`, and opaque bytes such as those of an IPC handle `bytes1`.
//! Any other address is `address`, without a number: memory that no boundary gives out is used
//! again in one run and not in the next.

use std::collections::BTreeMap;

use allocert_contract::trace::{Boundary, Event};

use crate::effect::{Effect, MemorySource};
use crate::report::call::is_count;

/// Smaller numbers are no addresses.
const LEAST_ADDRESS: u64 = 1 << 16;
/// Smaller decimal numbers are no addresses.
const LEAST_DECIMAL: u64 = 1 << 32;
/// Shorter rows of digits are numbers or words.
const LEAST_DIGITS: usize = 32;

/// The names that a case has given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What places and handlers give.
    blocks: Allocations,
    /// What the driver gives.
    memory: Allocations,
    /// The address of the block that was given last.
    last_block: u64,
    /// Handles, by value.
    handles: BTreeMap<(&'static str, u64), String>,
    /// Opaque bytes, by their digits.
    bytes: BTreeMap<String, usize>,
    /// How many names begin with a word.
    counts: BTreeMap<&'static str, usize>,
    order_varies: bool,
}

/// By address: name and size.
type Allocations = BTreeMap<u64, (String, u64)>;

impl Names {
    /// Takes in what a call does to memory.
    pub(super) fn learn(&mut self, event: &Event) {
        let Some(call) = event.call().filter(|call| call.result == Some(0)) else { return };
        let boundary = call.function.boundary();
        match Effect::of(call) {
            Effect::Take { start, size_bytes, source } => {
                self.take(boundary, start, size_bytes, source);
            }
            Effect::Resize { from, to, size_bytes, source } if to != 0 => {
                self.allocations(boundary).remove(&from);
                self.take(boundary, to, size_bytes, source);
            }
            Effect::Resize { .. } => {}
            // Memory of the host is used again for other things.
            Effect::Give { start, source } if !source.is_exclusive() => {
                self.allocations(boundary).remove(&start);
            }
            Effect::Give { .. } | Effect::Touch { .. } | Effect::Nothing => {}
        }
    }

    fn allocations(&mut self, boundary: Boundary) -> &mut Allocations {
        if boundary == Boundary::Cuda { &mut self.memory } else { &mut self.blocks }
    }

    fn take(&mut self, boundary: Boundary, start: u64, size_bytes: u64, source: MemorySource) {
        if start == 0 {
            return;
        }
        // The trace has the call of the place before the calls of the driver that serve it.
        let is_served = boundary == Boundary::Cuda && start == self.last_block;
        let served = self.blocks.get(&start).filter(|_| is_served);
        let name = match (served, source) {
            (Some((name, _)), _) => name.clone(),
            (None, MemorySource::Heap) => "block".to_owned(),
            (None, _) if self.order_varies => "p".to_owned(),
            (None, _) => format!("p{}", self.next("p")),
        };
        if boundary != Boundary::Cuda {
            self.last_block = start;
        }
        self.allocations(boundary).insert(start, (name, size_bytes));
    }

    fn next(&mut self, word: &'static str) -> usize {
        let count = self.counts.entry(word).or_default();
        *count += 1;
        *count
    }

    /// From here on no name has a number: several threads have taken memory in an order of their
    /// own.
    pub(super) fn forget_order(&mut self) {
        self.order_varies = true;
    }

    pub(super) fn order_varies(&self) -> bool {
        self.order_varies
    }

    /// The text with names for what differs from run to run: addresses, handles, opaque bytes,
    /// threads, and the numbers of events. `size_bytes=0x10000` holds no address.
    pub(super) fn replace(&mut self, text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(begin) = rest.find(is_part_of_word) {
            let (between, word) = rest.split_at(begin);
            let end = word.find(|c| !is_part_of_word(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            replaced.push_str(between);
            let name = self.name_of_word(&text[..text.len() - rest.len() + begin], word);
            replaced.push_str(name.as_deref().unwrap_or(word));
            rest = after;
        }
        replaced.push_str(rest);
        replaced
    }

    /// The name of a word, if it is one that differs from run to run.
    fn name_of_word(&mut self, before: &str, word: &str) -> Option<String> {
        let hexadecimal = word.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        let key = key(before);
        match (hexadecimal, word.parse::<u64>()) {
            (Some(Ok(value)), _) if value >= LEAST_ADDRESS && !is_count(key) => {
                Some(self.name(value, key))
            }
            (_, Ok(_)) if before.ends_with('#') => Some("_".to_owned()),
            (_, Ok(value)) if before.ends_with("thread ") => Some(self.handle(value, "t")),
            // A description of an array writes each number as `"value":139927458668544`.
            (_, Ok(value)) if value >= LEAST_DECIMAL && (key == "value" || !is_count(key)) => {
                Some(self.name(value, key))
            }
            _ if word.len() >= LEAST_DIGITS && word.chars().all(|c| c.is_ascii_hexdigit()) => {
                let count = self.bytes.len() + 1;
                let number = self.bytes.entry(word.to_owned()).or_insert(count);
                Some(format!("bytes{number}"))
            }
            _ => None,
        }
    }

    fn name(&mut self, value: u64, key: &str) -> String {
        if let Some((name, offset)) = self.allocation_at(value) {
            return match offset {
                _ if self.order_varies => "p".to_owned(),
                0 => name.to_owned(),
                offset => format!("{name}+{offset}"),
            };
        }
        match ["ctx", "stream", "event"].into_iter().find(|word| key.contains(word)) {
            Some(word) => self.handle(value, word),
            None => "address".to_owned(),
        }
    }

    /// The name of the allocation that an address lies in, and the place in it. The end is no part
    /// of an allocation, but messages name it.
    fn allocation_at(&self, address: u64) -> Option<(&str, u64)> {
        [&self.blocks, &self.memory].into_iter().find_map(|allocations| {
            let (start, (name, size_bytes)) = allocations.range(..=address).next_back()?;
            let offset = address - start;
            (offset <= *size_bytes).then_some((name.as_str(), offset))
        })
    }

    fn handle(&mut self, value: u64, word: &'static str) -> String {
        if self.order_varies {
            return word.to_owned();
        }
        if let Some(name) = self.handles.get(&(word, value)) {
            return name.clone();
        }
        let name = format!("{word}{}", self.next(word));
        self.handles.insert((word, value), name.clone());
        name
    }
}

/// The text with the same word for every allocation and every place in it.
pub(super) fn without_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for part in text.split_inclusive(|c| !is_part_of_word(c) && c != '+') {
        let (word, end) = match part.char_indices().next_back() {
            Some((place, c)) if !is_part_of_word(c) && c != '+' => part.split_at(place),
            _ => (part, ""),
        };
        masked.push_str(if is_allocation(word) { "p" } else { word });
        masked.push_str(end);
    }
    masked
}

/// `p1` or `p1+256`.
fn is_allocation(word: &str) -> bool {
    let Some(numbers) = word.strip_prefix('p') else { return false };
    let mut numbers = numbers.splitn(2, '+');
    numbers.all(|number| number.parse::<u64>().is_ok())
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word before `=` or `: ` at the end of a text.
fn key(before: &str) -> &str {
    let before = before.trim_end_matches([' ', '=', ':', '(', '[', '"']);
    before.rsplit(|c| !is_part_of_word(c)).next().unwrap_or_default()
}
