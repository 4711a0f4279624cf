//! The command line: what it accepts, and its translation to what a campaign takes.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;

use allocert_campaign::case_filter::Shard;
use allocert_campaign::{Failure, SubjectOptions, VerdictOptions};
use allocert_suite::RefusalCode;
use allocert_suite::offer;
use allocert_suite::report::format::Format;
use allocert_suite::report::terminal::Detail;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::terminal;

/// Certifies GPU memory allocators and GPU arrays against their specification, without a GPU.
#[derive(Debug, Parser)]
#[command(name = "allocert", version, after_help = AFTER_HELP)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
`allocert completions SHELL` and `allocert man` print completions and the manual page.

Exit codes:
  0  no violation of a MUST, or only those that the expectation file lists
  1  a violation of a MUST, or a listed violation that no longer happens;
     of mutants and variants: a mutant survives, or a variant is blamed
  2  the command line, a fixture or an expectation file is wrong, or the subject cannot be used
  3  allocert could not do its work
  4  no case has a result
  5  a case ran and what it asks about was not observed, and neither the expectation file nor
     --allow-not-observed says that this is known";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the cases of a side on a subject and judge what was recorded
    Run(Run),
    /// Run all cases of a side, and write a certificate if the subject conforms
    Certify(Box<Certify>),
    /// Judge the run of a certificate again, and compare it with what the certificate says
    Verify {
        /// The folder that `allocert certify` wrote
        bundle: PathBuf,
        /// A file of the subject: refuse the certificate if it is about another file
        #[arg(long, value_name = "FILE")]
        subject: Option<PathBuf>,
    },
    /// Judge a recorded run again
    Judge(Judge),
    /// Join the runs of all shards of a side into one run
    Merge {
        /// What `allocert run --shard I/N --out` wrote, of each shard once
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Where to write the run; a name that ends in .gz or .zst compresses it
        #[arg(long, short, value_name = "FILE")]
        out: PathBuf,
    },
    /// Report recorded runs in the format of another tool
    Report(Report),
    /// Write what the subject did in each case as a snapshot file
    Snapshot(Snapshot),
    /// Show what changed between two runs, the verdicts first
    Diff(Diff),
    /// Show all that was recorded of one case, step by step
    Trace(Trace),
    /// Run one case under a debugger, without a time limit
    Debug(Debug),
    /// Try random sequences of operations, and write each violation as a fixture
    Explore(Explore),
    /// Pass the arrays of each library to each other library, and show which pairs work
    Matrix(Matrix),
    /// Explain a requirement, freedom, case, profile, C contract or the code of a refusal
    Explain {
        /// A requirement (EMM-ALLOC-03), a freedom (EMM-FREEDOM-01), a case
        /// (emm/alloc/exact-size/size:1), a profile (numba-cuda-0.30), a C contract
        /// (allocert-emm-h) or the code of a refusal (unknown-case)
        id: String,
    },
    /// Print the fixture of a case, with the numbers of its lines
    Show {
        /// The id of a case, such as emm/alloc/exact-size/size:1, or the path of its fixture, as
        /// findings name it
        case: String,
    },
    /// List the cases
    List {
        /// An interface, or one of its sides; without it all
        interface: Option<String>,
        /// Only cases whose name, a folder of it, or a requirement that they state matches
        #[arg(long, value_name = "GLOB")]
        filter: Option<String>,
        /// Only cases that state something which this profile contains
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Show which requirements are tested by how many cases
    Coverage {
        /// An interface (emm, cai, nep49, place) or one of its sides (emm-host)
        #[arg(default_value = "emm")]
        interface: String,
        /// Only requirements that this profile contains
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Run the suite on subjects that violate requirements, and show which it finds
    Mutants(Mutants),
    /// Run the suite on subjects that use freedoms of the texts, and show which it blames
    Variants(BuiltSubjects),
    /// Work on fixture files
    #[command(subcommand)]
    Fixtures(Fixtures),
    /// Write a small plugin for emm, with its tests and a workflow for GitHub
    New {
        /// The language of the plugin
        #[arg(value_enum)]
        language: Language,
        /// A folder that does not exist, or is empty
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Print the completions for a shell
    #[command(hide = true)]
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page of the program, or of one of its commands
    #[command(hide = true)]
    Man { command: Option<String> },
    #[command(hide = true)]
    WorkerNative { socket: PathBuf },
    #[command(hide = true)]
    DriverFacts,
    #[command(hide = true)]
    IpcPeer {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

impl Command {
    /// Whether the program starts itself with this command.
    pub(crate) fn is_worker(&self) -> bool {
        matches!(self, Self::WorkerNative { .. } | Self::IpcPeer { .. } | Self::DriverFacts)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// What is certified: emm (a plugin), emm-host (the host of plugins), cai-producer or
    /// cai-consumer (a library of arrays), nep49 (a handler of NumPy), nep49-host (NumPy), place
    /// (an allocator of memory by place)
    pub(crate) side: String,
    /// A path of a shared library[:symbol], or module[:attribute]: a manager, a host, a handler, or
    /// an adapter of arrays; or the implementation that comes with allocert: reference,
    /// and for emm reference:pool, reference:deferred or reference:host-only
    pub(crate) subject: String,
    /// place: the subject has no table. A library exports two functions: NAME is torch (those that
    /// PyTorch's CUDAPluggableAllocator calls, [default names: my_malloc,my_free]), cupy (those
    /// that CuPy's CFunctionAllocator calls; PARAM is the symbol whose address they are given, NULL
    /// without it) or malloc (of the C standard, [default names: malloc,free]). A Python object
    /// has methods: NAME is cupy, rmm, cuda-core or nvmath, the library whose objects have them
    #[arg(long, value_name = "NAME[:MALLOC,FREE[,PARAM]]")]
    pub(crate) abi: Option<String>,
    /// Only cases whose name, a folder of it, or a requirement that they state matches
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Option<String>,
    /// The fixtures below this path instead of those of this program
    #[arg(long, value_name = "PATH")]
    pub(crate) fixtures: Vec<PathBuf>,
    /// The driver under the subject: simulated, or this computer's own, recorded
    /// (ALLOCERT_REAL_DRIVER names it)
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    pub(crate) driver: Driver,
    /// The interpreter for a Python subject [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// Run the cases again, each time with one call that the subject makes failing: of the driver
    /// for emm and place, of the handler for nep49-host
    ///
    /// [default: sample for a Python subject and for place, edges for any other]
    #[arg(long, value_enum, value_name = "WIDTH", num_args = 0..=1, require_equals = true)]
    pub(crate) faults: Option<Option<Width>>,
    /// Which cases share a process [default: case; with --faults, the injections of a native
    /// subject: group]
    #[arg(long, value_enum)]
    pub(crate) isolation: Option<Isolation>,
    /// Workers side by side [default: one a core; with --driver real one, because all share the
    /// device's memory]
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Seconds for every case, instead of each case's own, and for loading the subject, which has
    /// at least 10 [default: 120]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: Option<u32>,
    /// Seconds for the whole run. Cases that have not begun by then are not run, and the exit code
    /// is 3; a case that has begun has its own time limit
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_time: Option<u32>,
    /// Run all cases N times. Each case has the worst of its verdicts, and the report lists the
    /// cases that had several
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroU32>)]
    pub(crate) repeat: Option<NonZeroU32>,
    /// Only the I-th of N equal parts of the cases
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Where to write the run, for `allocert judge`; a name that ends in .gz or .zst compresses it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Where to keep the folder of the run: run.jsonl, the traces and the worker's files
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Args)]
pub(crate) struct Certify {
    /// As for `allocert run`
    pub(crate) side: String,
    /// As for `allocert run`
    pub(crate) subject: String,
    /// The folder of the certificate, which must not exist
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// As for `allocert run`
    #[arg(long, value_name = "NAME[:MALLOC,FREE[,PARAM]]")]
    pub(crate) abi: Option<String>,
    /// As for `allocert run`
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    pub(crate) driver: Driver,
    /// As for `allocert run`
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// As for `allocert run`
    #[arg(long, value_enum)]
    pub(crate) isolation: Option<Isolation>,
    /// As for `allocert run`
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// As for `allocert run`
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: Option<u32>,
    /// As for `allocert run`
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Explore {
    /// emm, nep49 or place
    pub(crate) side: String,
    /// As for `allocert run`
    pub(crate) subject: String,
    /// As for `allocert run`
    #[arg(long, value_name = "NAME[:MALLOC,FREE[,PARAM]]")]
    pub(crate) abi: Option<String>,
    /// The same seed makes the same sequences, on any machine
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How many operations
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ops: u64,
    /// Where fixtures are written
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// The interpreter for a Python subject [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// Workers side by side [default: one a core, and one more for a native subject]
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// The violations that are known: no requirement that this file lists is looked for, whichever
    /// cases it names
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// Seconds for every sequence [default: 10, and 2 for a short one]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) timeout: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Matrix {
    /// The interface by which arrays are exchanged: cai
    pub(crate) interface: String,
    /// Adapters of producers, module[:attribute] [default: all that come with this program and can
    /// be imported]
    #[arg(long, value_name = "ADAPTERS", value_delimiter = ',')]
    pub(crate) producers: Vec<String>,
    /// Adapters of consumers
    #[arg(long, value_name = "ADAPTERS", value_delimiter = ',')]
    pub(crate) consumers: Vec<String>,
    /// The interpreter that has the libraries [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// The driver under the libraries: simulated, or this computer's own, recorded
    /// (ALLOCERT_REAL_DRIVER names it)
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    pub(crate) driver: Driver,
    /// Only cases whose name matches
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Option<String>,
    /// Pairs side by side [default: one a core; with --driver real one, because all share the
    /// device]
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Where to write it as one page that a browser shows
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Where to write it as Markdown [default: to standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Where to write the run: every step, driver call and finding
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The file of known violations, whose subject is `matrix`. The report follows the matrix, and
    /// the exit code is that of `run`
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Judge {
    /// What `allocert run --out` wrote
    pub(crate) run: PathBuf,
    /// The file is RUN.partial, which a run that was interrupted leaves. Cases that had not ended
    /// are not observed, and the exit code is 3 if it is not 1
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// What `allocert run --out` wrote; html takes several, one for each column of its table
    #[arg(required = true)]
    pub(crate) run: Vec<PathBuf>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal)]
    pub(crate) format: ReportFormat,
    /// Where to write it [default: to standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// What `allocert run` prints
    Terminal,
    /// Verdicts and findings as data, which the Python function `allocert.read` reads
    Json,
    /// JUnit XML, as GitHub, GitLab and Jenkins read it
    Junit,
    /// SARIF 2.1.0: a rule for each requirement, a result for each cause
    Sarif,
    /// The Common Test Report Format
    Ctrf,
    /// The Test Anything Protocol, version 14
    Tap,
    /// Workflow commands of GitHub Actions, for the log of a job: an annotation for each cause
    Github,
    /// Markdown, for $GITHUB_STEP_SUMMARY
    Markdown,
    /// The outcome as JSON: cases by verdict, and what is violated, in which versions
    Summary,
    /// The JSON of an endpoint badge of shields.io
    Badge,
    /// One page for a browser, which loads nothing and runs no script
    Html,
}

impl From<ReportFormat> for Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Terminal => Self::Terminal,
            ReportFormat::Json => Self::Json,
            ReportFormat::Junit => Self::Junit,
            ReportFormat::Sarif => Self::Sarif,
            ReportFormat::Ctrf => Self::Ctrf,
            ReportFormat::Tap => Self::Tap,
            ReportFormat::Github => Self::Github,
            ReportFormat::Markdown => Self::Markdown,
            ReportFormat::Summary => Self::Summary,
            ReportFormat::Badge => Self::Badge,
            ReportFormat::Html => Self::Html,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Snapshot {
    /// What `allocert run --out` wrote
    pub(crate) run: PathBuf,
    /// The folder for the snapshots, a file a case. A run of the whole suite removes those of other
    /// cases, a run of a part leaves them
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// What `allocert run --out` wrote, or a folder of `allocert snapshot`
    pub(crate) before: PathBuf,
    /// The same of the other run
    #[arg(required_unless_present = "against")]
    pub(crate) after: Option<PathBuf>,
    /// Run this subject, such as reference, on the software driver, and show how the run, which
    /// must be a run file, differs from it
    #[arg(long, value_name = "SUBJECT", conflicts_with = "after")]
    pub(crate) against: Option<String>,
    /// The interpreter for a Python subject of --against [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
    /// Make the first folder hold what the other run did; the exit code is 0 then
    #[arg(long, conflicts_with = "against")]
    pub(crate) accept: bool,
    /// Write changed snapshots beside those of the first folder, for `cargo insta review`
    #[arg(long, conflicts_with_all = ["accept", "against"])]
    pub(crate) pending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For a terminal
    Text,
    /// For a comment on a pull request
    Markdown,
    /// For a program: a list of cases
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// What `allocert run --out` or `--keep` wrote
    pub(crate) run: PathBuf,
    /// The id of a case, such as emm/alloc/exact-size/size:1
    pub(crate) case: String,
}

#[derive(Debug, Args)]
pub(crate) struct Debug {
    /// As for `allocert run`
    pub(crate) side: String,
    /// As for `allocert run`
    pub(crate) subject: String,
    /// The id of a case, such as emm/alloc/exact-size/size:1
    pub(crate) case: String,
    /// As for `allocert run`
    #[arg(long, value_name = "NAME[:MALLOC,FREE[,PARAM]]")]
    pub(crate) abi: Option<String>,
    /// The fixtures below this path instead of those of this program
    #[arg(long, value_name = "PATH")]
    pub(crate) fixtures: Vec<PathBuf>,
    /// The interpreter for a Python subject [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// The debugger with its arguments; the worker's command line follows them
    /// [default: gdb --args, and pdb for a Python subject]
    #[arg(last = true)]
    pub(crate) debugger: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Mutants {
    #[command(flatten)]
    pub(crate) subjects: BuiltSubjects,
    /// Run all cases on each, and show which reports do not begin with what the mutant breaks
    #[arg(long)]
    pub(crate) first_cause: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BuiltSubjects {
    /// emm [default: every side that there are cases for]
    pub(crate) side: Option<String>,
    /// Only those whose name matches
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Option<String>,
    /// Only those that are written in this
    #[arg(long, value_enum)]
    pub(crate) flavor: Option<Flavor>,
    /// The interpreter for those in Python [default: python3]
    #[arg(long, value_name = "EXE")]
    pub(crate) python: Option<PathBuf>,
    /// How many side by side [default: one a core]
    #[arg(long, value_name = "N", value_parser = from_one::<NonZeroUsize>)]
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl From<BuiltSubjects> for SubjectOptions {
    fn from(arguments: BuiltSubjects) -> Self {
        let BuiltSubjects { side, filter, flavor, jobs, .. } = arguments;
        Self { side, filter, flavor: flavor.map(Into::into), jobs }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Flavor {
    /// In a shared library
    Native,
    /// In Python
    Python,
}

impl From<Flavor> for allocert_requirements::Flavor {
    fn from(flavor: Flavor) -> Self {
        match flavor {
            Flavor::Native => Self::Native,
            Flavor::Python => Self::Python,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// A class for Numba, tested with pytest
    Python,
    /// A shared library, tested with make
    C,
    /// A shared library, tested with cargo
    Rust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// What is done with verdicts, of a new run and of a recorded one.
#[derive(Debug, Args)]
pub(crate) struct Verdict {
    /// Which text holds where the texts disagree: nbep7, numba-docs or numba-cuda-0.30 for emm; v0,
    /// v1, v2 or v3 for cai; nep49 or numpy-2 for nep49; paddle, torch, cupy, malloc, rmm,
    /// cuda-core or nvmath for place
    ///
    /// [default: the newest text and the host that it is used with, and with --abi the profile of
    /// the same name; `judge` takes that of the run]
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// The violations that are known, and the cases that are not observed, with their reasons
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// Do not end with 5 if a case ran and what it asks about was not observed
    #[arg(long)]
    pub(crate) allow_not_observed: bool,
    /// Bring the file of --expect up to date: entries that are not true any more go, and new
    /// violations of a MUST and cases that are not observed come. All other lines stay
    #[arg(long, requires = "expect")]
    pub(crate) update_expectations: bool,
    /// Where to write a JUnit report
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Show every finding, not one of each cause
    #[arg(long)]
    pub(crate) verbose: bool,
}

impl Verdict {
    pub(crate) fn detail(&self) -> Detail {
        if self.verbose { Detail::Findings } else { Detail::Causes }
    }
}

impl From<Verdict> for VerdictOptions {
    fn from(verdict: Verdict) -> Self {
        let Verdict { profile, expect, allow_not_observed, update_expectations, junit, .. } =
            verdict;
        Self { profile, expect, allow_not_observed, update_expectations, junit }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Fixtures {
    /// Read fixtures and say what is wrong with them; without a path those of this program
    Check { paths: Vec<PathBuf> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Driver {
    /// The software driver
    Sim,
    /// The genuine one
    Real,
}

impl From<Driver> for offer::Driver {
    fn from(driver: Driver) -> Self {
        match driver {
            Driver::Sim => Self::Sim,
            Driver::Real => Self::Real,
        }
    }
}

/// How much of the fault sweep is run.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Width {
    /// All calls of all cases
    Every,
    /// Of the calls that a step makes again and again the first few and the last
    Edges,
    /// Those, and each operation's calls only once in each group of cases
    Sample,
}

impl From<Width> for allocert_suite::sweep::Width {
    fn from(width: Width) -> Self {
        match width {
            Width::Every => Self::Every,
            Width::Edges => Self::Edges,
            Width::Sample => Self::Sample,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// None: each case has a process of its own
    Case,
    /// Those of one group, such as emm/alloc
    Group,
    /// All cases that need the same settings of the driver share one process
    None,
}

impl From<Isolation> for allocert_harness::Isolation {
    fn from(isolation: Isolation) -> Self {
        match isolation {
            Isolation::Case => Self::Case,
            Isolation::Group => Self::Group,
            Isolation::None => Self::None,
        }
    }
}

fn from_one<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "expected a whole number from 1 on")
}

/// The program as clap describes it.
pub(crate) fn program() -> clap::Command {
    Program::command()
}

/// Reads the command line. Help and version are printed, and there is no command then.
pub(crate) fn read() -> Result<Option<Command>, Failure> {
    let error = match Program::try_parse() {
        Ok(program) => return Ok(Some(program.command)),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            terminal::print(&text)?;
            Ok(None)
        }
        _ => Err(Failure::refused(RefusalCode::CommandLine, text.trim_start_matches("error: "))),
    }
}
