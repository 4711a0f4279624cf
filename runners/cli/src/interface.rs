//! The interfaces a user may name, and what there is for each.

use allocert_suite::Interface;

use crate::failure::Failure;

/// Of the command-line contract; a role of an interface is a word of its own.
const KNOWN: [&str; 7] = ["emm", "emm-host", "cai-producer", "cai-consumer", "nep49", "nep49-host", "place"];

/// The interface that `word` names.
pub(crate) fn parse(word: &str) -> Result<Interface, Failure> {
    if word == Interface::Emm.name() {
        return Ok(Interface::Emm);
    }
    if KNOWN.contains(&word) {
        let message = format!("the interface {word} has no cases yet, so nothing could be certified; there is emm");
        return Err(Failure::usage(message));
    }
    Err(Failure::usage(format!("there is no interface `{word}`; there are {}", KNOWN.join(", "))))
}
