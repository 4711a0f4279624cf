//! `allocert mutants [SIDE]`: the suite on subjects that are built to break requirements.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread;

use allocert_requirements::{Flavor, Mutant, mutant};
use allocert_suite::Side;
use allocert_suite::exit::Exit;
use allocert_suite::report::kills::{self, Matrix};

use crate::arguments::Mutants;
use crate::failure::Failure;
use crate::hunt::Hunt;
use crate::selection::glob;
use crate::suite::Suite;
use crate::{interface, run, terminal};

/// No profile is in force: a mutant breaks what one text or another demands.
pub(crate) fn mutants(arguments: &Mutants) -> Result<ExitCode, Failure> {
    let suite = Suite::load()?;
    let sides = sides(arguments.interface.as_deref(), &suite)?;
    let registry = mutant::embedded().map_err(Failure::usage)?;
    let selected = select(arguments, &suite, &sides, &registry)?;
    let hunt = Hunt {
        suite: &suite,
        interpreter: run::interpreter(arguments.python.as_ref()),
        jobs: arguments
            .jobs
            .unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        interrupt: run::listen()?,
    };
    let kills = hunt.all(&selected)?;
    let whole = arguments.filter.is_none() && arguments.flavor.is_none();
    let matrix = Matrix { catalogue: &suite.catalogue, sides: &sides, kills: &kills, whole };
    terminal::print(&kills::render(&matrix))?;
    let exit = if matrix.holds() { Exit::Conforms } else { Exit::Violations };
    Ok(exit.code().into())
}

/// The side that is meant, or all that there are cases for.
fn sides(word: Option<&str>, suite: &Suite) -> Result<Vec<Side>, Failure> {
    match word {
        Some(word) => Ok(vec![interface::side(word, suite)?]),
        None => Ok(Side::all().filter(|side| suite.certifies(*side)).collect()),
    }
}

fn select<'m>(
    arguments: &Mutants,
    suite: &Suite,
    sides: &[Side],
    registry: &'m [Mutant],
) -> Result<Vec<&'m Mutant>, Failure> {
    let filter = arguments.filter.as_deref();
    let glob = filter.map(glob).transpose()?;
    let flavor = arguments.flavor.map(Flavor::from);
    let takes = |mutant: &&Mutant| {
        let named = glob.as_ref().is_none_or(|glob| glob.is_match(&mutant.name));
        let mine = mutant.side(&suite.catalogue).is_some_and(|side| sides.contains(&side));
        named && mine && flavor.is_none_or(|flavor| flavor == mutant.flavor)
    };
    let selected: Vec<&Mutant> = registry.iter().filter(takes).collect();
    if selected.is_empty() {
        let message = format!("nothing to do: no mutant matches `{}`", filter.unwrap_or("*"));
        return Err(Failure::new(Exit::NothingRan, message));
    }
    Ok(selected)
}
