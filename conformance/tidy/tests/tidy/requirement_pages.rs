//! The pages of requirements and freedoms: `docs/requirements/<side>.md` lists those of a side, and
//! `docs/requirements/<side>/<id>.md` has the text of one, the fixtures that test it, the libraries
//! that fulfil or violate it, the mutants that break it or the variants that use it.
//! `docs/SUMMARY.md` lists all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use allocert_requirements::{Catalogue, Freedom, Requirement, Side, mutant, variant};
use allocert_suite::report::requirement_state::State;

use crate::results::{self, Known};
use crate::workspace::root;
use crate::{embedded, generated};

const COLUMNS: usize = 100;
/// The most fixtures, mutants or variants that are named on a page.
const NAMED: usize = 12;

/// Paths of fixtures, or lines about subjects, by the requirement or freedom that they belong to.
type ById = BTreeMap<String, BTreeSet<String>>;

/// A page about one requirement or freedom.
struct Page<'a> {
    id: &'a str,
    statement: &'a str,
    /// In the list of its side.
    level: String,
    rows: Vec<(&'static str, String)>,
}

/// With `ALLOCERT_BLESS=1` the pages are written instead of compared.
#[test]
fn each_requirement_and_each_freedom_has_its_page() {
    let catalogue = embedded::catalogue();
    let all: Vec<(Side, Vec<Page<'_>>)> = pages(&catalogue);
    let count: usize = all.iter().map(|(_, pages)| pages.len()).sum();
    let freedoms = Side::all().map(|side| catalogue.freedoms(side).count()).sum::<usize>();
    assert_eq!(count, catalogue.iter().count() + freedoms, "each is of one side");
    let folder = root().join("docs/requirements");
    let mut files = vec![(root().join("docs/SUMMARY.md"), summary(&all))];
    for (side, pages) in &all {
        files.push((folder.join(format!("{side}.md")), list(*side, pages)));
        let file = |page: &Page<'_>| folder.join(format!("{side}/{}.md", page.id));
        files.extend(pages.iter().map(|page| (file(page), page.text(*side))));
    }
    let mut stale = left_over(&files);
    stale.extend(generated::stale(files));
    assert!(
        stale.is_empty(),
        "{stale:#?} differ from the catalogue, the fixtures or the results; write them with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy requirement_pages`"
    );
}

/// Pages of requirements that are gone. None if they are removed.
fn left_over(files: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let bless = env::var_os("ALLOCERT_BLESS").is_some();
    let mut left = Vec::new();
    for side in Side::all() {
        let folder = root().join("docs/requirements").join(side.name());
        if bless {
            fs::create_dir_all(&folder).expect("the checkout can be written");
        }
        let entries = fs::read_dir(&folder).into_iter().flatten();
        let paths = entries.map(|entry| entry.expect("an entry").path());
        left.extend(paths.filter(|path| !files.iter().any(|(file, _)| file == path)));
    }
    if bless {
        left.drain(..).for_each(|path| fs::remove_file(path).expect("it can be removed"));
    }
    left
}

fn pages(catalogue: &Catalogue) -> Vec<(Side, Vec<Page<'_>>)> {
    let fixtures = fixtures(catalogue);
    let mutants = mutant::embedded().unwrap_or_else(|refusal| panic!("{refusal}"));
    let mutants = subjects(mutants.iter().map(|one| (&one.breaks, &one.name, &one.about)));
    let (fulfil, violate) = libraries();
    let known =
        [("no violation by", fulfil), ("violated by", violate), ("mutants that break it", mutants)];
    let variants = variant::embedded().unwrap_or_else(|refusal| panic!("{refusal}"));
    let variants = subjects(variants.iter().map(|one| (&one.uses, &one.name, &one.about)));
    let of_side = |side: Side| {
        let requirements = catalogue.iter().filter(|one| one.side() == Some(side));
        let requirements = requirements.map(|one| of_requirement(one, &fixtures, &known));
        let freedoms = catalogue.freedoms(side).map(|one| of_freedom(one, &variants));
        requirements.chain(freedoms).collect()
    };
    Side::all().map(|side| (side, of_side(side))).collect()
}

/// The fixtures that state each requirement.
fn fixtures(catalogue: &Catalogue) -> ById {
    let mut stated = ById::new();
    for case in &embedded::cases(catalogue) {
        for id in case.requirements() {
            stated.entry(id.to_owned()).or_default().insert(case.file.clone());
        }
    }
    stated
}

/// The mutants that break each requirement, or the variants that use each freedom.
fn subjects<'s>(
    built: impl Iterator<Item = (&'s BTreeSet<String>, &'s String, &'s String)>,
) -> ById {
    let mut named = ById::new();
    for (ids, name, about) in built {
        let line = format!("`{name}`: {}", escaped(about));
        for id in ids {
            named.entry(id.clone()).or_default().insert(line.clone());
        }
    }
    named
}

/// The released libraries in whose run no case shows a violation of a requirement, and those in
/// whose run one does.
fn libraries() -> (ById, ById) {
    let (mut fulfil, mut violate) = (ById::new(), ById::new());
    for Known { library, summary } in results::known() {
        for id in summary.others.get(&State::Fulfilled).into_iter().flatten() {
            fulfil.entry(id.clone()).or_default().insert(library.clone());
        }
        for id in summary.findings.keys() {
            violate.entry(id.clone()).or_default().insert(library.clone());
        }
    }
    (fulfil, violate)
}

fn of_requirement<'c>(
    one: &'c Requirement,
    fixtures: &ById,
    known: &[(&'static str, ById)],
) -> Page<'c> {
    let none = BTreeSet::new();
    let mut rows = rows(one, fixtures.get(&one.id).unwrap_or(&none));
    let of_this = known.iter().filter_map(|(name, by_id)| Some((*name, by_id.get(&one.id)?)));
    rows.extend(of_this.map(|(name, named)| (name, lines(named))));
    Page { id: &one.id, statement: &one.statement, level: one.level.to_string(), rows }
}

fn of_freedom<'c>(one: &'c Freedom, variants: &ById) -> Page<'c> {
    let source = escaped(&format!("{}, \"{}\"", one.source.text, one.source.section));
    let mut rows = vec![("text", source)];
    if let Some(uses) = variants.get(&one.id) {
        rows.push(("variants that use it", lines(uses)));
    }
    Page { id: &one.id, statement: &one.statement, level: "freedom".to_owned(), rows }
}

/// The lines of a cell.
fn lines(all: &BTreeSet<String>) -> String {
    let mut lines: Vec<String> = all.iter().take(NAMED).cloned().collect();
    if all.len() > NAMED {
        lines.push(format!("and {} more", all.len() - NAMED));
    }
    lines.join("<br>")
}

impl Page<'_> {
    fn text(&self, side: Side) -> String {
        let mut page = format!("# {}\n\n", self.id);
        let statement = wrapped(&escaped(self.statement));
        let _infallible = write!(page, "{statement}\n\n| | |\n|---|---|\n");
        let _infallible = writeln!(page, "| side | [{side}](../{side}.md) |");
        for (name, value) in &self.rows {
            let _infallible = writeln!(page, "| {name} | {value} |");
        }
        page
    }
}

/// The page of a side.
fn list(side: Side, pages: &[Page<'_>]) -> String {
    let mut list = format!(
        "# Requirements of `{side}`\n\nThis page and the pages of the requirements are generated \
         from the catalogue in\n`conformance/requirements/catalogue`, the fixtures, the mutants \
         and variants, and the\n[results of released libraries](../results.md). A freedom is a \
         choice that the texts leave to the\nsubject.\n\n\
         | requirement | level | statement |\n|---|---|---|\n"
    );
    for Page { id, statement, level, .. } in pages {
        let statement = escaped(statement);
        let _infallible = writeln!(list, "| [{id}]({side}/{id}.md) | {level} | {statement} |");
    }
    list
}

/// The table of contents, with the pages of the requirements in their place.
fn summary(all: &[(Side, Vec<Page<'_>>)]) -> String {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    let (before, rest) = summary.split_once("# Requirements\n").expect("its chapter");
    let (_, after) = rest.split_once("\n# ").expect("the next chapter");
    let mut chapter = String::new();
    for (side, pages) in all {
        let _infallible = writeln!(chapter, "- [Requirements of {side}](requirements/{side}.md)");
        for Page { id, .. } in pages {
            let _infallible = writeln!(chapter, "  - [{id}](requirements/{side}/{id}.md)");
        }
    }
    format!("{before}# Requirements\n\n{chapter}\n# {after}")
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
    let links = tested.iter().take(NAMED).map(|path| {
        let name = path.trim_start_matches("cases/").trim_end_matches(".yaml");
        format!("[{name}](../../../fixtures/{path})")
    });
    let mut links: Vec<String> = links.collect();
    if tested.len() > NAMED {
        let side = requirement.side().expect("each requirement has a side");
        let (more, id) = (tested.len() - NAMED, &requirement.id);
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
