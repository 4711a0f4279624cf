//! The profile that a user names, or that holds where nobody names one.

use allocert_requirements::Profile;
use allocert_requirements::nearest::nearest;
use allocert_suite::interface::place::Abi;
use allocert_suite::{Catalogue, Interface, RefusalCode, Side};

use crate::failure::Failure;

/// The profile of an interface by its name, or its default; nothing for an interface of one text.
///
/// # Errors
/// The interface has no such profile.
pub fn of(
    catalogue: &Catalogue,
    interface: Interface,
    name: Option<&str>,
) -> Result<Option<Profile>, Failure> {
    let Some(name) = name else { return Ok(catalogue.default_profile(interface).cloned()) };
    let found = catalogue.profiles(interface).find(|profile| profile.name == name);
    let unknown = || {
        unknown(
            &format!("{} has no profile `{name}`", interface.name()),
            name,
            catalogue.profiles(interface),
        )
    };
    found.cloned().map(Some).ok_or_else(unknown)
}

/// As [`of`], for one subject: each ABI has a profile of its own, which a table does not have.
///
/// # Errors
/// As [`of`], or the profile is not that of the subject's ABI.
pub fn of_subject(
    catalogue: &Catalogue,
    side: Side,
    name: Option<&str>,
    abi: Option<Abi>,
) -> Result<Option<Profile>, Failure> {
    let conflict = |message| Failure::refused(RefusalCode::OptionConflict, message);
    match (abi.map(|abi| abi.to_string()), name) {
        (None, Some(name)) if side == Side::Place && Abi::names().contains(&name) => Err(conflict(
            format!("the profile {name} is for allocators that have no table: add --abi {name}"),
        )),
        (Some(abi), Some(name)) if abi != name => Err(conflict(format!(
            "--abi {abi} is judged by the profile {abi}, so --profile {name} does not apply"
        ))),
        (Some(abi), _) => of(catalogue, side.interface(), Some(&abi)),
        (None, _) => of(catalogue, side.interface(), name),
    }
}

/// The profile of whichever interface.
///
/// # Errors
/// No interface has such a profile.
pub fn by_name(catalogue: &Catalogue, name: &str) -> Result<Profile, Failure> {
    let all = Interface::all().flat_map(|interface| catalogue.profiles(interface));
    catalogue
        .profile(name)
        .cloned()
        .ok_or_else(|| unknown(&format!("there is no profile `{name}`"), name, all))
}

fn unknown<'c>(what: &str, name: &str, known: impl Iterator<Item = &'c Profile>) -> Failure {
    let known: Vec<&str> = known.map(|profile| profile.name.as_str()).collect();
    if known.is_empty() {
        return Failure::refused(
            RefusalCode::UnknownProfile,
            format!("{what}, nor any other: its texts agree"),
        );
    }
    let near = nearest(name, known.iter().copied())
        .map(|near| format!(", did you mean {near}?"))
        .unwrap_or_default();
    Failure::refused(
        RefusalCode::UnknownProfile,
        format!("{what}{near}\n  there are {}", known.join(", ")),
    )
}
