//! Each rule has a row of what was measured on an H200, and copies count as complete only where all
//! of them had arrived.

use std::collections::BTreeSet;

use allocert_contract::trace::{Call, cuda::Function};

use super::{CopyForm, HostWait, MemoryClass, OrderEffect, PassedOnEffect, Work};

const TABLES: [&str; 4] = [
    include_str!("../../../../../../reference/libcuda/tests/order/order_h200.tsv"),
    include_str!("../../../../../../reference/libcuda/tests/order/further_h200.tsv"),
    include_str!("../../../../../../reference/libcuda/tests/order/remaining_h200.tsv"),
    include_str!("../../../../../../reference/libcuda/tests/order/devices_h200.tsv"),
];
const COPIES: [&str; 2] = [
    include_str!("../../../../../../reference/libcuda/tests/order/copies_h200.tsv"),
    include_str!("../../../../../../reference/libcuda/tests/order/remaining_copies_h200.tsv"),
];

/// These two are of CUDA 13.2; the driver of the H200 is of CUDA 13.0.
const NEWER: [&str; 2] = ["cuFuncGetParamCount", "cuKernelGetParamCount"];
const ANSWERS: &str =
    include_str!("../../../../../../reference/libcuda/tests/answers/answers_h200.tsv");
const CLASSES: [(MemoryClass, &str); 8] = [
    (MemoryClass::Device, "device"),
    (MemoryClass::SyncMemops, "device with SYNC_MEMOPS"),
    (MemoryClass::Pool, "pool"),
    (MemoryClass::Managed, "managed"),
    (MemoryClass::ManagedNoSyncMemops, "managed without SYNC_MEMOPS"),
    (MemoryClass::Pinned, "pinned"),
    (MemoryClass::Registered, "registered"),
    (MemoryClass::Pageable, "pageable"),
];

const NO_SYNC_MEMOPS: &str = "managed memory and SYNC_MEMOPS\t";
const NO_SYNC_MEMOPS_WAITS: &str = ", SYNC_MEMOPS 0, waits for the legacy stream";

struct Rows<'t>(Vec<Vec<&'t str>>);

impl<'t> Rows<'t> {
    fn all() -> Self {
        let lines = TABLES.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
        Self(lines.map(|line| line.split('\t').collect()).collect())
    }

    fn has(&self, call: &str, what: impl Fn(&str) -> bool, host: Option<&str>) -> bool {
        self.0
            .iter()
            .any(|row| row[0] == call && what(row[1]) && host.is_none_or(|wanted| row[5] == wanted))
    }
}

impl Rows<'_> {
    /// Whether a row waits, or the copy had arrived although the legacy stream was busy. With
    /// SYNC_MEMOPS a call waits where it does without: the attribute takes no wait away. A fill
    /// of 16-bit elements with it is known by that of 8-bit ones.
    fn waits(&self, call: &str, what: &str) -> bool {
        let from = what.strip_suffix(" to managed without SYNC_MEMOPS 64 B");
        let to = what.strip_prefix("managed without SYNC_MEMOPS to ");
        if from.is_some_and(|place| answered_that_it_waits(call, "from", place))
            || to.is_some_and(|to| answered_that_it_waits(call, "to", to.trim_end_matches(" 64 B")))
        {
            return true;
        }
        let call = if what.contains("SYNC_MEMOPS") { &call.replace("D2D16", "D2D8") } else { call };
        let plain = what.replace("device with SYNC_MEMOPS", "device");
        // Whose the managed memory is makes no difference to the host.
        let same = |one: &str| {
            one == what || one == plain || one.replace("managed of B", "managed") == what
        };
        let arrived = |row: Vec<&str>| {
            row.len() == 6
                && (row[0], row[2]) == (call, "legacy")
                && same(row[1])
                && row[3] == row[5]
        };
        self.has(call, same, Some("waits")) || arrivals().any(arrived)
    }
}

/// Whether a row about managed memory without SYNC_MEMOPS says so.
fn answered_that_it_waits(call: &str, to: &str, place: &str) -> bool {
    let (call, place) = (call.trim_end_matches("_v2"), place.replace("pinned", "page-locked"));
    let row = format!("{NO_SYNC_MEMOPS}{call} {to} {place}{NO_SYNC_MEMOPS_WAITS}\tyes");
    ANSWERS.lines().any(|line| line == row)
}

/// The rows about copies, each with its cells.
fn arrivals() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = COPIES.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

fn is_synchronous(work: Work) -> bool {
    matches!(work, Work::Copy { synchronous: true, .. } | Work::Fill { synchronous: true })
}

fn effect(function: Function) -> OrderEffect {
    let call = Call {
        function: function.into(),
        args: [6; 8],
        out: [0; 3],
        result: Some(0),
        per_thread: false,
        injected: false,
    };
    OrderEffect::of(&call)
}

#[test]
fn every_function_was_measured() {
    let rows = Rows::all();
    let is_asked = |function: &Function| {
        function.implemented()
            || effect(*function) != OrderEffect::Nothing
            || (PassedOnEffect::of(*function) == PassedOnEffect::Nothing
                && *function != Function::cuGetExportTable)
    };
    let mut count = 0;
    for function in Function::all().filter(is_asked) {
        count += 1;
        let name = function.name();
        assert_ne!(rows.has(name, |_| true, None), NEWER.contains(&name), "a row of {name}");
    }
    assert!(count > 160, "only {count} functions");
}

/// The copies and fills with their work.
fn transfers() -> Vec<(Function, Work)> {
    Function::all()
        .filter_map(|function| match effect(function) {
            OrderEffect::Queue { work: work @ (Work::Copy { .. } | Work::Fill { .. }), .. } => {
                Some((function, work))
            }
            _ => None,
        })
        .collect()
}

/// The second column of a row.
fn what(work: Work, write: &str, read: &str, size: &str) -> String {
    match work {
        Work::Fill { .. } => format!("{write} {size}"),
        _ => format!("{read} to {write} {size}"),
    }
}

#[test]
fn every_wait_was_measured() {
    let rows = Rows::all();
    let mut asked = BTreeSet::new();
    for (function, work) in transfers() {
        let of_rows = matches!(work, Work::Copy { form: CopyForm::Rows, .. });
        let small = if of_rows { (256, "256 B") } else { (64, "64 B") };
        for (size_bytes, size) in [small, (4 << 20, "4 MiB")] {
            for (write, written) in CLASSES {
                for (read, source) in CLASSES {
                    for suffix in ["", "_ptds"] {
                        let per_thread = !suffix.is_empty();
                        if per_thread && !is_synchronous(work) {
                            continue;
                        }
                        let wait = |bytes| work.host_wait(per_thread, write, read, bytes);
                        let is_of_size = size_bytes == small.0
                            || std::mem::discriminant(&wait(size_bytes))
                                != std::mem::discriminant(&wait(EXCEPT_FOR_THE_LARGEST));
                        if wait(size_bytes) == HostWait::Never || !is_of_size {
                            continue;
                        }
                        asked.insert((
                            format!("{}{suffix}", function.name()),
                            what(work, written, source, size),
                        ));
                    }
                }
            }
        }
    }
    let unmeasured: Vec<_> = asked.iter().filter(|(call, what)| !rows.waits(call, what)).collect();
    assert!(unmeasured.is_empty(), "rules without a row that waits: {unmeasured:#?}");
    assert!(asked.len() > 200, "only {} rules", asked.len());
}

/// A size between those that decide.
const EXCEPT_FOR_THE_LARGEST: u64 = 1 << 20;

#[test]
fn calls_that_move_no_byte_were_measured() {
    let rows = Rows::all();
    let transfers = transfers();
    for (function, work) in &transfers {
        let (write, read) = (MemoryClass::Managed, MemoryClass::Pageable);
        assert_eq!(work.host_wait(false, write, read, 0), HostWait::NothingQueued);
        let name = function.name();
        // The functions for peers differ from `cuMemcpyDtoD` in the contexts that they name.
        let name = name.replace("Peer", "DtoD");
        let name = name.strip_suffix("_v2").unwrap_or(&name).to_owned();
        let named = |name: &str| rows.has(name, |what| what.ends_with(" 0 B"), Some("returns"));
        assert!(named(&name) || named(&format!("{name}_v2")), "{name}: no row of 0 B");
        assert!(!rows.has(&name, |what| what.ends_with(" 0 B"), Some("waits")), "{name}");
    }
    assert!(transfers.len() >= 19, "{transfers:?}");
}

#[test]
fn frees_were_measured() {
    let rows = Rows::all();
    for (function, prefix, host) in [
        ("cuMemFree_v2", "device ", "waits"),
        ("cuMemFree_v2", "managed ", "waits"),
        ("cuMemFree_v2", "device of B ", "waits"),
        ("cuMemFree_v2", "managed 4 MiB of B", "waits"),
        ("cuMemFree_v2", "pool ", "returns"),
        ("cuMemFree_v2", "0", "returns"),
        ("cuMemFreeHost", "pinned ", "waits"),
        ("cuMemFreeHost", "0", "returns"),
        ("cuMemHostUnregister", "registered ", "waits"),
    ] {
        let named = |what: &str| what.starts_with(prefix);
        assert!(rows.has(function, named, Some(host)), "{function} of {prefix} {host}: no row");
        let never = host == "returns" && rows.has(function, named, Some("waits"));
        assert!(!never, "{function} of {prefix}: a row waits");
    }
}

#[test]
fn managed_memory_without_sync_memops_was_measured() {
    let mut count = 0;
    for line in ANSWERS.lines().filter(|line| line.starts_with(NO_SYNC_MEMOPS)) {
        let Some((what, answer)) = line[NO_SYNC_MEMOPS.len()..].split_once(NO_SYNC_MEMOPS_WAITS)
        else {
            continue;
        };
        let mut words = what.split(' ');
        let (name, to, place) = (words.next(), words.next(), words.next());
        let name = name.map(|name| format!("{name}_v2")).expect("a call");
        let function =
            Function::by_name(&name).or_else(|| Function::by_name(&name[..name.len() - 3]));
        let managed = MemoryClass::ManagedNoSyncMemops;
        let other = match place {
            Some("device") | None => MemoryClass::Device,
            Some("page-locked") => MemoryClass::Pinned,
            Some(_) => MemoryClass::Pageable,
        };
        let (write, read) = if to == Some("to") { (other, managed) } else { (managed, other) };
        let (_, work) = transfers()
            .into_iter()
            .find(|(one, _)| Some(*one) == function)
            .unwrap_or_else(|| panic!("{name} is no copy"));
        let waits = work.host_wait(false, write, read, 64) != HostWait::Never;
        assert_eq!(waits, answer == "\tyes", "{line}");
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn copies_that_count_as_complete_had_all_arrived() {
    let (mut complete, mut incomplete) = (0, 0);
    for row in arrivals().filter(|row| row.len() == 6) {
        let [call, what, busy, rounds, _, last] = row[..] else { unreachable!("six cells") };
        let (name, per_thread) = match call.strip_suffix("_ptds") {
            Some(name) => (name, true),
            None => (call, false),
        };
        let (_, work) = transfers()
            .into_iter()
            .find(|(function, _)| function.name() == name)
            .unwrap_or_else(|| panic!("{call} is no copy"));
        let (read, write, size_bytes) = places(what);
        let arrived = rounds == last;
        let counts = match work.host_wait(per_thread, write, read, size_bytes) {
            HostWait::Completion => true,
            HostWait::StreamBefore { arrives } => arrives && busy != "legacy",
            _ => false,
        };
        assert!(arrived || !counts, "{call} {what}, {busy} is busy: counts as complete");
        // What a text denies may happen nevertheless, and these are small.
        let is_denied = read == MemoryClass::Pageable && size_bytes >= 64 << 10;
        let is_behind = ["legacy", "blocking"].contains(&busy) || read == MemoryClass::Device;
        assert!(
            counts || !arrived || is_denied || is_behind,
            "{call} {what}, {busy} is busy: had arrived, and does not count as complete"
        );
        complete += usize::from(counts);
        incomplete += usize::from(!arrived);
    }
    assert!(complete > 300 && incomplete > 50, "{complete} complete, {incomplete} not");
}

/// The memory that is read, the memory that is written, and the size in bytes. The source of a fill
/// counts as device memory.
fn places(what: &str) -> (MemoryClass, MemoryClass, u64) {
    let class = |name: &str| CLASSES.into_iter().find(|(_, one)| *one == name);
    let (source, target) = what.split_once(" to ").expect("from somewhere to somewhere");
    let unit = target.rfind(' ').expect("a unit");
    let number = target[..unit].rfind(' ').expect("a number");
    let (target, size) = target.split_at(number);
    (
        class(source).map_or(MemoryClass::Device, |(class, _)| class),
        class(target).expect("memory").0,
        bytes(size.trim_start()),
    )
}

fn bytes(text: &str) -> u64 {
    let (number, unit) = text.split_once(' ').expect("a number and a unit");
    let unit = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        _ => 1 << 20,
    };
    number.parse::<u64>().expect("a number") * unit
}
