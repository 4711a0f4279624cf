//! `cargo xtask bench`: the speed table, each figure with its bar and its method.
//!
//! Small figures are the medians of the criterion benches; whole suites are timed as processes, imports included, the best of three.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::python;
use crate::shell::{self, Fault};
use crate::workspace;

/// One criterion bench: where criterion keeps its estimate, and the bar in nanoseconds.
struct Micro {
    what: &'static str,
    estimate: &'static str,
    bar_ns: f64,
}

const MICRO: [Micro; 3] = [
    Micro {
        what: "driver, alloc+free pair through cudarc, trace off",
        estimate: "alloc and free 256 B, trace off",
        bar_ns: 30.0,
    },
    Micro {
        what: "driver, alloc+free pair through cudarc, trace on",
        estimate: "alloc and free 256 B, trace on",
        bar_ns: 80.0,
    },
    Micro { what: "reference pool, alloc+free pair, native", estimate: "pool pair/fragmented, 1 KiB", bar_ns: 100.0 },
];

/// One whole run of the program.
struct Whole {
    what: &'static str,
    subject: &'static str,
    arguments: &'static [&'static str],
    bar_s: f64,
}

const WHOLE: [Whole; 3] = [
    Whole {
        what: "emm suite on the Python reference, 2 jobs",
        subject: "allocert.numba",
        arguments: &["--jobs", "2"],
        bar_s: 5.0,
    },
    Whole {
        what: "emm suite on the native reference, a process a case",
        subject: "reference",
        arguments: &["--isolation", "case"],
        bar_s: 2.0,
    },
    Whole {
        what: "emm suite on the native reference, one process",
        subject: "reference",
        arguments: &["--isolation", "none", "--jobs", "1"],
        bar_s: 2.0,
    },
];

pub(crate) fn bench() -> Result<ExitCode, Fault> {
    python::create()?;
    python::install()?;
    let products = workspace::build("release")?;
    shell::cargo()
        .args(["bench", "--quiet", "-p", "allocert-libcuda", "-p", "allocert-emm", "-p", "allocert-suite"])
        .done()?;
    println!("\n| what | measured | bar | method |\n|---|---|---|---|");
    for micro in &MICRO {
        let median_ns = median(&workspace::target().join("criterion"), micro.estimate)?;
        println!("| {} | {median_ns:.1} ns | {:.0} ns | criterion, median |", micro.what, micro.bar_ns);
    }
    for whole in &WHOLE {
        let seconds = best_of_three(&products, whole)?;
        println!("| {} | {seconds:.2} s | {:.0} s | whole process, best of three |", whole.what, whole.bar_s);
    }
    Ok(ExitCode::SUCCESS)
}

fn best_of_three(products: &Path, whole: &Whole) -> Result<f64, Fault> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        shell::run(products.join("allocert"))
            .args(["run", "emm", whole.subject, "--python"])
            .args([python::interpreter()])
            .args(whole.arguments)
            .text()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The median in nanoseconds that criterion left for a bench.
fn median(criterion: &Path, id: &str) -> Result<f64, Fault> {
    let folder: PathBuf = criterion.join(id.replace(' ', "_"));
    let file = [criterion.join(id), folder]
        .into_iter()
        .map(|folder| folder.join("new/estimates.json"))
        .find(|file| file.exists())
        .ok_or_else(|| Fault::Missing(format!("criterion left no estimate for `{id}` in {}", criterion.display())))?;
    let text = fs::read_to_string(&file).map_err(|cause| Fault::Missing(format!("{}: {cause}", file.display())))?;
    point_estimate(&text, "median").ok_or_else(|| Fault::Missing(format!("{} holds no median", file.display())))
}

/// The number after `"point_estimate":` in the object of that name.
fn point_estimate(json: &str, name: &str) -> Option<f64> {
    let (_, object) = json.split_once(&format!("\"{name}\":"))?;
    let (_, number) = object.split_once("\"point_estimate\":")?;
    number.split([',', '}']).next()?.trim().parse().ok()
}
