//! The catalogue, and the cases that this program was built with or was given.

use std::path::PathBuf;

use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, Side, fixture, run};

use crate::failure::Failure;
use crate::fixtures;

#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) catalogue: Catalogue,
    pub(crate) cases: Vec<PlannedCase>,
    /// `(path, text)`
    files: Vec<(String, String)>,
}

impl Suite {
    /// What this program was built with.
    pub(crate) fn load() -> Result<Self, Failure> {
        Self::plan(allocert_fixtures::files().iter().map(|file| (file.path.to_owned(), file.text.to_owned())).collect())
    }

    /// The fixtures below these paths.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        Self::plan(fixtures::read(paths)?)
    }

    fn plan(files: Vec<(String, String)>) -> Result<Self, Failure> {
        let catalogue = Catalogue::embedded()?;
        let cases = fixture::plan(files.iter().map(|(path, text)| (path.as_str(), text.as_str())), &catalogue)?;
        Ok(Self { catalogue, cases, files })
    }

    pub(crate) fn fixtures(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn cases_of(&self, side: Side) -> impl Iterator<Item = &PlannedCase> {
        self.cases.iter().filter(move |case| case.side() == side)
    }

    /// Names what a run was judged by.
    pub(crate) fn hash(&self) -> String {
        let fixtures = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let requirements = self.catalogue.iter().map(|one| (one.id.as_str(), one.statement.as_str()));
        let versions =
            self.catalogue.iter().flat_map(|one| one.versions.iter().map(|name| (one.id.as_str(), name.as_str())));
        run::suite_hash(fixtures.chain(requirements).chain(versions))
    }
}
