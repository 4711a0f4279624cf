//! The arguments of kernels that point into memory.

use std::collections::HashMap;
use std::rc::Rc;

use allocert_contract::trace::{Event, What};

use crate::judge::addresses::pointer_and_range;
use crate::judge::case_record::CaseRecord;

/// The arguments that point into memory, in the order of their launches.
pub(crate) struct KernelArguments<'a> {
    events: &'a [Event],
    /// The number of the launch and the index of the argument's event, by launch.
    given: Vec<(u64, u32)>,
    next: usize,
    /// The memory that facts of the case name.
    named: Rc<[(u64, u64)]>,
    /// The arrays of facts whose elements lie below their pointer too, by that pointer.
    reaching_down: HashMap<u64, (u64, u64)>,
}

impl<'a> KernelArguments<'a> {
    pub(crate) fn new(record: &CaseRecord<'a>, named: Rc<[(u64, u64)]>) -> Self {
        let events = record.observation.events.as_slice();
        let launch = |(index, event): (usize, &Event)| match event.what {
            What::Argument { launch, .. } => Some((launch, index as u32)),
            _ => None,
        };
        let mut given: Vec<(u64, u32)> = events.iter().enumerate().filter_map(launch).collect();
        given.sort_by_key(|(launch, _)| *launch);
        let arrays = record.all_facts().filter_map(pointer_and_range);
        let reaching_down = arrays.filter(|(pointer, (start, _))| start < pointer).collect();
        Self { events, given, next: 0, named, reaching_down }
    }

    /// The next range that a launch may reach.
    pub(crate) fn next(&mut self, launch: u64) -> Option<(u64, u64)> {
        while self.given.get(self.next).is_some_and(|(of, _)| *of < launch) {
            self.next += 1;
        }
        let (_, index) = self.given.get(self.next).filter(|(of, _)| *of == launch)?;
        self.next += 1;
        match self.events[*index as usize].what {
            What::Argument { value, base, size_bytes, .. } => {
                Some(self.reach(launch, value, (base, base.saturating_add(size_bytes))))
            }
            _ => None,
        }
    }

    /// How many arguments of a launch have this value.
    fn times(&self, launch: u64, value: u64) -> usize {
        let first = self.given.partition_point(|(of, _)| *of < launch);
        let of_launch = self.given[first..].iter().take_while(|(of, _)| *of == launch);
        let is_same = |index: u32| {
            let what = &self.events[index as usize].what;
            matches!(what, What::Argument { value: other, .. } if *other == value)
        };
        of_launch.filter(|(_, index)| is_same(*index)).count()
    }

    /// All of an array whose elements lie below its pointer too; otherwise from the argument to the
    /// end of the smallest memory that it points into. As far as the allocation goes. One argument
    /// may be one of two arrays that begin there: then it is what both have.
    fn reach(&self, launch: u64, value: u64, (base, end): (u64, u64)) -> (u64, u64) {
        if let Some((low, high)) = self.reaching_down.get(&value) {
            let begins = self.named.iter().any(|(start, _)| *start == value);
            if begins && self.times(launch, value) < 2 {
                return (value, value.saturating_add(1));
            }
            return ((*low).max(base), (*high).min(end));
        }
        let around = self.named.iter().filter(|(start, end)| (*start..*end).contains(&value));
        let smallest = around.min_by_key(|(start, end)| end - start);
        (value, smallest.map_or(value.saturating_add(1), |(_, named)| (*named).min(end)))
    }
}
