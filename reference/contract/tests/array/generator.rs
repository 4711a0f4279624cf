//! Descriptions of all sorts from a seed: valid ones, nearly valid ones and noise.

use allocert_contract::array::{Content, Description, Entries, Items};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::vector::{Change, data, ints};

/// The same inputs on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit
    }

    pub(crate) fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }

    pub(crate) fn pick<'t, T: ?Sized>(&mut self, all: &[&'t T]) -> &'t T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Mostly letters of the grammar, sometimes any bytes.
    pub(crate) fn typestr(&mut self) -> String {
        match self.below(4) {
            0 | 1 => self.pick(&TYPESTRS).to_owned(),
            2 => {
                let length = self.below(8);
                (0..length).map(|_| self.pick(&LETTERS)).collect()
            }
            _ => {
                let bytes: Vec<u8> = (0..self.below(24)).map(|_| self.word() as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        }
    }

    pub(crate) fn description(&mut self) -> Description {
        match self.below(8) {
            0 => self.value(3),
            _ => self.interface(2),
        }
    }

    /// A valid array, of which a few entries may then be anything.
    fn interface(&mut self, masks: u64) -> Description {
        let axes = self.below(4);
        let shape: Vec<i128> = (0..axes).map(|_| i128::from(self.below(6))).collect();
        let pointer = if shape.contains(&0) { 0 } else { 1 << 40 };
        let typestr = self.pick(&TYPESTRS);
        let mut made = Description::dict([
            ("shape", Description::tuple(shape.iter().copied().map(Description::int))),
            ("typestr", Description::str(typestr)),
            ("data", data(pointer)),
            ("version", Description::int(3)),
        ]);
        if self.one_in(2) {
            let strides = shape.iter().map(|_| Description::int(self.stride()));
            made = made.with("strides", Description::tuple(strides));
        }
        if self.one_in(3) {
            let stream = 1 + self.below(1 << 20);
            made = made.with("stream", Description::int(stream));
        }
        if self.one_in(4) {
            made = made.with("descr", self.record(2));
        }
        if masks > 0 && self.one_in(6) {
            let mask = self.interface(masks - 1);
            made = made.with("mask", Description::exporter("Mask", mask));
        }
        if self.one_in(2) { self.disturbed(made) } else { made }
    }

    fn stride(&mut self) -> i128 {
        match self.below(3) {
            0 => 0,
            1 => 4 * i128::from(self.below(64)),
            _ => i128::from(self.below(256)) - 128,
        }
    }

    fn record(&mut self, depth: u64) -> Description {
        let fields = (0..self.below(4)).map(|index| self.field(index, depth));
        Description::list(fields)
    }

    fn field(&mut self, index: u64, depth: u64) -> Description {
        let name = match self.below(8) {
            0 => self.value(1),
            1 => Description::str(""),
            2 => Description::tuple([
                Description::str(self.typestr()),
                Description::str(format!("n{index}")),
            ]),
            _ => Description::str(format!("f{index}")),
        };
        let element = match self.below(5) {
            0 => self.value(1),
            1 if depth > 0 => self.record(depth - 1),
            _ => Description::str(self.pick(&TYPESTRS)),
        };
        match self.below(4) {
            0 => Description::tuple([name, element, ints([i128::from(self.below(5)), 2])]),
            1 => Description::tuple([name, element, self.value(1)]),
            _ => Description::tuple([name, element]),
        }
    }

    fn disturbed(&mut self, made: Description) -> Description {
        (0..=self.below(2)).fold(made, |made, _| {
            let key = self.pick(&KEYS);
            let value = match (key, self.below(2)) {
                ("typestr", 0) => Description::str(self.typestr()),
                ("data", 0) => data(self.integer()),
                ("version", 0) => Description::int(self.below(5)),
                ("stream", 0) => Description::int(self.integer()),
                ("shape" | "strides", 0) => ints([self.integer(), self.integer()]),
                _ => self.value(2),
            };
            made.with(key, value)
        })
    }

    /// Around the ends of everything.
    fn integer(&mut self) -> i128 {
        let edge = [0, 1, 2, 1 << 31, 1 << 32, 1 << 62, 1 << 63, 1 << 64, i128::MAX]
            [self.below(9) as usize];
        let near = i128::from(self.below(5)) - 2;
        let value = edge.saturating_add(near);
        if self.one_in(3) { -value } else { value }
    }

    /// Any value.
    fn value(&mut self, depth: u64) -> Description {
        let class = self.pick(&CLASSES).to_owned();
        let base = self.one_in(4).then(|| self.pick(&CLASSES).to_owned());
        let content = match self.below(if depth == 0 { 9 } else { 14 }) {
            0 => Content::None,
            1 => Content::Bool(self.one_in(2)),
            2 | 3 => Content::Int(self.integer()),
            4 => Content::Huge(format!(
                "{}{}…",
                if self.one_in(2) { "-" } else { "" },
                "9".repeat(50)
            )),
            5 => Content::Float(f64::from_bits(self.word())),
            6 => Content::Str(self.typestr()),
            7 => Content::Raised(self.typestr()),
            8 => {
                if self.one_in(2) {
                    Content::Opaque
                } else {
                    Content::NotCarried
                }
            }
            9 | 10 => Content::Tuple(self.items(depth)),
            11 => Content::List(self.items(depth)),
            12 => Content::Dict(self.entries(depth)),
            _ => Content::Exporter(Box::new(self.value(depth - 1))),
        };
        Description { class, base, content }
    }

    fn items(&mut self, depth: u64) -> Items {
        let length = if self.one_in(20) { 60 + self.below(10) } else { self.below(5) };
        let carried = (0..length).map(|_| self.value(depth - 1)).collect();
        Items { carried, truncated: if self.one_in(10) { self.word() >> 1 } else { 0 } }
    }

    fn entries(&mut self, depth: u64) -> Entries {
        let known = (0..self.below(6))
            .map(|_| (self.pick(&KEYS).to_owned(), self.value(depth - 1)))
            .collect();
        Entries { known, others: vec![self.typestr()] }
    }
}

const KEYS: [&str; 9] =
    ["shape", "typestr", "data", "version", "strides", "descr", "mask", "stream", "other"];
const CLASSES: [&str; 8] = ["int", "bool", "tuple", "list", "dict", "str", "Array", "NoneType"];
const LETTERS: [&str; 24] = [
    "<", ">", "|", "=", "t", "b", "i", "u", "f", "c", "m", "M", "O", "S", "U", "V", "0", "1", "4",
    "8", "16", "[", "s", "]",
];
const TYPESTRS: [&str; 19] = [
    "<f4", "<f8", ">i2", "|b1", "|u1", "|V8", "|V0", "<c16", "<U3", "|S5", "<M8[ns]", "<m8[25s]",
    "|t1", "|V16", "<f2", "|V24", "|O8", "<M8[s/0]", "|f8",
];
