//! The catalogue and the cases that this program was built with.

use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, Side, fixture, run};

use crate::failure::Failure;

#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) catalogue: Catalogue,
    pub(crate) cases: Vec<PlannedCase>,
}

impl Suite {
    pub(crate) fn load() -> Result<Self, Failure> {
        let catalogue = Catalogue::embedded()?;
        let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
        let cases = fixture::plan(files, &catalogue)?;
        Ok(Self { catalogue, cases })
    }

    pub(crate) fn cases_of(&self, side: Side) -> impl Iterator<Item = &PlannedCase> {
        self.cases.iter().filter(move |case| case.side() == side)
    }

    /// Names what a run was judged by.
    pub(crate) fn hash(&self) -> String {
        let fixtures = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
        let requirements = self.catalogue.iter().map(|one| (one.id.as_str(), one.statement.as_str()));
        let versions =
            self.catalogue.iter().flat_map(|one| one.versions.iter().map(|name| (one.id.as_str(), name.as_str())));
        run::suite_hash(fixtures.chain(requirements).chain(versions))
    }
}
