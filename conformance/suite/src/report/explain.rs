//! `allocert explain`: one requirement, where it is written, what the texts disagree on and what
//! tests it; or one case, one profile or contract, or the code of a refusal.

use std::fmt::Write as _;

use allocert_requirements::{
    Catalogue, Contract, Difference, Freedom, Interface, Profile, RefusalCode, Requirement, Side,
    nearest,
};

use crate::plan::PlannedCase;

/// What there is to say about a requirement id, a case id or a profile.
///
/// # Errors
/// A message with the nearest id, when there is neither.
pub fn render(id: &str, catalogue: &Catalogue, cases: &[PlannedCase]) -> Result<String, String> {
    if let Some(requirement) = catalogue.get(id) {
        return Ok(explain(requirement, catalogue, cases));
    }
    if let Some(freedom) = catalogue.freedom(id) {
        return Ok(explain_freedom(freedom));
    }
    if let Some(profile) = catalogue.profile(id) {
        return Ok(explain_profile(profile, catalogue));
    }
    if let Some(contract) = catalogue.contracts().iter().find(|contract| contract.name == id) {
        return Ok(explain_contract(contract, catalogue));
    }
    if let Some(case) = cases.iter().find(|case| case.id == id) {
        return Ok(explain_case(case, catalogue));
    }
    if let Some(code) = RefusalCode::by_name(id) {
        return Ok(explain_refusal(code));
    }
    let freedoms = Side::all().flat_map(|side| catalogue.freedoms(side));
    let ids = catalogue
        .iter()
        .map(|one| one.id.as_str())
        .chain(freedoms.map(|freedom| freedom.id.as_str()))
        .chain(cases.iter().map(|case| case.id.as_str()));
    let profiles = Interface::all().flat_map(|interface| catalogue.profiles(interface));
    let contracts = catalogue.contracts().iter().map(|contract| contract.name.as_str());
    let ids = ids.chain(profiles.map(|profile| profile.name.as_str())).chain(contracts);
    let ids = ids.chain(RefusalCode::ALL.iter().map(|code| code.code()));
    let hint =
        nearest::nearest(id, ids).map(|near| format!(", did you mean {near}?")).unwrap_or_default();
    Err(format!("no requirement, freedom, case, profile or C contract is called {id}{hint}"))
}

fn explain(requirement: &Requirement, catalogue: &Catalogue, cases: &[PlannedCase]) -> String {
    let Requirement { id, level, role, statement, source, versions, observed_by, gpu, .. } =
        requirement;
    let observed: Vec<String> =
        observed_by.iter().map(|channel| format!("{channel:?}").to_lowercase()).collect();
    let mut lines = vec![
        format!("{id}  {level}  {}", format!("{role:?}").to_lowercase()),
        String::new(),
        format!("    {statement}"),
        String::new(),
        format!("source     {}, \"{}\"", source.text, source.section),
        format!("versions   {}", versions.join(", ")),
        format!(
            "observed   by {}{}",
            observed.join(" and "),
            if *gpu { ", on a real GPU only" } else { "" }
        ),
    ];
    lines.extend(
        requirement
            .operation
            .as_ref()
            .map(|name| format!("stands for {name}, when it fails unexpectedly")),
    );
    lines.extend(
        requirement.check.as_ref().map(|name| format!("checked    in every case ({name})")),
    );
    if !requirement.defects.is_empty() {
        let noun = if catalogue.contract_of(requirement).is_some() {
            "call of the table"
        } else {
            "export"
        };
        lines.push(format!("checked    in every {noun} ({})", requirement.defects.join(", ")));
    }
    lines.extend(requirement.excluded.as_ref().map(|reason| format!("excluded   {reason}")));
    lines.push(format!(
        "written in conformance/requirements/catalogue/{}:{}",
        requirement.file, requirement.line
    ));
    for difference in catalogue
        .differences()
        .iter()
        .filter(|difference| difference.bears_on().any(|named| named == id))
    {
        lines.push(String::new());
        lines.extend(explain_difference(difference, catalogue));
    }
    let testing = cases.iter().filter(|case| case.requirements().any(|named| named == id));
    let mut files: Vec<&str> = testing.map(|case| case.file.as_str()).collect();
    files.dedup();
    if !files.is_empty() {
        lines.push(String::new());
    }
    lines.extend(files.iter().map(|file| format!("tested by  fixtures/{file}")));
    lines.join("\n") + "\n"
}

fn explain_freedom(freedom: &Freedom) -> String {
    let Freedom { id, role, statement, source, file, line } = freedom;
    let lines = [
        format!("{id}  freedom  {role}"),
        String::new(),
        format!("    {statement}"),
        String::new(),
        format!("source     {}, \"{}\"", source.text, source.section),
        format!("written in conformance/requirements/catalogue/{file}:{line}"),
    ];
    lines.join("\n") + "\n"
}

/// What each text says, a line a text.
fn explain_difference(difference: &Difference, catalogue: &Catalogue) -> Vec<String> {
    let positions = difference.positions.iter().map(|position| {
        let verb =
            catalogue.profile(&position.profile).map_or("says", |profile| profile.kind.verb());
        format!("           {} {verb}: {} ({})", position.profile, position.says, position.section)
    });
    std::iter::once(format!("differs    {}", difference.about)).chain(positions).collect()
}

/// What it is, the requirements that it leaves out, and what others say differently.
fn explain_profile(profile: &Profile, catalogue: &Catalogue) -> String {
    let Profile { interface, name, about, default, .. } = profile;
    let standing = if *default { ", the default" } else { "" };
    let mut lines = vec![
        format!("{name}  a profile of {}{standing}", interface.name()),
        String::new(),
        format!("    {about}"),
        String::new(),
    ];
    let own = |one: &&Requirement| {
        Interface::of_id(&one.id) == Some(*interface) && catalogue.contract_of(one).is_none()
    };
    let all: Vec<&Requirement> = catalogue.iter().filter(own).collect();
    let left_out: Vec<&&Requirement> = all.iter().filter(|one| !profile.contains(one)).collect();
    let rest = if left_out.is_empty() { "" } else { "; left out are" };
    let contained = all.len() - left_out.len();
    lines.push(format!("contains {contained} of {} requirements{rest}", all.len()));
    lines.extend(
        left_out.iter().map(|one| {
            format!("    {:<16} {} ({})", one.id, one.statement, one.versions.join(", "))
        }),
    );
    for contract in catalogue.contracts().iter().filter(|contract| contract.interface == *interface)
    {
        let stated = catalogue.iter().filter(|one| contract.states(one)).count();
        lines.push(format!(
            "besides, the {stated} requirements of {} hold for who implements it",
            contract.name
        ));
    }
    let speaks = |difference: &&Difference| {
        difference.positions.iter().any(|position| position.profile == *name)
    };
    for difference in catalogue.differences().iter().filter(speaks) {
        lines.push(String::new());
        lines.extend(explain_difference(difference, catalogue));
    }
    lines.join("\n") + "\n"
}

/// What it is, and all that it demands.
fn explain_contract(contract: &Contract, catalogue: &Catalogue) -> String {
    let Contract { interface, name, about } = contract;
    let mut lines = vec![
        format!(
            "{name}  a contract of {}, which holds for who implements it whatever the profile",
            interface.name()
        ),
        String::new(),
        format!("    {about}"),
        String::new(),
    ];
    let stated = catalogue.iter().filter(|one| contract.states(one));
    lines
        .extend(stated.map(|one| format!("    {:<16} {:<6} {}", one.id, one.level, one.statement)));
    lines.join("\n") + "\n"
}

fn explain_refusal(code: RefusalCode) -> String {
    let (meaning, remedy) = (code.meaning(), code.remedy());
    format!("{code}  a refusal, with exit code 2\n\n    {meaning}\n    {remedy}\n")
}

fn explain_case(case: &PlannedCase, catalogue: &Catalogue) -> String {
    let mut text = format!("{}\n\n    {}\n\nfixtures/{}\n", case.id, case.about, case.file);
    for step in &case.steps {
        let operation = serde_json::to_string(&step.r#do).unwrap_or_default();
        let _infallible = write!(text, "{:>4}  {operation}", step.index);
        text.push('\n');
        for id in step.expect.keys() {
            let statement = catalogue.get(id).map_or("", |one| one.statement.as_str());
            let _infallible = writeln!(text, "        {id}: {statement}");
        }
    }
    text
}
