//! `allocert matrix cai`: every producer with every consumer that this interpreter has.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use allocert_harness::{
    Asset, Error, Fault, Harness, Interrupt, Launch, Machine, Request, RunDir, Subject,
};
use allocert_suite::applicability::Applicability;
use allocert_suite::exit::Exit;
use allocert_suite::matrix::{self, Exchange, INTERFACE, Library, Matrix, Missing, Pattern, State};
use allocert_suite::offer::Driver;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run::{self as record, DriverInfo, Header, Judged};
use allocert_suite::{Interface, Side};

use crate::arguments::{self, Matrix as Arguments};
use crate::conclude::{self, Output};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::run::judge_all;
use crate::selection::glob;
use crate::suite::Suite;
use crate::{run, terminal};

/// The adapters that are looked for, in `allocert.adapters`. Those of mpi4py and of hosts have
/// nothing to exchange with.
const PRODUCERS: [&str; 8] =
    ["reference", "numba_cuda", "cupy", "torch", "jax", "rmm", "warp", "pycuda"];
const CONSUMERS: [&str; 9] =
    ["reference", "numba_cuda", "cuda_core", "cupy", "torch", "jax", "rmm", "warp", "pycuda"];

pub(crate) fn matrix(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.interface != Interface::Cai.name() {
        return Err(Failure::usage(format!(
            "`{}` has no matrix; cai has one",
            arguments.interface
        )));
    }
    let (patterns, suite) = (patterns(arguments.filter.as_deref())?, Suite::of(&[])?);
    let files = [&arguments.html, &arguments.markdown, &arguments.out];
    let [html, markdown, out] = files.map(|path| path.as_ref().map(Output::create).transpose());
    let (html, markdown, out) = (html?, markdown?, out?);

    let stand = Stand::new(arguments, &suite, &patterns)?;
    let (matrix, judged) = stand.all(arguments)?;
    if let Some(out) = out {
        out.write(|file| conclude::record(file, &stand.header(), &judged))?;
    }
    if let Some(html) = html {
        html.write(|mut file| file.write_all(matrix.html().as_bytes()))?;
    }
    match markdown {
        Some(markdown) => {
            markdown.write(|mut file| file.write_all(matrix.markdown().as_bytes()))?
        }
        None => terminal::print(&matrix.markdown())?,
    }
    Ok(Exit::Conforms.code().into())
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
        return Err(Failure::new(Exit::NothingRan, message));
    }
    Ok(taken)
}

/// What all pairs are run with.
struct Stand<'a> {
    suite: &'a Suite,
    patterns: &'a [Pattern],
    interpreter: PathBuf,
    machine: Machine,
    jobs: NonZeroUsize,
    interrupt: Interrupt,
}

/// One adapter that can be loaded.
#[derive(Clone)]
struct Party {
    subject: Subject,
    library: Library,
}

/// A cell and the cases that it was made from.
type Found = (Vec<Exchange>, Vec<Judged>);

impl<'a> Stand<'a> {
    fn new(
        arguments: &Arguments,
        suite: &'a Suite,
        patterns: &'a [Pattern],
    ) -> Result<Self, Failure> {
        let machine = match arguments.driver {
            arguments::Driver::Sim => Machine::simulated(),
            arguments::Driver::Real => {
                Machine::real(&run::own()?, &RunDir::create(&Asset::Driver.find()?)?)?
            }
        };
        let jobs = match machine.driver {
            Driver::Sim => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            Driver::Real => NonZeroUsize::MIN,
        };
        Ok(Self {
            suite,
            patterns,
            interpreter: run::interpreter(arguments.python.as_ref()),
            machine,
            jobs: arguments.jobs.unwrap_or(jobs),
            interrupt: run::listen()?,
        })
    }

    fn all(&self, arguments: &Arguments) -> Result<(Matrix, Vec<Judged>), Failure> {
        let mut missing = Vec::new();
        let producers =
            self.parties(Side::CaiProducer, &arguments.producers, &PRODUCERS, &mut missing)?;
        let consumers =
            self.parties(Side::CaiConsumer, &arguments.consumers, &CONSUMERS, &mut missing)?;
        if producers.is_empty() || consumers.is_empty() {
            let reasons: Vec<String> =
                missing.iter().map(|one| format!("\n  {}: {}", one.adapter, one.reason)).collect();
            let message = format!(
                "nothing to do: no adapter can be loaded on one of the sides{}",
                reasons.concat()
            );
            return Err(Failure::new(Exit::NothingRan, message));
        }
        let pairs: Vec<(&Party, &Party)> = producers
            .iter()
            .flat_map(|producer| consumers.iter().map(move |consumer| (producer, consumer)))
            .collect();
        let (cells, judged): (Vec<_>, Vec<_>) = self
            .in_turn(&pairs, |(producer, consumer)| self.pair(producer, consumer))?
            .into_iter()
            .unzip();
        let library = |party: &Party| party.library.clone();
        let matrix = Matrix {
            allocert: env!("CARGO_PKG_VERSION").to_owned(),
            driver: self.machine.driver,
            date: today(),
            pairs: cells.chunks(consumers.len()).map(<[_]>::to_vec).collect(),
            producers: producers.iter().map(library).collect(),
            consumers: consumers.iter().map(library).collect(),
            missing,
        };
        Ok((matrix, judged.concat()))
    }

    /// Loads each adapter alone. One that was named must be there; of the others it is told why
    /// they are not.
    fn parties(
        &self,
        side: Side,
        named: &[String],
        usual: &[&str],
        missing: &mut Vec<Missing>,
    ) -> Result<Vec<Party>, Failure> {
        let attribute = if side == Side::CaiProducer { "Producer" } else { "Consumer" };
        let usual = usual.iter().map(|module| format!("allocert.adapters.{module}:{attribute}"));
        let texts: Vec<String> = if named.is_empty() { usual.collect() } else { named.to_vec() };
        let loaded = self.in_turn(&texts, |text| {
            let subject = Subject::parse(text, side).map_err(Failure::usage)?;
            match Harness::load(&Arc::new(self.request(side.name(), subject.clone())?)) {
                Ok(harness) => {
                    let version =
                        harness.loaded().subject.get("version").and_then(|one| one.as_str());
                    let library =
                        Library { adapter: text.clone(), version: named_version(text, version) };
                    Ok(Ok(Party { subject, library }))
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
                Err(error) => Err(error.into()),
            }
        })?;
        let mut parties = Vec::new();
        for one in loaded {
            match one {
                Ok(party) => parties.push(party),
                Err(one) => missing.extend(one.filter(|one| !missing.contains(one))),
            }
        }
        Ok(parties)
    }

    /// Runs all cases of one pair. A pair that cannot be loaded, or that takes its worker down, is
    /// one cell like the others.
    fn pair(&self, producer: &Party, consumer: &Party) -> Result<Found, Failure> {
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
            Err(error) if error.fault() == Fault::Subject => {
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
        let sighting = harness.run(&cases, &mut ())?;
        let judged = judge_all(self.suite, &cases, vec![Applicability::Run; cases.len()], sighting);
        let exchanges = self.patterns.iter().zip(&judged).filter_map(|(pattern, judged)| {
            let observation = judged.observation.as_ref()?;
            Some(Exchange::of(pattern.name, &judged.case, observation, &judged.judgement))
        });
        Ok((exchanges.collect(), judged))
    }

    fn request(&self, interface: &str, subject: Subject) -> Result<Request, Failure> {
        let run = RunDir::create(&Asset::Driver.find()?)?;
        let launch = Launch::python(self.interpreter.clone(), &run).on(&self.machine);
        Ok(Request {
            run,
            launch,
            interface: interface.to_owned(),
            subject,
            isolation: Default::default(),
            jobs: NonZeroUsize::MIN,
            timeout_s: None,
            interrupt: self.interrupt.clone(),
        })
    }

    /// Does something with each, a few at a time; the results in their order, or the first failure.
    fn in_turn<T: Sync, R: Send>(
        &self,
        things: &[T],
        work: impl Fn(&T) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let (queue, progress) = (Mutex::new(things.iter().enumerate()), Progress::of(things.len()));
        let worker = || {
            let mut done = Vec::new();
            while let Some((place, thing)) =
                { queue.lock().unwrap_or_else(PoisonError::into_inner).next() }
            {
                done.push((place, work(thing)?));
                progress.step("");
            }
            Ok::<_, Failure>(done)
        };
        let mut done = thread::scope(|scope| {
            let workers: Vec<_> =
                (0..self.jobs.get().min(things.len())).map(|_| scope.spawn(worker)).collect();
            let results = workers
                .into_iter()
                .map(|worker| worker.join().expect("a panic ends this program at once"));
            results.collect::<Result<Vec<_>, _>>()
        })?
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
        done.sort_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    fn header(&self) -> Header {
        Header {
            format: record::FORMAT,
            allocert: env!("CARGO_PKG_VERSION").to_owned(),
            suite: self.suite.hash(),
            interface: INTERFACE.to_owned(),
            profile: None,
            subject: record::Subject {
                argument: "matrix".to_owned(),
                flavor: "python".to_owned(),
                ..Default::default()
            },
            driver: DriverInfo { kind: self.machine.driver, version: self.machine.version },
            started: None,
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

/// The day in UTC, by the proleptic Gregorian calendar (days since 1970-01-01, counted in eras of
/// 400 years from March on).
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds / 86_400)
}

fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) =
        (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::date;
    use rstest::rstest;

    #[rstest]
    #[case(0, "1970-01-01")]
    #[case(59, "1970-03-01")]
    #[case(11_016, "2000-02-29")]
    #[case(20_453, "2025-12-31")]
    #[case(47_540, "2100-02-28")]
    #[case(47_541, "2100-03-01")]
    fn days_have_dates(#[case] days: u64, #[case] text: &str) {
        assert_eq!(date(days), text);
    }
}
