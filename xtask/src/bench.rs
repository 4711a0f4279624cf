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
    /// Violations that the subject is known for, relative to the repository.
    expect: Option<&'static str>,
    bar_s: f64,
}

const NUMBA: Whole = Whole {
    what: "emm suite on numba-cuda's own manager, 2 jobs, imports included",
    subject: "numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager",
    arguments: &["--jobs", "2"],
    expect: Some("fixtures/expectations/numba-cuda-0.30.4.yaml"),
    bar_s: 5.0,
};

const PYTHON: Whole = Whole {
    what: "emm suite on the Python reference, 2 jobs, imports included",
    subject: "allocert.numba",
    arguments: &["--jobs", "2"],
    expect: None,
    bar_s: 5.0,
};

const NATIVE: Whole = Whole {
    what: "emm suite on the native reference, a process a case",
    subject: "reference",
    arguments: &["--isolation", "case"],
    expect: None,
    bar_s: 2.0,
};

const TOGETHER: Whole = Whole {
    what: "emm suite on the native reference, one process",
    subject: "reference",
    arguments: &["--isolation", "none", "--jobs", "1"],
    expect: None,
    bar_s: 2.0,
};

/// What a process, a load and the reports cost, with the least that can be run.
const LEAST: Whole = Whole {
    what: "two cases on the native reference, one process",
    arguments: &["--isolation", "none", "--jobs", "1", "--filter", "emm/alloc/type"],
    ..TOGETHER
};

/// How long the fastest run took, and how many cases it ran.
struct Timed {
    seconds: f64,
    cases: u32,
}

pub(crate) fn bench() -> Result<ExitCode, Fault> {
    python::create()?;
    python::install(python::Purpose::Use)?;
    let products = workspace::build("release")?;
    shell::cargo()
        .args(["bench", "--quiet", "-p", "allocert-libcuda", "-p", "allocert-emm", "-p", "allocert-suite"])
        .done()?;
    println!("\n| what | measured | bar | method |\n|---|---|---|---|");
    for micro in &MICRO {
        let median_ns = median(&workspace::target().join("criterion"), micro.estimate)?;
        println!("| {} | {median_ns:.1} ns | {:.0} ns | criterion, median |", micro.what, micro.bar_ns);
    }
    for whole in [&NUMBA, &PYTHON, &NATIVE, &TOGETHER] {
        let Timed { seconds, cases } = best_of_three(&products, whole)?;
        println!(
            "| {}: {cases} cases | {seconds:.2} s | {:.0} s | whole process, best of three |",
            whole.what, whole.bar_s
        );
    }
    let (all, least) = (best_of_three(&products, &TOGETHER)?, best_of_three(&products, &LEAST)?);
    let further = all.cases.saturating_sub(least.cases).max(1);
    let case_us = (all.seconds - least.seconds) / f64::from(further) * 1e6;
    println!(
        "| native, per case in one process | {case_us:.0} µs | 20 µs above the subject's own time | (full run - two-case run) / {further} |"
    );
    Ok(ExitCode::SUCCESS)
}

fn best_of_three(products: &Path, whole: &Whole) -> Result<Timed, Fault> {
    let mut best = Timed { seconds: f64::INFINITY, cases: 0 };
    for _ in 0..3 {
        let mut step = shell::run(products.join("allocert"))
            .args(["run", "emm", whole.subject, "--python"])
            .args([python::interpreter()])
            .args(whole.arguments);
        if let Some(file) = whole.expect {
            step = step.args(["--expect".into(), workspace::root().join(file)]);
        }
        let begin = Instant::now();
        let report = step.text()?;
        let seconds = begin.elapsed().as_secs_f64();
        if seconds < best.seconds {
            best = Timed { seconds, cases: cases_ran(&report)? };
        }
    }
    Ok(best)
}

/// The first number in "258 of 346 cases ran", with which a report ends.
fn cases_ran(report: &str) -> Result<u32, Fault> {
    let (before, _) =
        report.rsplit_once(" of ").ok_or_else(|| Fault::Missing(format!("no count of cases in:\n{report}")))?;
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().map_err(|_| Fault::Missing(format!("`{number}` is no count of cases, in:\n{report}")))
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
