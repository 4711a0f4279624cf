//! The words by which a user names an interface or one side of it, and what there is for each.

use allocert_suite::{Interface, Side};

use crate::failure::Failure;
use crate::suite::Suite;

/// The side that `word` names.
pub(crate) fn named(word: &str) -> Result<Side, Failure> {
    Side::by_name(word)
        .ok_or_else(|| unknown(word, &Side::all().map(Side::name).collect::<Vec<_>>()))
}

/// The side that `word` names, if there is something to certify it by.
pub(crate) fn side(word: &str, suite: &Suite) -> Result<Side, Failure> {
    let side = named(word)?;
    if suite.certifies(side) {
        return Ok(side);
    }
    let there: Vec<&str> =
        Side::all().filter(|side| suite.certifies(*side)).map(Side::name).collect();
    let message = format!(
        "the interface {word} has no cases yet, so nothing could be certified; there {} {}",
        if there.len() == 1 { "is" } else { "are" },
        there.join(", ")
    );
    Err(Failure::usage(message))
}

/// The sides that `word` names: all of an interface, or one.
pub(crate) fn sides(word: &str) -> Result<Vec<Side>, Failure> {
    if let Some(interface) = Interface::all().find(|interface| interface.name() == word) {
        return Ok(interface.sides().collect());
    }
    let side = Side::by_name(word);
    side.map(|side| vec![side]).ok_or_else(|| {
        unknown(
            word,
            &[
                "emm",
                "cai",
                "nep49",
                "place",
                "emm-host",
                "cai-producer",
                "cai-consumer",
                "nep49-host",
            ],
        )
    })
}

fn unknown(word: &str, known: &[&str]) -> Failure {
    Failure::usage(format!("there is no interface `{word}`; there are {}", known.join(", ")))
}
