//! The pages `docs/requirements/<side>.md`: each requirement of the catalogue with its text, and
//! the fixtures that test it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use allocert_requirements::{Catalogue, Requirement, Side};

use crate::workspace::root;
use crate::{embedded, generated};

const COLUMNS: usize = 100;
/// The most fixtures that are named of one requirement.
const FIXTURES: usize = 12;

type Fixtures = BTreeMap<String, BTreeSet<String>>;

/// With `ALLOCERT_BLESS=1` the pages are written instead of compared.
#[test]
fn the_page_of_each_side_has_its_requirements() {
    let catalogue = embedded::catalogue();
    let fixtures = fixtures(&catalogue);
    let folder = root().join("docs/requirements");
    let mut count = 0;
    let stale = generated::stale(Side::all().map(|side| {
        let own = catalogue.iter().filter(|one| one.side() == Some(side));
        let own: Vec<&Requirement> = own.collect();
        count += own.len();
        (folder.join(format!("{}.md", side.name())), page(side, &own, &fixtures))
    }));
    assert_eq!(count, catalogue.iter().count(), "each requirement is on one page");
    assert!(
        stale.is_empty(),
        "{stale:#?} differ from the catalogue or the fixtures; write them with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy requirement_pages`"
    );
}

/// The fixtures that state each requirement.
fn fixtures(catalogue: &Catalogue) -> Fixtures {
    let mut stated = Fixtures::new();
    for case in &embedded::cases(catalogue) {
        for id in case.requirements() {
            stated.entry(id.to_owned()).or_default().insert(case.file.clone());
        }
    }
    stated
}

fn page(side: Side, requirements: &[&Requirement], fixtures: &Fixtures) -> String {
    let mut page = format!(
        "# Requirements of `{}`\n\nThis page is generated from the catalogue in \
         `conformance/requirements/catalogue`.\n",
        side.name()
    );
    for requirement in requirements {
        let none = BTreeSet::new();
        let tested = fixtures.get(&requirement.id).unwrap_or(&none);
        let _infallible = write!(
            page,
            "\n## {}\n\n{}\n\n| | |\n|---|---|\n",
            requirement.id,
            wrapped(&escaped(&requirement.statement))
        );
        for (name, value) in rows(requirement, tested) {
            let _infallible = writeln!(page, "| {name} | {value} |");
        }
    }
    page
}

fn rows(requirement: &Requirement, tested: &BTreeSet<String>) -> Vec<(&'static str, String)> {
    let Requirement { level, source, versions, check, defects, excluded, .. } = requirement;
    let quoted = |words: &[String]| {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let mut rows = vec![
        ("level", level.to_string()),
        ("text", escaped(&format!("{}, \"{}\"", source.text, source.section))),
        ("holds in", quoted(versions)),
    ];
    if requirement.gpu {
        rows.push(("observed", "on a real GPU only".to_owned()));
    }
    if let Some(check) = check {
        rows.push(("checked", format!("in every case (`{check}`)")));
    }
    if !defects.is_empty() {
        rows.push((
            "checked",
            format!("in every export or call of the table: {}", quoted(defects)),
        ));
    }
    if let Some(reason) = excluded {
        rows.push(("not tested", escaped(reason)));
    }
    let links = tested.iter().take(FIXTURES).map(|path| {
        let name = path.trim_start_matches("cases/").trim_end_matches(".yaml");
        format!("[{name}](../../fixtures/{path})")
    });
    let mut links: Vec<String> = links.collect();
    if tested.len() > FIXTURES {
        let side = requirement.side().expect("each requirement has a side");
        let (more, id) = (tested.len() - FIXTURES, &requirement.id);
        links.push(format!("and {more} more: `allocert list {} --filter {id}`", side.name()));
    }
    if !links.is_empty() {
        rows.push(("cases", links.join(", ")));
    }
    rows
}

/// Text in which nothing is markup but what is between backticks.
fn escaped(text: &str) -> String {
    let mut code = false;
    let mut out = String::new();
    for c in text.trim().chars() {
        code ^= c == '`';
        if c == '|' || (!code && matches!(c, '<' | '*' | '_' | '[' | ']' | '\\')) {
            out.push('\\');
        }
        out.push(c);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= COLUMNS {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}
