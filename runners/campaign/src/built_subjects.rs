//! Runs the subjects of a registry, mutants or variants: those of one file go one after the other
//! through one worker.

use std::cmp::Reverse;
use std::env;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use allocert_harness::{
    AloneLock, Artifact, AtFault, Error, Harness, Machine, Progress, Request, Subject, parallel,
};
use allocert_requirements::{BuiltSubject, Catalogue, Flavor};
use allocert_suite::{RefusalCode, Side};

use crate::case_filter::glob;
use crate::failure::Failure;
use crate::find_side;
use crate::suite::Suite;
use crate::workers::Workers;

/// How many subjects one worker loads, one after the other: more would leave one worker at work at
/// the end while the other cores are idle, fewer would import Python and numba-cuda more often.
const LARGEST_GROUP: usize = 16;
/// Importing numba-cuda on a machine that is busy with other subjects.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// The name of a folder in that of the run, and the Python files that are written into it.
pub(crate) type PythonFolder = (&'static str, &'static [(&'static str, &'static str)]);

/// Which subjects of a registry a user wants run.
#[derive(Debug, Clone, Default)]
pub struct SubjectOptions {
    /// The name of the side; without it all that there are cases for.
    pub side: Option<String>,
    /// A glob over the names of the subjects.
    pub filter: Option<String>,
    pub flavor: Option<Flavor>,
    /// Subjects side by side.
    pub jobs: Option<NonZeroUsize>,
}

/// The subjects of a registry that a user wants run, and the suite that they are run with.
#[derive(Debug)]
pub(crate) struct Selection<S> {
    pub(crate) suite: Suite,
    pub(crate) sides: Vec<Side>,
    pub(crate) subjects: Vec<S>,
    /// Whether these are all subjects of the sides.
    pub(crate) whole: bool,
}

impl<S: BuiltSubject> Selection<S> {
    /// # Errors
    /// What is wrong with the options, or that no subject is wanted.
    pub(crate) fn new(options: &SubjectOptions, mut subjects: Vec<S>) -> Result<Self, Failure> {
        let suite = Suite::load()?;
        let sides = match options.side.as_deref() {
            Some(name) => vec![find_side::side(name, &suite)?],
            None => Side::all().filter(|side| suite.certifies(*side)).collect(),
        };
        let filter = options.filter.as_deref();
        let glob = filter.map(glob).transpose()?;
        subjects.retain(|subject| {
            let named = glob.as_ref().is_none_or(|glob| glob.is_match(subject.name()));
            let sided = subject.side(&suite.catalogue).is_some_and(|side| sides.contains(&side));
            named && sided && options.flavor.is_none_or(|flavor| flavor == subject.flavor())
        });
        if subjects.is_empty() {
            let (noun, filter) = (S::NOUN, filter.unwrap_or("*"));
            let message = format!("nothing to do: no {noun} matches `{filter}`");
            return Err(Failure::nothing_ran(message));
        }
        let whole = filter.is_none() && options.flavor.is_none();
        Ok(Self { suite, sides, subjects, whole })
    }
}

/// How the subjects of a registry are run.
#[derive(Debug)]
pub(crate) struct SubjectRuns {
    /// The library of the native subjects.
    pub(crate) library: Artifact,
    /// What goes to the head of the module path for Python subjects.
    pub(crate) python: &'static [PythonFolder],
    /// The limit of each case, instead of its own.
    pub(crate) timeout_s: Option<u32>,
    /// Subjects side by side.
    pub(crate) jobs: NonZeroUsize,
    alone: AloneLock,
}

impl SubjectRuns {
    pub(crate) fn new(
        library: Artifact,
        python: &'static [PythonFolder],
        timeout_s: Option<u32>,
        jobs: Option<NonZeroUsize>,
    ) -> Self {
        let jobs = jobs.unwrap_or_else(parallel::cores);
        Self { library, python, timeout_s, jobs, alone: AloneLock::default() }
    }

    /// Loads each subject and hands it to `run_one`; the results in the order of the subjects.
    ///
    /// # Errors
    /// A subject cannot be loaded, or an error of `run_one`.
    pub(crate) fn run<'a, S, R>(
        &self,
        selection: &'a Selection<S>,
        workers: &Workers,
        progress: &mut dyn Progress,
        run_one: impl Fn(&'a S, Side, &mut Harness) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure>
    where
        S: BuiltSubject + Sync,
        R: Send,
    {
        let catalogue = &selection.suite.catalogue;
        let subjects = selection.subjects.iter();
        let subjects: Vec<(&S, Side)> =
            subjects.filter_map(|subject| Some((subject, subject.side(catalogue)?))).collect();
        let groups = groups(&subjects);
        progress.expect(subjects.len() as u64);
        let run = |group: &Group<'a, S>| self.run_group(group, catalogue, workers, &run_one);
        let done = |place: usize| {
            let last = groups[place].last().map_or("", |(_, subject, _)| subject.name());
            progress.advance(groups[place].len() as u64, last);
        };
        let mut results: Vec<(usize, R)> =
            parallel::map(&groups, self.jobs, run, done)?.into_iter().flatten().collect();
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    fn run_group<'a, S: BuiltSubject, R>(
        &self,
        group: &Group<'a, S>,
        catalogue: &Catalogue,
        workers: &Workers,
        run_one: &impl Fn(&'a S, Side, &mut Harness) -> Result<R, Failure>,
    ) -> Result<Vec<(usize, R)>, Failure> {
        let mut harness: Option<Harness> = None;
        let mut results = Vec::new();
        for &(place, built, side) in group {
            let subject = self.subject(built, side)?;
            let loaded = match harness.take() {
                Some(mut harness) => harness.load_other(subject).map(|()| harness),
                None => {
                    let mut request = self.request(workers, built.flavor(), side, subject)?;
                    let profile = built.profile().and_then(|name| catalogue.profile(name));
                    if let Some(text) = profile.filter(|profile| profile.is_text()) {
                        request.launch.be_true_to(&text.name);
                    }
                    Harness::load(&Arc::new(request))
                }
            };
            let mut loaded = loaded.map_err(|error| unloadable(built, error))?;
            results.push((place, run_one(built, side, &mut loaded)?));
            harness = Some(loaded);
        }
        Ok(results)
    }

    fn subject(&self, built: &impl BuiltSubject, side: Side) -> Result<Subject, Failure> {
        match built.flavor() {
            Flavor::Native => {
                let path = self.library.find()?;
                Ok(match built.subject().parse() {
                    Ok(names) => Subject::Functions { path: Some(path), names },
                    Err(_) => Subject::Library { path, symbol: Some(built.subject().to_owned()) },
                })
            }
            Flavor::Python => Subject::parse(built.subject(), side).map_err(Failure::from),
        }
    }

    fn request(
        &self,
        workers: &Workers,
        flavor: Flavor,
        side: Side,
        subject: Subject,
    ) -> Result<Request, Error> {
        let mut request = workers.request(&Machine::simulated(), side.name(), subject)?;
        if flavor == Flavor::Python {
            let path = self.python_path(&mut request)?;
            request.launch.environment.push(("PYTHONPATH".into(), path));
        }
        request.launch.load_timeout = LOAD_TIMEOUT;
        request.timeout_s = self.timeout_s;
        request.alone = (self.jobs.get() > 1).then(|| self.alone.clone());
        Ok(request)
    }

    /// The folders of the subjects, and what the user's variable names.
    fn python_path(&self, request: &mut Request) -> Result<OsString, Error> {
        let mut path = OsString::new();
        for (name, files) in self.python {
            if !path.is_empty() {
                path.push(":");
            }
            path.push(request.run.write(name, files)?);
        }
        if let Some(users) = env::var_os("PYTHONPATH").filter(|path| !path.is_empty()) {
            path.push(":");
            path.push(users);
        }
        Ok(path)
    }
}

/// Subjects that go through one worker, each with its place in the whole list.
type Group<'a, S> = Vec<(usize, &'a S, Side)>;

/// Puts subjects of one side and one file together.
fn groups<'a, S: BuiltSubject>(subjects: &[(&'a S, Side)]) -> Vec<Group<'a, S>> {
    let mut groups: Vec<Group<'a, S>> = Vec::new();
    for (place, &(subject, side)) in subjects.iter().enumerate() {
        let takes_it = |group: &&mut Group<'a, S>| {
            let (_, first, its_side) = group[0];
            let full = group.len() >= LARGEST_GROUP;
            let alike = first.flavor() == subject.flavor() && its_side == side;
            // A worker has one host, which may be true to a text.
            let alike = alike && first.profile() == subject.profile();
            !full && alike && first.module() == subject.module()
        };
        match groups.iter_mut().find(takes_it) {
            Some(group) => group.push((place, subject, side)),
            None => groups.push(vec![(place, subject, side)]),
        }
    }
    // The slowest first, so that nobody waits for them at the end.
    groups.sort_by_key(|group| Reverse((group[0].1.flavor(), group.len())));
    groups
}

/// A Python subject needs what its host is made of, which this program does not bring along.
fn unloadable<S: BuiltSubject>(subject: &S, error: Error) -> Failure {
    match (subject.flavor(), error.at_fault()) {
        (Flavor::Python, AtFault::Request(_)) => Failure::refused(
            RefusalCode::MissingHost,
            format!(
                "{error}\n  the Python {noun}s take an interpreter with numba-cuda: name it with \
                 --python, or leave them out with --flavor native",
                noun = S::NOUN,
            ),
        ),
        _ => error.into(),
    }
}
