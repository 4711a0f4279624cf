//! The tables of cases in `docs/topics` are generated from the catalogue and the fixtures, so that
//! none of them lacks a case that was added later, or keeps one that has changed.
//!
//! A page says in a comment above a table what belongs there: ids of requirements and names of
//! fixtures, each possibly with `*` at its end.

use std::collections::{BTreeMap, BTreeSet};

use allocert_suite::{Catalogue, Requirement};

use crate::topics::pages;
use crate::workspace::root;
use crate::{embedded, generated};

const BEGIN: &str = "<!-- cases: ";
const END: &str = "<!-- end of cases -->";
/// The most cases of one requirement that do not belong to the topic by their names.
const OF_OTHER_GROUPS: usize = 6;

/// With `ALLOCERT_BLESS=1` the tables are written instead of compared.
#[test]
fn the_tables_of_each_topic_have_all_of_its_cases() {
    let catalogue = embedded::catalogue();
    let stated = stated(&catalogue);
    let stale =
        generated::stale(pages().into_iter().map(|(page, text)| {
            (root().join(&page), with_tables(&page, &text, &catalogue, &stated))
        }));
    assert!(
        stale.is_empty(),
        "{stale:#?} differ from the fixtures; write them with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy topic_tables`, and then read what the page \
         says that no case does"
    );
}

/// Each fixture with the requirements that its cases state.
fn stated(catalogue: &Catalogue) -> BTreeMap<String, BTreeSet<String>> {
    let mut stated: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for case in embedded::cases(catalogue) {
        let name: Vec<&str> = case.id.split('/').take(3).collect();
        let requirements = case.requirements().map(str::to_owned);
        stated.entry(name.join("/")).or_default().extend(requirements);
    }
    stated
}

/// The text of a page with its tables as they must be.
fn with_tables(
    page: &str,
    text: &str,
    catalogue: &Catalogue,
    stated: &BTreeMap<String, BTreeSet<String>>,
) -> String {
    let mut parts = text.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut tables = 0;
    for part in parts {
        let (wanted, rest) = part.split_once("-->").expect("a comment ends");
        let (_, rest) =
            rest.split_once(END).unwrap_or_else(|| panic!("{page}: a table has no `{END}`"));
        let topic = Topic::read(page, wanted, catalogue, stated);
        out.push_str(&format!("{BEGIN}{wanted}-->\n\n{}\n{END}{rest}", topic.table(stated)));
        tables += 1;
    }
    assert!(tables > 0, "{page} has no table of cases: write `{BEGIN}EMM-X-* emm/x/* -->`");
    out
}

/// What the comment above a table names.
struct Topic<'a> {
    requirements: Vec<&'a Requirement>,
    fixtures: BTreeSet<&'a str>,
}

impl<'a> Topic<'a> {
    fn read(
        page: &str,
        wanted: &str,
        catalogue: &'a Catalogue,
        stated: &'a BTreeMap<String, BTreeSet<String>>,
    ) -> Self {
        let (mut requirements, mut fixtures) = (BTreeMap::new(), BTreeSet::new());
        for word in wanted.split_whitespace() {
            let before = requirements.len() + fixtures.len();
            let ids = catalogue.iter().filter(|one| matches(word, &one.id));
            requirements.extend(ids.map(|one| (one.id.as_str(), one)));
            fixtures.extend(stated.keys().map(String::as_str).filter(|name| matches(word, name)));
            let after = requirements.len() + fixtures.len();
            assert!(after > before, "{page}: `{word}` above a table adds nothing to it");
        }
        Self { requirements: requirements.into_values().collect(), fixtures }
    }

    /// A row for each requirement, and one for the cases that state none of them.
    fn table(&self, stated: &BTreeMap<String, BTreeSet<String>>) -> String {
        let mut rows = vec![
            "| requirement | level | what | cases |".to_owned(),
            "|---|---|---|---|".to_owned(),
        ];
        for requirement in &self.requirements {
            let Requirement { id, level, statement, .. } = requirement;
            let what = statement.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.push(format!("| {id} | {level} | {what} | {} |", self.cases(requirement, stated)));
        }
        let ids: BTreeSet<&str> = self.requirements.iter().map(|one| one.id.as_str()).collect();
        let others = self.fixtures.iter().filter(|name| {
            let requirements = &stated[**name];
            !requirements.iter().any(|id| ids.contains(id.as_str()))
        });
        let others: Vec<String> = others
            .map(|name| {
                let ids: Vec<&str> = stated[*name].iter().map(String::as_str).collect();
                if ids.is_empty() {
                    format!("`{name}`")
                } else {
                    format!("`{name}` ({})", ids.join(", "))
                }
            })
            .collect();
        if !others.is_empty() {
            rows.push(format!("| others | | | {} |", others.join(", ")));
        }
        rows.iter().map(|row| format!("{row}\n")).collect()
    }

    /// The cases of a row: those of the topic, and a few of the others that state the requirement.
    fn cases(
        &self,
        requirement: &Requirement,
        stated: &BTreeMap<String, BTreeSet<String>>,
    ) -> String {
        let all = stated.iter().filter(|(_, ids)| ids.contains(&requirement.id));
        let (own, other): (Vec<&str>, Vec<&str>) =
            all.map(|(name, _)| name.as_str()).partition(|name| self.fixtures.contains(name));
        let shown = own.iter().chain(other.iter().take(OF_OTHER_GROUPS));
        let mut cases: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
        if other.len() > OF_OTHER_GROUPS {
            cases.push(format!("{} more", other.len() - OF_OTHER_GROUPS));
        }
        if requirement.always_on() {
            cases.push("always on".to_owned());
        }
        match (&requirement.excluded, cases.is_empty()) {
            (Some(reason), _) => format!("none: {reason}"),
            (None, true) => "none".to_owned(),
            (None, false) => cases.join(", "),
        }
    }
}

/// Whether a word of a comment means this name.
fn matches(word: &str, name: &str) -> bool {
    word.strip_suffix('*').map_or(word == name, |beginning| name.starts_with(beginning))
}

#[test]
fn a_star_stands_for_the_end_of_a_name() {
    assert!(matches("emm/defer/*", "emm/defer/nested") && matches("EMM-PIN-06", "EMM-PIN-06"));
    assert!(!matches("emm/defer", "emm/defer/nested") && !matches("EMM-PIN-0*", "EMM-PIN-10"));
}
