//! Profiles: which text applies to a subject if the texts of one interface disagree, and the points
//! on which they disagree.

use serde::Deserialize;

use crate::requirement::Requirement;
use crate::side::Interface;
use crate::yaml::{Document, Spanned};

/// The name of the file, in the folder of each interface, that lists its profiles.
const FILE: &str = "profiles.yaml";

/// `(word at fault, message)` of an entry that contradicts the catalogue.
pub(crate) type Fault = (String, String);

/// One reading of an interface. It contains the requirements whose `versions` name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub interface: Interface,
    /// `nbep7`, as requirements and the command line name it.
    pub name: String,
    pub kind: Kind,
    /// Whether it applies if the user chooses none.
    pub default: bool,
    pub about: String,
}

/// A text that holds besides whichever profile is in force, for the subjects that implement it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub interface: Interface,
    /// As the `versions` of its requirements name it.
    pub name: String,
    pub about: String,
}

impl Contract {
    /// Whether it states this requirement.
    #[must_use]
    pub fn states(&self, requirement: &Requirement) -> bool {
        Interface::of_id(&requirement.id) == Some(self.interface)
            && requirement.versions.contains(&self.name)
    }
}

/// What a profile takes its word from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Text,
    /// A host's behaviour, on top of the text that it comes with.
    Host,
}

impl Kind {
    /// How it makes its point: a text says, a host does.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Text => "says",
            Self::Host => "does",
        }
    }
}

impl Profile {
    /// Whether it is a text, and no host.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.kind == Kind::Text
    }

    /// Whether the profile contains a requirement. It leaves out no requirement of another
    /// interface.
    #[must_use]
    pub fn contains(&self, requirement: &Requirement) -> bool {
        Interface::of_id(&requirement.id) != Some(self.interface)
            || requirement.versions.contains(&self.name)
    }
}

/// One point on which profiles disagree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// `pointer-type`.
    pub name: String,
    pub about: String,
    /// The requirements that it bears on, besides those that state one position.
    #[serde(default)]
    pub requirements: Vec<String>,
    pub positions: Vec<Position>,
}

/// What one profile says on that point.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    pub profile: String,
    pub section: String,
    /// In our own words.
    pub says: String,
    /// The requirements that state it, and that profiles of another position therefore cannot
    /// contain.
    #[serde(default)]
    pub requirements: Vec<String>,
}

impl Difference {
    /// Every requirement that it bears on.
    pub fn bears_on(&self) -> impl Iterator<Item = &str> {
        let stated = self.positions.iter().flat_map(|position| &position.requirements);
        self.requirements.iter().chain(stated).map(String::as_str)
    }

    /// What is wrong with it, given all requirements and the profiles of its interface.
    pub(crate) fn fault<'a>(
        &self,
        profiles: &[&Profile],
        find: impl Fn(&str) -> Option<&'a Requirement>,
    ) -> Option<Fault> {
        for position in &self.positions {
            let name = &position.profile;
            if !profiles.iter().any(|profile| profile.name == *name) {
                return Some((name.clone(), format!("there is no profile `{name}`")));
            }
        }
        if let Some(id) = self.bears_on().find(|id| find(id).is_none()) {
            return Some((id.to_owned(), format!("the catalogue has no requirement `{id}`")));
        }
        self.positions.iter().find_map(|position| self.overlap(position, &find))
    }

    /// A requirement of one position must be contained in that profile, and in none that takes
    /// another position.
    fn overlap<'a>(
        &self,
        position: &Position,
        find: &impl Fn(&str) -> Option<&'a Requirement>,
    ) -> Option<Fault> {
        for requirement in position.requirements.iter().filter_map(|id| find(id)) {
            let (id, versions) = (&requirement.id, &requirement.versions);
            if !versions.contains(&position.profile) {
                return Some((
                    id.clone(),
                    format!(
                        "{id} states what {} says, which does not contain it",
                        position.profile
                    ),
                ));
            }
            let opposed = |other: &&Position| {
                !other.requirements.contains(id) && versions.contains(&other.profile)
            };
            if let Some(other) = self.positions.iter().find(opposed) {
                let message = format!(
                    "{id} is contained in {}, which says something else on this point",
                    other.profile
                );
                return Some((id.clone(), message));
            }
        }
        None
    }
}

/// A file of profiles as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) profiles: Vec<Spanned<Listed>>,
    #[serde(default)]
    pub(crate) contracts: Vec<Spanned<Named>>,
    #[serde(default)]
    pub(crate) differences: Vec<Spanned<Difference>>,
}

/// A profile as it is written, in the folder of its interface.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    name: String,
    kind: Kind,
    #[serde(default)]
    default: bool,
    about: String,
}

impl Listed {
    pub(crate) fn of(self, interface: Interface) -> Profile {
        let Self { name, kind, default, about } = self;
        Profile { interface, name, kind, default, about }
    }
}

/// A contract as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    name: String,
    about: String,
}

impl Named {
    pub(crate) fn of(self, interface: Interface) -> Contract {
        let Self { name, about } = self;
        Contract { interface, name, about }
    }
}

/// The interface whose profiles a catalogue file lists, if it lists any.
pub(crate) fn interface_of(document: &Document<'_>) -> Option<Interface> {
    let folder = document.file.strip_suffix(FILE)?.trim_end_matches('/');
    Interface::all().find(|interface| interface.name() == folder)
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, Interface, Refusal};

    const PROFILES: &str = "profiles:
  - {name: old, kind: text, about: the old text}
  - {name: new, kind: text, default: true, about: the new text}
differences:
  - name: colour
    about: the colour
    positions:
      - {profile: old, section: One, says: red, requirements: [EMM-C-01]}
      - {profile: new, section: Two, says: green, requirements: [EMM-C-02]}
";
    const REQUIREMENTS: &str = "- {id: EMM-C-01, level: MUST, role: plugin, statement: red, \
        versions: [old], observed_by: [outcome], source: {text: old, section: One}}
- {id: EMM-C-02, level: MUST, role: plugin, statement: green, \
        versions: [new], observed_by: [outcome], source: {text: new, section: Two}}
- {id: CAI-C-01, level: MUST, role: producer, statement: x, \
        versions: [v3], observed_by: [outcome], source: {text: cai, section: One}}
";

    fn read(profiles: &str, requirements: &str) -> Result<Catalogue, Vec<Refusal>> {
        Catalogue::from_files([("emm/colour.yaml", requirements), ("emm/profiles.yaml", profiles)])
    }

    #[test]
    fn a_profile_contains_what_names_it_and_judges_nothing_of_other_interfaces() {
        let mut catalogue = read(PROFILES, REQUIREMENTS).expect("written here");
        assert!(
            !catalogue.leaves_out("EMM-C-01"),
            "nothing is left out before a profile is chosen"
        );
        let new = catalogue.default_profile(Interface::Emm).cloned();
        assert_eq!(new.as_ref().map(|profile| profile.name.as_str()), Some("new"));
        catalogue.choose(new);
        let left_out =
            ["EMM-C-01", "EMM-C-02", "CAI-C-01", "EMM-NONE-01"].map(|id| catalogue.leaves_out(id));
        assert_eq!(left_out, [true, false, false, false]);
        assert!(catalogue.default_profile(Interface::Cai).is_none());
    }

    #[test]
    fn a_contract_holds_whatever_the_profile() {
        let profiles = PROFILES
            .replace("differences:", "contracts: [{name: table, about: the table}]\ndifferences:");
        let requirements = format!(
            "{REQUIREMENTS}{}",
            REQUIREMENTS.replace("-C-", "-D-").replace("[old]", "[table]")
        );
        let mut catalogue = read(&profiles, &requirements).expect("written here");
        for name in ["old", "new"] {
            catalogue.choose(catalogue.profile(name).cloned());
            assert!(!catalogue.leaves_out("EMM-D-01"), "{name}");
        }
        let stated = |id: &str| {
            catalogue
                .get(id)
                .and_then(|one| catalogue.contract_of(one))
                .map(|one| one.name.as_str())
        };
        assert_eq!((stated("EMM-D-01"), stated("EMM-D-02")), (Some("table"), None));
    }

    #[test]
    fn profiles_that_contradict_themselves_are_refused_with_their_line() {
        let both = REQUIREMENTS.replace("versions: [old]", "versions: [old, new]");
        let neither = REQUIREMENTS.replace("versions: [old]", "versions: [new]");
        let odd = REQUIREMENTS.replace("versions: [old]", "versions: [odl]");
        let none = REQUIREMENTS.replace("versions: [old]", "versions: []");
        let broken = [
            (
                PROFILES.to_owned(),
                both,
                8,
                "EMM-C-01 is contained in new, which says something else on this point",
            ),
            (
                PROFILES.to_owned(),
                neither,
                8,
                "EMM-C-01 states what old says, which does not contain it",
            ),
            (PROFILES.to_owned(), odd, 1, "there is no profile `odl`"),
            (PROFILES.to_owned(), none, 1, "no profile contains EMM-C-01"),
            (
                PROFILES.replace("profile: new", "profile: now"),
                REQUIREMENTS.to_owned(),
                9,
                "there is no profile `now`",
            ),
            (
                PROFILES.replace("EMM-C-02", "EMM-C-03"),
                REQUIREMENTS.to_owned(),
                9,
                "the catalogue has no requirement `EMM-C-03`",
            ),
            (
                PROFILES.replace("default: true, ", ""),
                REQUIREMENTS.to_owned(),
                1,
                "exactly one profile must be the `default`",
            ),
            (
                PROFILES.replace("name: old", "name: new"),
                REQUIREMENTS.to_owned(),
                3,
                "a profile `new` stands elsewhere already",
            ),
            (
                PROFILES.replace(
                    "differences:",
                    "contracts: [{name: old, about: the table}]\ndifferences:",
                ),
                REQUIREMENTS.to_owned(),
                4,
                "a profile `old` stands elsewhere already",
            ),
        ];
        for (profiles, requirements, line, message) in broken {
            let refusals =
                read(&profiles, &requirements).map(drop).expect_err("each is broken in one place");
            assert_eq!((refusals[0].line, refusals[0].message.as_str()), (line, message));
        }
    }
}
