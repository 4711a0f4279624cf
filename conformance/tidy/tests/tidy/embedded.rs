//! The catalogue and the cases of the fixtures, as the program has them.

use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, fixture};

pub(crate) fn catalogue() -> Catalogue {
    Catalogue::embedded()
        .unwrap_or_else(|refusals| panic!("the catalogue is refused: {refusals:#?}"))
}

pub(crate) fn cases(catalogue: &Catalogue) -> Vec<PlannedCase> {
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    fixture::plan(files, catalogue)
        .unwrap_or_else(|refusals| panic!("fixtures are refused: {refusals:#?}"))
}
