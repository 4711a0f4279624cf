//! Which violation leads to which others in the same case. A report shows only the first as a
//! cause, and counts the others below it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::requirement::Requirement;
use crate::yaml::Document;

/// The name of the file, in the folder of each interface, that lists its entries.
const FILE: &str = "consequences.yaml";

/// One entry: requirements whose violation leads to violations of others, and why.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consequence {
    /// Ids of requirements. The violation of any one of them is a cause. None of them leads
    /// to another, except a defect that shows why the check of another found nothing to check.
    pub causes: Vec<String>,
    /// The requirements whose violations follow: ids, or beginnings of ids that end in `*`. A
    /// beginning means only requirements of the side of the causes, and not the causes themselves.
    pub consequences: Vec<String>,
    /// Whether the violation may show at a later step than those that follow from it. Otherwise it
    /// leads only to what shows at the same step or later.
    #[serde(default)]
    pub shows_later: bool,
    /// Whether the violation leads only to what shows at a later step: the case first asks for
    /// less. Two such requirements may each lead to the other, and one to itself.
    #[serde(default)]
    pub at_earlier_step: bool,
    /// Whether the violation leads to those of other cases too. A report then names it before them,
    /// and folds those of them that say the same as the violation.
    #[serde(default)]
    pub in_other_cases: bool,
    /// Why they follow: the end of a sentence that begins with "because".
    pub because: String,
}

/// Whether a catalogue file lists such entries.
pub(crate) fn is_file_of(document: &Document<'_>) -> bool {
    document.file.rsplit('/').next() == Some(FILE)
}

/// The word at fault and why.
type Fault = (String, String);

/// All entries, found by cause and consequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Consequences {
    entries: Vec<Consequence>,
    /// By cause, then by consequence, the entry.
    edges: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Consequences {
    /// Why the violation of one requirement leads to that of another.
    pub(crate) fn find(&self, cause: &str, consequence: &str) -> Option<&Consequence> {
        self.entries.get(*self.edges.get(cause)?.get(consequence)?)
    }

    /// Whether one entry names both as causes.
    pub(crate) fn are_peers(&self, left: &str, right: &str) -> bool {
        let names = |entry: &Consequence, id: &str| entry.causes.iter().any(|cause| cause == id);
        self.entries.iter().any(|entry| names(entry, left) && names(entry, right))
    }

    /// Adds an entry, unless it names what does not exist or makes a circle.
    pub(crate) fn add(
        &mut self,
        entry: Consequence,
        known: &BTreeMap<String, Requirement>,
    ) -> Result<(), Fault> {
        if entry.because.trim().is_empty() {
            return Err(("because".to_owned(), "an entry of this file says why".to_owned()));
        }
        if entry.at_earlier_step && entry.shows_later {
            let message = "a violation cannot show at an earlier step only and also later";
            return Err(("at_earlier_step".to_owned(), message.to_owned()));
        }
        let consequences = consequences(&entry, known)?;
        let index = self.entries.len();
        for cause in &entry.causes {
            let edges = self.edges.entry(cause.clone()).or_default();
            for consequence in &consequences {
                edges.entry(consequence.clone()).or_insert(index);
            }
        }
        self.entries.push(entry);
        let causes = &self.entries[index].causes;
        match causes.iter().find(|cause| self.leads_back(cause)) {
            Some(id) => Err((
                id.clone(),
                format!("{id} is a consequence of itself, through its other consequences"),
            )),
            None => Ok(()),
        }
    }

    /// Whether a violation can be a consequence of itself. It cannot if each consequence shows at
    /// the same step or later, and one of them at a later step.
    fn leads_back(&self, id: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![(id, false, false)];
        while let Some((next, shows_later, at_earlier_step)) = open.pop() {
            for (consequence, index) in self.edges.get(next).into_iter().flatten() {
                let entry = &self.entries[*index];
                let shows_later = shows_later || entry.shows_later;
                let at_earlier_step = at_earlier_step || entry.at_earlier_step;
                if consequence == id && (shows_later || !at_earlier_step) {
                    return true;
                }
                let way = (consequence.as_str(), shows_later, at_earlier_step);
                if consequence != id && seen.insert(way) {
                    open.push(way);
                }
            }
        }
        false
    }
}

/// The ids of the consequences of an entry.
fn consequences(
    entry: &Consequence,
    known: &BTreeMap<String, Requirement>,
) -> Result<BTreeSet<String>, Fault> {
    let missing = |id: &str| (id.to_owned(), format!("there is no requirement `{id}`"));
    let mut sides = BTreeSet::new();
    for cause in &entry.causes {
        sides.insert(known.get(cause).ok_or_else(|| missing(cause))?.side());
    }
    let side = match sides.into_iter().collect::<Vec<_>>()[..] {
        [Some(side)] => side,
        _ => {
            let message = "the causes of an entry are requirements of one side".to_owned();
            return Err(("causes".to_owned(), message));
        }
    };
    let mut consequences = BTreeSet::new();
    for wanted in &entry.consequences {
        let Some(beginning) = wanted.strip_suffix('*') else {
            known.get(wanted).ok_or_else(|| missing(wanted))?;
            consequences.insert(wanted.clone());
            continue;
        };
        let before = consequences.len();
        let meant = known.values().filter(|one| one.id.starts_with(beginning));
        let meant = meant.filter(|one| one.side() == Some(side) && !entry.causes.contains(&one.id));
        consequences.extend(meant.map(|one| one.id.clone()));
        if consequences.len() == before {
            let message = format!("`{wanted}` adds no requirement of {side}");
            return Err((wanted.clone(), message));
        }
    }
    Ok(consequences)
}
