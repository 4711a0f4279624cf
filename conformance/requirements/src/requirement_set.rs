//! Requirement sets: the requirements of a side, frozen under a name such as `emm-2026.1`. A
//! certificate names one, so that a reader knows what the subject was certified by.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::Catalogue;
use crate::requirement::Level;
use crate::side::Side;

/// `(file name, text)` of every frozen set.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sets.rs"));

/// What stands in the place of a name if no frozen set has the same requirements.
pub const UNFROZEN: &str = "unfrozen";

/// The requirements that a subject is certified by, and the level of each.
pub type Requirements = BTreeMap<String, Level>;

/// The requirements of a side, with the profiles and C contracts that contain each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementSet {
    /// `emm-2026.1`
    pub name: String,
    /// Id to level and `versions`.
    entries: BTreeMap<String, (Level, BTreeSet<String>)>,
}

impl RequirementSet {
    /// All requirements of a side as the catalogue has them now.
    #[must_use]
    pub fn of_catalogue(catalogue: &Catalogue, side: Side) -> Self {
        let of_side = catalogue.iter().filter(|one| one.side() == Some(side));
        let entry = |one: &crate::Requirement| {
            (one.id.clone(), (one.level, one.versions.iter().cloned().collect()))
        };
        Self { name: UNFROZEN.to_owned(), entries: of_side.map(entry).collect() }
    }

    /// The frozen sets of a side, the newest first.
    #[must_use]
    pub fn frozen(side: Side) -> Vec<Self> {
        let mut sets: Vec<((u32, u32), Self)> = EMBEDDED
            .iter()
            .filter_map(|(file, text)| {
                let name = file.strip_suffix(".txt")?;
                let version = version_of(name, side)?;
                Some((version, Self { name: name.to_owned(), entries: entries(text) }))
            })
            .collect();
        sets.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        sets.into_iter().map(|(_, set)| set).collect()
    }

    /// The file of the set: a line for each requirement, in the order of the ids.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(id, (level, versions)): (&String, &(Level, BTreeSet<String>))| {
            let versions = versions.iter().map(|version| format!(" {version}"));
            format!("{id} {level}{}\n", versions.collect::<String>())
        };
        self.entries.iter().map(line).collect()
    }

    /// The requirements that a profile or one of its C contracts contains; all without a profile.
    fn under(&self, profile: Option<&str>, contracts: &[&str]) -> Requirements {
        let states = |versions: &BTreeSet<String>, profile: &str| {
            let mut versions = versions.iter().map(String::as_str);
            versions.any(|version| version == profile || contracts.contains(&version))
        };
        let held = self
            .entries
            .iter()
            .filter(|(_, (_, versions))| profile.is_none_or(|profile| states(versions, profile)));
        held.map(|(id, (level, _))| (id.clone(), *level)).collect()
    }
}

/// The requirements of a side under the profile that is in force, and the name of the newest frozen
/// set that has the same; [`UNFROZEN`] if none has.
#[must_use]
pub fn in_force(catalogue: &Catalogue, side: Side) -> (String, Requirements) {
    let requirements = current(catalogue, side);
    let name = name_of(&requirements, &RequirementSet::frozen(side), catalogue, side);
    (name, requirements)
}

fn current(catalogue: &Catalogue, side: Side) -> Requirements {
    let of_side = catalogue.iter().filter(|one| one.side() == Some(side));
    let held = of_side.filter(|one| !catalogue.leaves_out(&one.id));
    held.map(|one| (one.id.clone(), one.level)).collect()
}

fn name_of(
    requirements: &Requirements,
    frozen: &[RequirementSet],
    catalogue: &Catalogue,
    side: Side,
) -> String {
    let profile = catalogue.chosen().map(|profile| profile.name.as_str());
    let of_interface = catalogue.contracts().iter().filter(|one| one.interface == side.interface());
    let contracts: Vec<&str> = of_interface.map(|contract| contract.name.as_str()).collect();
    let same = |set: &&RequirementSet| set.under(profile, &contracts) == *requirements;
    frozen.iter().find(same).map_or(UNFROZEN, |set| &set.name).to_owned()
}

/// The requirements of `now` that are not in `certified`, or are there at a lower level.
#[must_use]
pub fn missing(certified: &Requirements, now: &Requirements) -> Requirements {
    // A higher level comes first in the order of levels.
    let covers = |id: &String, level: &Level| certified.get(id).is_some_and(|had| had <= level);
    let lacking = now.iter().filter(|(id, level)| !covers(id, level));
    lacking.map(|(id, level)| (id.clone(), *level)).collect()
}

/// Year and number of a set of this side: `emm-2026.1` is `(2026, 1)`.
fn version_of(name: &str, side: Side) -> Option<(u32, u32)> {
    let version = name.strip_prefix(side.name())?.strip_prefix('-')?;
    let (year, number) = version.split_once('.')?;
    Some((year.parse().ok()?, number.parse().ok()?))
}

/// A test of the repository makes sure that each line of a frozen set is one.
fn entries(text: &str) -> BTreeMap<String, (Level, BTreeSet<String>)> {
    let entry = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let (id, level) = (words.next()?, words.next()?);
        let level = match level.as_str() {
            "MUST" => Level::Must,
            "SHOULD" => Level::Should,
            "MAY" => Level::May,
            _ => return None,
        };
        Some((id, (level, words.collect())))
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, text: &str) -> RequirementSet {
        RequirementSet { name: name.to_owned(), entries: entries(text) }
    }

    #[test]
    fn a_set_is_written_as_it_is_read() {
        let text = "EMM-A-01 MUST nbep7 numba-docs\nEMM-A-02 MAY allocert-emm-h\n";
        assert_eq!(set("emm-2030.1", text).text(), text);
        for side in Side::all() {
            for frozen in RequirementSet::frozen(side) {
                assert_eq!(set(&frozen.name, &frozen.text()), frozen);
            }
        }
    }

    #[test]
    fn a_profile_takes_its_own_and_those_of_its_contracts() {
        let set = set("emm-2030.1", "EMM-A-01 MUST nbep7\nEMM-A-02 MAY c\nEMM-A-03 MUST docs\n");
        let ids = |profile, contracts: &[&str]| {
            set.under(profile, contracts).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(ids(Some("nbep7"), &["c"]), ["EMM-A-01", "EMM-A-02"]);
        assert_eq!(ids(Some("docs"), &[]), ["EMM-A-03"]);
        assert_eq!(ids(None, &[]).len(), 3);
    }

    /// The newest of equal sets gives the name; another level is another set.
    #[test]
    fn the_newest_set_with_the_same_requirements_gives_the_name() {
        let catalogue = Catalogue::embedded().expect("the catalogue is right");
        for side in Side::all() {
            let now = current(&catalogue, side);
            let text = RequirementSet::of_catalogue(&catalogue, side).text();
            let other = text.replacen(" MUST", " MAY", 1);
            let (new, old) = (set("new", &text), set("old", &text));
            let named = |frozen: &[RequirementSet]| name_of(&now, frozen, &catalogue, side);
            assert_eq!(named(&[set("newest", &other), new.clone(), old]), "new");
            assert_eq!(named(&[set("newest", &other)]), UNFROZEN);
        }
    }

    #[test]
    fn a_certificate_lacks_what_is_new_or_became_stricter() {
        let certified = set("", "A MUST\nB SHOULD\nC MUST\nGONE MUST\n").under(None, &[]);
        let now = set("", "A MUST\nB MUST\nC SHOULD\nD MAY\n").under(None, &[]);
        let lacks: Vec<_> = missing(&certified, &now).into_iter().collect();
        assert_eq!(lacks, [("B".to_owned(), Level::Must), ("D".to_owned(), Level::May)]);
    }

    #[test]
    fn a_set_belongs_to_one_side_and_sorts_by_number() {
        assert_eq!(version_of("emm-2026.10", Side::Emm), Some((2026, 10)));
        assert_eq!(version_of("emm-host-2026.1", Side::Emm), None);
        assert_eq!(version_of("emm-host-2026.1", Side::EmmHost), Some((2026, 1)));
    }
}
