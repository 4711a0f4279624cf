//! The matrix of libraries: every producer of arrays with every consumer that an interpreter has.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use allocert_harness::{
    AloneLock, AtFault, Error, Harness, Machine, Progress, Request, RunOutput, Subject, parallel,
};
use allocert_suite::applicability::Applicability;
use allocert_suite::matrix::{self, Exchange, INTERFACE, Library, Matrix, Missing, Pattern, State};
use allocert_suite::offer::Driver;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::{self, Header, Judged};
use allocert_suite::{Interface, RefusalCode, Side};

use crate::case_filter::glob;
use crate::clock;
use crate::failure::Failure;
use crate::judging::judge_all;
use crate::output_file::{OutputFile, refuse_one_file_twice, refuse_to_overwrite};
use crate::run::driver_info;
use crate::run_file::{self, Contents};
use crate::suite::Suite;
use crate::verdict_reports::{self, VerdictOptions, Verdicts};
use crate::workers::{Workers, default_jobs};

/// The adapters that are looked for, in `allocert.adapters`. Those of mpi4py and of hosts have
/// nothing to exchange with.
const PRODUCERS: [&str; 8] =
    ["reference", "numba_cuda", "cupy", "torch", "jax", "rmm", "warp", "pycuda"];
const CONSUMERS: [&str; 9] =
    ["reference", "numba_cuda", "cuda_core", "cupy", "torch", "jax", "rmm", "warp", "pycuda"];

/// What a user wants in the matrix.
#[derive(Debug, Clone)]
pub struct MatrixOptions {
    /// The name of the interface.
    pub interface: String,
    /// Adapters of producers; without one all that come with this program and can be imported.
    pub producers: Vec<String>,
    pub consumers: Vec<String>,
    pub driver: Driver,
    /// A glob over the names of the cases.
    pub filter: Option<String>,
    /// Pairs side by side.
    pub jobs: Option<NonZeroUsize>,
    /// Where the page for a browser goes.
    pub html: Option<PathBuf>,
    /// Where the Markdown goes.
    pub markdown: Option<PathBuf>,
    /// Where the run file goes.
    pub out: Option<PathBuf>,
    /// The expectation file.
    pub expect: Option<PathBuf>,
}

/// The matrix, and the verdicts of its cases if there is an expectation file.
#[derive(Debug)]
pub struct Filled {
    pub matrix: Matrix,
    pub verdicts: Option<Verdicts>,
    /// Why a file that the user named was not written.
    pub unwritten: Option<Failure>,
}

/// Fills the matrix and writes the files that are wanted.
///
/// # Errors
/// What is wrong with the options, or what kept the harness from its work. A library that cannot be
/// loaded is no error, unless it was named.
pub fn run(
    options: &MatrixOptions,
    workers: &Workers,
    progress: &mut dyn Progress,
) -> Result<Filled, Failure> {
    if options.interface != Interface::Cai.name() {
        return Err(Failure::refused(
            RefusalCode::UnknownInterface,
            format!("`{}` has no matrix; cai has one", options.interface),
        ));
    }
    let (patterns, suite) = (patterns(options.filter.as_deref())?, Suite::of(&[])?);
    if let Some(path) = &options.expect {
        verdict_reports::check_expectations(&suite.catalogue, MATRIX, path)?;
    }
    options.out.as_deref().map(run_file::check_name).transpose()?;
    let files = [&options.html, &options.markdown, &options.out];
    let [html, markdown, out] =
        files.map(|path| path.as_deref().map(OutputFile::create).transpose());
    let (html, markdown, out) = (html?, markdown?, out?);
    let outputs: Vec<PathBuf> = files.into_iter().flatten().cloned().collect();
    refuse_one_file_twice(outputs.iter().map(PathBuf::as_path))?;

    let machine = workers.machine(options.driver)?;
    let jobs = options.jobs.unwrap_or_else(|| default_jobs(&machine));
    let filler = Filler {
        suite: &suite,
        patterns: &patterns,
        workers,
        machine,
        jobs,
        outputs,
        alone: AloneLock::default(),
    };
    let (matrix, cases) = filler.fill(options, progress)?;
    let html = html.map(|html| html.write_text(&matrix.html()));
    let markdown = markdown.map(|markdown| markdown.write_text(&matrix.markdown()));
    let (header, expect) = (filler.header(), options.expect.clone());
    let catalogue = suite.catalogue;
    let mut verdicts = Verdicts::of_whole_run(header, cases, catalogue);
    if expect.is_some() {
        verdicts.expect(&VerdictOptions { expect: expect.clone(), ..Default::default() })?;
    }
    let contents =
        Contents { header: &verdicts.header, judged: &verdicts.cases, spool: None, repeats: None };
    let out = out.map(|out| out.write_run(&contents));
    let unwritten = [html, markdown, out].into_iter().flatten().find_map(Result::err);
    Ok(Filled { matrix, verdicts: expect.map(|_| verdicts), unwritten })
}

fn patterns(filter: Option<&str>) -> Result<Vec<Pattern>, Failure> {
    let glob = filter.map(glob).transpose()?;
    let takes = |pattern: &Pattern| glob.as_ref().is_none_or(|glob| glob.is_match(pattern.name));
    let (all, names): (Vec<Pattern>, Vec<&str>) =
        matrix::patterns().into_iter().map(|one| (one.clone(), one.name)).unzip();
    let taken: Vec<Pattern> = all.into_iter().filter(takes).collect();
    if taken.is_empty() {
        let message = format!(
            "nothing to do: no case matches `{}`; there are {}",
            filter.unwrap_or("*"),
            names.join(", ")
        );
        return Err(Failure::nothing_ran(message));
    }
    Ok(taken)
}

/// What an expectation file names as its subject.
const MATRIX: &str = "matrix";

/// What all pairs are run with.
struct Filler<'a> {
    suite: &'a Suite,
    patterns: &'a [Pattern],
    workers: &'a Workers,
    machine: Machine,
    jobs: NonZeroUsize,
    /// The files that are written at the end.
    outputs: Vec<PathBuf>,
    alone: AloneLock,
}

/// One library by its adapter, which can be loaded.
#[derive(Clone)]
struct LoadedLibrary {
    subject: Subject,
    library: Library,
}

/// A cell and the cases that it was made from.
type Cell = (Vec<Exchange>, Vec<Judged>);

impl Filler<'_> {
    fn fill(
        &self,
        options: &MatrixOptions,
        progress: &mut dyn Progress,
    ) -> Result<(Matrix, Vec<Judged>), Failure> {
        let mut missing = Vec::new();
        let (named, usual) = (&options.producers, &PRODUCERS);
        let producers = self.load(Side::CaiProducer, named, usual, &mut missing, progress)?;
        let (named, usual) = (&options.consumers, &CONSUMERS);
        let consumers = self.load(Side::CaiConsumer, named, usual, &mut missing, progress)?;
        if producers.is_empty() || consumers.is_empty() {
            let reasons: Vec<String> =
                missing.iter().map(|one| format!("\n  {}: {}", one.adapter, one.reason)).collect();
            let message = format!(
                "nothing to do: no adapter can be loaded on one of the sides{}",
                reasons.concat()
            );
            return Err(Failure::nothing_ran(message));
        }
        let pairs: Vec<(&LoadedLibrary, &LoadedLibrary)> = producers
            .iter()
            .flat_map(|producer| consumers.iter().map(move |consumer| (producer, consumer)))
            .collect();
        progress.expect(pairs.len() as u64);
        let cells = parallel::map(
            &pairs,
            self.jobs,
            |(producer, consumer)| self.exchange(producer, consumer),
            |_| progress.advance(1, ""),
        )?;
        let (cells, judged): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
        let library = |loaded: &LoadedLibrary| loaded.library.clone();
        let matrix = Matrix {
            allocert: env!("CARGO_PKG_VERSION").to_owned(),
            driver: self.machine.driver,
            date: clock::today().to_string(),
            pairs: cells.chunks(consumers.len()).map(<[_]>::to_vec).collect(),
            producers: producers.iter().map(library).collect(),
            consumers: consumers.iter().map(library).collect(),
            missing,
        };
        Ok((matrix, judged.concat()))
    }

    /// Loads each adapter alone. One that was named must be there; of the others `missing` has the
    /// reasons why they are not.
    fn load(
        &self,
        side: Side,
        named: &[String],
        usual: &[&str],
        missing: &mut Vec<Missing>,
        progress: &mut dyn Progress,
    ) -> Result<Vec<LoadedLibrary>, Failure> {
        let attribute = if side == Side::CaiProducer { "Producer" } else { "Consumer" };
        let usual = usual.iter().map(|module| format!("allocert.adapters.{module}:{attribute}"));
        let texts: Vec<String> = if named.is_empty() { usual.collect() } else { named.to_vec() };
        progress.expect(texts.len() as u64);
        let load = |text: &String| {
            let subject = Subject::parse(text, side).map_err(Failure::from)?;
            match Harness::load(&Arc::new(self.request(side.name(), subject.clone())?)) {
                Ok(harness) => {
                    let mut outputs = self.outputs.iter();
                    outputs.try_for_each(|output| {
                        refuse_to_overwrite(output, harness.loaded().subject.get("file"))
                    })?;
                    let version =
                        harness.loaded().subject.get("version").and_then(|one| one.as_str());
                    let library =
                        Library { adapter: text.clone(), version: named_version(text, version) };
                    Ok(Ok(LoadedLibrary { subject, library }))
                }
                // A library with one side alone is not missing on the other.
                Err(Error::Refused { stage, .. }) if named.is_empty() && stage == "attribute" => {
                    Ok(Err(None))
                }
                Err(error @ (Error::Refused { .. } | Error::Unloadable { .. }))
                    if named.is_empty() =>
                {
                    let adapter = text.split(':').next().unwrap_or(text).to_owned();
                    Ok(Err(Some(Missing { adapter, reason: reason(error) })))
                }
                Err(error) => Err(Failure::from(error)),
            }
        };
        let mut libraries = Vec::new();
        for one in parallel::map(&texts, self.jobs, load, |_| progress.advance(1, ""))? {
            match one {
                Ok(library) => libraries.push(library),
                Err(one) => missing.extend(one.filter(|one| !missing.contains(one))),
            }
        }
        Ok(libraries)
    }

    /// Runs all cases of one pair. A pair that cannot be loaded, or that takes its worker down, is
    /// one cell like the others.
    fn exchange(
        &self,
        producer: &LoadedLibrary,
        consumer: &LoadedLibrary,
    ) -> Result<Cell, Failure> {
        let subject = Subject::pair(producer.subject.clone(), consumer.subject.clone());
        let name = subject.to_string();
        let mut harness = match Harness::load(&Arc::new(self.request(INTERFACE, subject)?)) {
            Ok(harness) => harness,
            Err(Error::Unloadable { how, .. }) => {
                return Ok((
                    vec![Exchange::broken(State::Crashes, format!("the worker {how}"))],
                    Vec::new(),
                ));
            }
            Err(error) if matches!(error.at_fault(), AtFault::Request(_)) => {
                return Ok((vec![Exchange::broken(State::Unseen, reason(error))], Vec::new()));
            }
            Err(error) => return Err(error.into()),
        };
        let cases: Vec<PlannedCase> = self
            .patterns
            .iter()
            .map(|pattern| pattern.plan(&self.suite.catalogue, &name))
            .collect();
        let cases: Vec<&PlannedCase> = cases.iter().collect();
        let RunOutput { observations, .. } = harness.run(&cases, &mut ())?;
        let decisions = vec![Applicability::Run; cases.len()];
        let judged = judge_all(&self.suite.catalogue, &cases, decisions, observations);
        let exchanges = self.patterns.iter().zip(&judged).filter_map(|(pattern, judged)| {
            let observation = judged.observation.as_ref()?;
            Some(Exchange::of(pattern.name, &judged.case, observation, &judged.judgement))
        });
        Ok((exchanges.collect(), judged))
    }

    fn request(&self, interface: &str, subject: Subject) -> Result<Request, Error> {
        let mut request = self.workers.request(&self.machine, interface, subject)?;
        request.alone = (self.jobs.get() > 1).then(|| self.alone.clone());
        Ok(request)
    }

    fn header(&self) -> Header {
        Header {
            format: run_format::FORMAT,
            allocert: env!("CARGO_PKG_VERSION").to_owned(),
            suite: self.suite.hash(),
            interface: INTERFACE.to_owned(),
            profile: None,
            subject: run_format::Subject {
                argument: MATRIX.to_owned(),
                flavor: "python".to_owned(),
                ..Default::default()
            },
            subject_file: None,
            driver: driver_info(&self.machine),
            started_unix_ms: clock::unix_time_ms(),
            selection: None,
        }
    }
}

/// With the name of the library, or of the adapter where it names none.
fn named_version(adapter: &str, version: Option<&str>) -> String {
    match version {
        Some(version) if version.contains(' ') => version.to_owned(),
        Some(version) => format!("{} {version}", adapter.split(':').next().unwrap_or(adapter)),
        None => String::new(),
    }
}

/// The message without the trace of an import.
fn reason(error: Error) -> String {
    match error {
        Error::Refused { message, .. } => message,
        other => other.to_string(),
    }
}
