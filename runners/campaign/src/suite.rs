//! The catalogue, and the cases that this program was built with or was given.

use std::path::PathBuf;

use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, Refusal, Side, fixture, run_format};

use crate::failure::Failure;
use crate::{case_filter, fixture_files};

/// The requirements, and the cases that state them.
#[derive(Debug)]
pub struct Suite {
    pub catalogue: Catalogue,
    pub cases: Vec<PlannedCase>,
    /// `(path, text)`
    files: Vec<(String, String)>,
}

impl Suite {
    /// What this program was built with.
    ///
    /// # Errors
    /// What is wrong with a file, as for all the functions that read.
    pub fn load() -> Result<Self, Failure> {
        Self::of(&Side::all().collect::<Vec<_>>())
    }

    /// What this program was built with, and the cases of these sides alone: to plan all takes
    /// longer than a native run.
    ///
    /// # Errors
    /// As [`Suite::load`].
    pub fn of(sides: &[Side]) -> Result<Self, Failure> {
        let files = allocert_fixtures::files()
            .iter()
            .map(|file| (file.path.to_owned(), file.text.to_owned()));
        let takes = |path: &str| side_of(path).is_some_and(|side| sides.contains(&side));
        Ok(Self::plan(files.collect(), takes)?)
    }

    /// The fixtures below these paths.
    ///
    /// # Errors
    /// As [`Suite::load`], or no path of them can be read.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let given = fixture_files::read(paths)?;
        let files = given.iter().map(|one| (one.place.clone(), one.text.clone())).collect();
        // A user looks for a file where it is, whatever place among the cases it has.
        Self::plan(files, |_| true).map_err(|mut refusals| {
            for refusal in &mut refusals {
                if let Some(one) = given.iter().find(|one| one.place == refusal.file) {
                    refusal.file = one.file.display().to_string();
                }
            }
            refusals.into()
        })
    }

    fn plan(
        files: Vec<(String, String)>,
        takes: impl Fn(&str) -> bool,
    ) -> Result<Self, Vec<Refusal>> {
        let catalogue = Catalogue::embedded()?;
        let taken = files.iter().filter(|(path, _)| takes(path));
        let cases =
            fixture::plan(taken.map(|(path, text)| (path.as_str(), text.as_str())), &catalogue)?;
        Ok(Self { catalogue, cases, files })
    }

    /// Whether there is anything to certify a side by, planned or not.
    pub fn certifies(&self, side: Side) -> bool {
        self.cases_of(side).next().is_some()
            || self.files.iter().any(|(path, _)| side_of(path) == Some(side))
    }

    /// How many fixture files there are.
    pub fn fixtures(&self) -> usize {
        self.files.len()
    }

    /// The cases that certify a side.
    pub fn cases_of(&self, side: Side) -> impl Iterator<Item = &PlannedCase> + Clone {
        self.cases.iter().filter(move |case| case.side == side)
    }

    /// Path and text of the fixture that states a case; `case` is its id, or the path, also without
    /// its beginning and its end: `emm/zero/twice`.
    ///
    /// # Errors
    /// There is no such case.
    pub fn fixture(&self, case: &str) -> Result<(&str, &str), Failure> {
        let path = case.strip_prefix("fixtures/").unwrap_or(case);
        let path = path.split(".yaml:").next().unwrap_or(path);
        let is_meant = |file: &str| {
            let stem = file.strip_suffix(".yaml").unwrap_or(file);
            [Some(file), Some(stem), stem.strip_prefix("cases/")].contains(&Some(path))
        };
        let found = match self.files.iter().find(|(file, _)| is_meant(file)) {
            Some(found) => Some(found),
            None => {
                let planned = case_filter::by_id(self.cases.iter(), case)?;
                self.files.iter().find(|(file, _)| *file == planned.file)
            }
        };
        let (file, text) = found.expect("each case is planned from a file");
        Ok((file, text))
    }

    /// A hash that names what a run was judged by.
    pub fn hash(&self) -> String {
        let fixtures = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let requirements =
            self.catalogue.iter().map(|one| (one.id.as_str(), one.statement.as_str()));
        let versions = self
            .catalogue
            .iter()
            .flat_map(|one| one.versions.iter().map(|name| (one.id.as_str(), name.as_str())));
        run_format::suite_hash(fixtures.chain(requirements).chain(versions))
    }
}

/// The side of a fixture that this program was built with.
fn side_of(path: &str) -> Option<Side> {
    Side::of_path(path.strip_prefix("cases/")?)
}
