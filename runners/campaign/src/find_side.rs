//! The side or the sides that a word of the user names.

use allocert_suite::{Interface, RefusalCode, Side};

use crate::failure::Failure;
use crate::suite::Suite;

/// The side that `word` names.
///
/// # Errors
/// No side is called so.
pub fn named(word: &str) -> Result<Side, Failure> {
    let known: Vec<&str> = Side::all().map(Side::name).collect();
    Side::by_name(word).ok_or_else(|| unknown("side", word, &known))
}

/// The side that `word` names, if there are cases for it.
///
/// # Errors
/// No side is called so, or it has no cases.
pub fn side(word: &str, suite: &Suite) -> Result<Side, Failure> {
    let side = named(word)?;
    if suite.certifies(side) {
        return Ok(side);
    }
    let there: Vec<&str> =
        Side::all().filter(|side| suite.certifies(*side)).map(Side::name).collect();
    let message = format!(
        "the side {word} has no cases yet, so nothing could be certified; there {} {}",
        if there.len() == 1 { "is" } else { "are" },
        there.join(", ")
    );
    Err(Failure::refused(RefusalCode::NoCases, message))
}

/// The sides that `word` names: all of an interface, or one.
///
/// # Errors
/// No interface and no side is called so.
pub fn sides(word: &str) -> Result<Vec<Side>, Failure> {
    if let Some(interface) = Interface::all().find(|interface| interface.name() == word) {
        return Ok(interface.sides().collect());
    }
    let sides = Side::all().map(Side::name);
    let sides = sides.filter(|side| Interface::all().all(|one| one.name() != *side));
    let known: Vec<&str> = Interface::all().map(Interface::name).chain(sides).collect();
    Side::by_name(word)
        .map(|side| vec![side])
        .ok_or_else(|| unknown("interface or side", word, &known))
}

fn unknown(noun: &str, word: &str, known: &[&str]) -> Failure {
    Failure::refused(
        RefusalCode::UnknownInterface,
        format!("there is no {noun} `{word}`; there are {}", known.join(", ")),
    )
}
