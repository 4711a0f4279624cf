//! Whole runs of the program, timed from start to exit.

use std::path::Path;
use std::time::Instant;

use crate::python;
use crate::shell::{self, Fault};
use crate::workspace;

/// One run of a suite.
struct Whole {
    what: &'static str,
    side: &'static str,
    subject: &'static str,
    arguments: &'static [&'static str],
    /// Violations that the subject is known for, relative to the repository.
    expect: Option<&'static str>,
    bar_s: f64,
}

const NUMBA: Whole = Whole {
    what: "emm suite on numba-cuda's own manager, 2 jobs, imports included",
    side: "emm",
    subject: "numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager",
    arguments: &["--jobs", "2"],
    expect: Some("fixtures/expectations/numba-cuda-0.30.4.yaml"),
    bar_s: 5.0,
};

const PYTHON: Whole = Whole {
    what: "emm suite on the Python reference, 2 jobs, imports included",
    subject: "allocert.numba",
    expect: None,
    ..NUMBA
};

const PRODUCER: Whole = Whole {
    what: "cai-producer suite on numba-cuda's arrays, 2 jobs, imports included",
    side: "cai-producer",
    subject: "allocert.adapters.numba_cuda:Producer",
    expect: Some("fixtures/expectations/numba-cuda-0.30.4-cai-producer.yaml"),
    ..NUMBA
};

const CONSUMER: Whole = Whole {
    what: "cai-consumer suite on numba-cuda, 2 jobs, imports included",
    side: "cai-consumer",
    subject: "allocert.adapters.numba_cuda:Consumer",
    expect: Some("fixtures/expectations/numba-cuda-0.30.4-cai-consumer.yaml"),
    ..NUMBA
};

const NATIVE: Whole = Whole {
    what: "emm suite on the native reference, a process a case",
    side: "emm",
    subject: "reference",
    arguments: &["--isolation", "case"],
    expect: None,
    bar_s: 2.0,
};

const TOGETHER: Whole = Whole {
    what: "emm suite on the native reference, one process",
    arguments: &["--isolation", "none", "--jobs", "1"],
    ..NATIVE
};

/// What a process, a load and the reports cost, with the least that can be run.
const LEAST: Whole = Whole {
    what: "two cases on the native reference, one process",
    arguments: &["--isolation", "none", "--jobs", "1", "--filter", "emm/alloc/type"],
    ..NATIVE
};

const OPERATIONS: u32 = 1_000_000;
const OPERATIONS_BAR: u32 = 200_000;

/// How long the fastest run took, and how many cases it ran.
struct Timed {
    seconds: f64,
    cases: u32,
}

/// Prints a row for each.
pub(super) fn rows(products: &Path) -> Result<(), Fault> {
    for whole in [&NUMBA, &PYTHON, &PRODUCER, &CONSUMER, &NATIVE, &TOGETHER] {
        let Timed { seconds, cases } = best_of_three(products, whole)?;
        println!(
            "| {}: {cases} cases | {seconds:.2} s | {:.0} s | whole process, best of three |",
            whole.what, whole.bar_s
        );
    }
    let (all, least) = (best_of_three(products, &TOGETHER)?, best_of_three(products, &LEAST)?);
    let further = all.cases.saturating_sub(least.cases).max(1);
    let case_us = (all.seconds - least.seconds) / f64::from(further) * 1e6;
    println!(
        "| native, per case in one process | {case_us:.0} µs | 20 µs above the subject's own time \
         | (full run - two-case run) / {further} |"
    );
    let seconds = exploration(products)?;
    println!(
        "| `explore emm reference`, {OPERATIONS} operations | {:.0} operations a second | \
         {OPERATIONS_BAR} | whole process, best of three |",
        f64::from(OPERATIONS) / seconds
    );
    Ok(())
}

fn best_of_three(products: &Path, whole: &Whole) -> Result<Timed, Fault> {
    let mut best = Timed { seconds: f64::INFINITY, cases: 0 };
    for _ in 0..3 {
        let mut step = shell::run(products.join("allocert"))
            .args(["run", whole.side, whole.subject, "--python"])
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

/// Seconds of the fastest exploration of three, each with a seed of its own.
fn exploration(products: &Path) -> Result<f64, Fault> {
    let mut best = f64::INFINITY;
    for seed in ["7", "8", "9"] {
        let step = shell::run(products.join("allocert"))
            .args([
                "explore",
                "emm",
                "reference",
                "--seed",
                seed,
                "--ops",
                &OPERATIONS.to_string(),
                "--out",
            ])
            .args([workspace::target().join("explored")]);
        let begin = Instant::now();
        step.text()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The first number in "258 of 346 cases ran", with which a report ends.
fn cases_ran(report: &str) -> Result<u32, Fault> {
    let (before, _) = report
        .rsplit_once(" of ")
        .ok_or_else(|| Fault::Missing(format!("no count of cases in:\n{report}")))?;
    let number = before.rsplit(' ').next().unwrap_or_default();
    number
        .parse()
        .map_err(|_| Fault::Missing(format!("`{number}` is no count of cases, in:\n{report}")))
}
