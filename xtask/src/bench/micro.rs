//! What criterion measured: single pairs, and the judge's rates.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::Fault;
use crate::workspace;

/// One bench: where criterion keeps its estimate, and the bar in nanoseconds.
struct Pair {
    what: &'static str,
    estimate: &'static str,
    bar_ns: f64,
}

const PAIRS: [Pair; 6] = [
    Pair {
        what: "driver, alloc+free pair through cudarc, trace off",
        estimate: "alloc and free 256 B, trace off",
        bar_ns: 30.0,
    },
    Pair {
        what: "driver, alloc+free pair through cudarc, trace on",
        estimate: "alloc and free 256 B, trace on",
        bar_ns: 80.0,
    },
    Pair {
        what: "reference pool, alloc+free pair, native",
        estimate: "pool pair/fragmented, 1 KiB",
        bar_ns: 100.0,
    },
    Pair {
        what: "reference allocator by place, CPU, alloc+free pair through its table",
        estimate: "place pair/CPUPlace, 64 KiB",
        bar_ns: 60.0,
    },
    Pair {
        what: "the same, an operation of random lifetimes, 1000 live",
        estimate: "place random lifetimes/CPUPlace, 1000 live",
        bar_ns: 80.0,
    },
    Pair {
        what: "the same, an operation of random lifetimes, 20,000 live",
        estimate: "place random lifetimes/CPUPlace, 20000 live",
        bar_ns: 80.0,
    },
];

/// The judge over this many events.
struct Rate {
    what: &'static str,
    estimate: &'static str,
    events: f64,
}

const RATES: [Rate; 4] = [
    Rate { what: "judge, memory given and taken back", estimate: "judge/1000000", events: 1e6 },
    Rate {
        what: "judge of order, work handed on by events, 64 streams",
        estimate: "order/pipeline/1000000 events, 64 streams",
        events: 1e6,
    },
    Rate {
        what: "judge of order, blocking streams behind the legacy stream, 64 streams",
        estimate: "order/legacy/1000000 events, 64 streams",
        events: 1e6,
    },
    Rate {
        what: "judge of order, slices of one range by 64 streams",
        estimate: "order/slices/1000000 events, 64 streams",
        events: 1e6,
    },
];
const RATE_BAR: f64 = 2.0;

/// Prints a row for each.
pub(super) fn rows() -> Result<(), Fault> {
    let criterion = workspace::target().join("criterion");
    for Pair { what, estimate, bar_ns } in &PAIRS {
        println!(
            "| {what} | {:.1} ns | {bar_ns:.0} ns | criterion, median |",
            median(&criterion, estimate)?
        );
    }
    for Rate { what, estimate, events } in &RATES {
        let millions = events / median(&criterion, estimate)? * 1e3;
        println!(
            "| {what} | {millions:.2} million events a second | {RATE_BAR:.0} million | \
             criterion, median at 10^6 events |"
        );
    }
    Ok(())
}

/// The median in nanoseconds that criterion left for a bench.
fn median(criterion: &Path, id: &str) -> Result<f64, Fault> {
    let folder: PathBuf = criterion.join(id.replace(' ', "_"));
    let file = [criterion.join(id), folder]
        .into_iter()
        .map(|folder| folder.join("new/estimates.json"))
        .find(|file| file.exists())
        .ok_or_else(|| {
            Fault::Missing(format!(
                "criterion left no estimate for `{id}` in {}",
                criterion.display()
            ))
        })?;
    let text = fs::read_to_string(&file)
        .map_err(|cause| Fault::Missing(format!("{}: {cause}", file.display())))?;
    point_estimate(&text, "median")
        .ok_or_else(|| Fault::Missing(format!("{} holds no median", file.display())))
}

/// The number after `"point_estimate":` in the object of that name.
fn point_estimate(json: &str, name: &str) -> Option<f64> {
    let (_, object) = json.split_once(&format!("\"{name}\":"))?;
    let (_, number) = object.split_once("\"point_estimate\":")?;
    number.split([',', '}']).next()?.trim().parse().ok()
}
