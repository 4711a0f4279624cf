//! The page of a side.

use std::fmt::Write;

use syn::Variant;

use super::declarations::{Declarations, FieldEntry, Presence, about, is_default, snake_case};

const COLUMNS: usize = 100;

/// Fields that `fixtures/README.md` explains once for all operations.
pub(super) const COMMON: [&str; 24] = [
    "array", "as", "buffer", "byte", "device", "export", "handle", "mapped", "memory", "name",
    "of", "offset", "on", "portable", "raising", "scope", "size", "stream", "threads", "times",
    "wc", "value", "start", "stop",
];

/// Words of doc comments that name a group of facts.
pub(super) const FACT_GROUPS: [&str; 5] =
    ["memory facts", "array facts", "data facts", "export facts", "adapter facts"];

pub(super) fn page(side: &str, declarations: &Declarations) -> String {
    let operations = declarations.variants("Operation").expect("a side has operations");
    let folder = side.replace('-', "_");
    let mut page = format!("# Operations of `{side}`\n\n");
    let source = format!("conformance/suite/src/interface/{folder}/operation.rs");
    paragraph(
        &mut page,
        "",
        &format!(
            "The steps of a fixture of this side use these operations. \
             [fixtures/README.md](../../fixtures/README.md) describes steps and the fields that \
             many operations have, [facts.md](facts.md) the facts that operations return. A test \
             generates this page from the [operations](../../{source}) and their doc comments."
        ),
    );
    let mut names: Vec<String> = Vec::new();
    for operation in &operations {
        let name = snake_case(&operation.ident.to_string());
        names.push(format!("[`{name}`](#{name})"));
    }
    page.push('\n');
    paragraph(&mut page, "", &format!("{}.", names.join(", ")));
    for operation in operations {
        section(&mut page, operation, declarations);
    }
    page
}

fn section(page: &mut String, operation: &Variant, declarations: &Declarations) {
    let name = snake_case(&operation.ident.to_string());
    let fields = declarations.fields(operation);
    let members = declarations.held_enum(operation);
    let written = if members.is_some() { "{member: {...}}".to_owned() } else { shape(&fields) };
    let _ = write!(page, "\n## {name}\n\n```yaml\n{}```\n", folded(&format!("{name}: {written}")));
    let (facts, text): (Vec<String>, Vec<String>) =
        about(&operation.attrs).into_iter().partition(|paragraph| paragraph.starts_with("Facts: "));
    assert!(!text.is_empty(), "the operation {name} has no doc comment");
    for line in text {
        page.push('\n');
        paragraph(page, "", &line);
    }
    let mut list = String::new();
    for field in &fields {
        item(&mut list, "", &name, field, declarations);
    }
    for member in members.unwrap_or_default() {
        let fields = declarations.fields(member);
        let signature = format!("`{}: {}`", snake_case(&member.ident.to_string()), shape(&fields));
        let text = std::iter::once(signature).chain(about(&member.attrs)).collect::<Vec<_>>();
        bullet(&mut list, "", &text.join(": "));
    }
    if !list.is_empty() {
        page.push('\n');
        page.push_str(&list);
    }
    for line in facts {
        page.push('\n');
        paragraph(page, "", &linked(&line));
    }
}

/// The fields as a fixture writes them: `{size, mapped: false, stream?}`.
fn shape(fields: &[FieldEntry]) -> String {
    let words: Vec<String> = fields
        .iter()
        .map(|field| match &field.presence {
            Presence::Required => field.name.clone(),
            Presence::Optional => format!("{}?", field.name),
            Presence::Default(value) => format!("{}: {value}", field.name),
        })
        .collect();
    format!("{{{}}}", words.join(", "))
}

/// Explains a field, unless it needs no explanation.
fn item(
    list: &mut String,
    indent: &str,
    operation: &str,
    field: &FieldEntry,
    declarations: &Declarations,
) {
    let variants = declarations.variants(&field.type_name).unwrap_or_default();
    let inner = declarations.structure(&field.type_name).unwrap_or_default();
    let name = &field.name;
    if field.about.is_empty() && variants.is_empty() && inner.is_empty() {
        assert!(
            COMMON.contains(&name.as_str()),
            "the field {name} of {operation} has no doc comment"
        );
        return;
    }
    let described = variants.iter().any(|variant| !about(&variant.attrs).is_empty());
    let mut words = field.about.clone();
    if !variants.is_empty() && !described {
        let names = variants.iter().map(|variant| variant_name(variant));
        words.push(format!("One of {}.", names.collect::<Vec<_>>().join(", ")));
    }
    if !inner.is_empty() {
        let many = if field.is_list { "A list of" } else { "Its fields:" };
        words.push(format!("{many} `{}`.", shape(&inner)));
    }
    if words.is_empty() {
        words.push("One of:".to_owned());
    }
    bullet(list, indent, &format!("`{name}`: {}", words.join(" ")));
    let deeper = format!("{indent}  ");
    for variant in variants.iter().filter(|_| described) {
        let text = std::iter::once(variant_name(variant)).chain(about(&variant.attrs));
        bullet(list, &deeper, &text.collect::<Vec<_>>().join(": "));
    }
    for field in &inner {
        item(list, &deeper, operation, field, declarations);
    }
}

fn variant_name(variant: &Variant) -> String {
    let default = if is_default(variant) { " (default)" } else { "" };
    format!("`{}`{default}", snake_case(&variant.ident.to_string()))
}

fn bullet(list: &mut String, indent: &str, text: &str) {
    list.push_str(indent);
    list.push_str("- ");
    let start = list.len();
    paragraph(list, &format!("{indent}  "), text);
    // The first line follows the dash.
    list.replace_range(start..start + indent.len() + 2, "");
}

/// Adds lines of at most [`COLUMNS`] characters. Code is not broken.
fn paragraph(page: &mut String, indent: &str, text: &str) {
    let mut line = indent.to_owned();
    for word in words(text) {
        let space = usize::from(line.len() > indent.len());
        if line.chars().count() + space + word.chars().count() > COLUMNS {
            page.push_str(&line);
            page.push('\n');
            indent.clone_into(&mut line);
        } else if space == 1 {
            line.push(' ');
        }
        line.push_str(&word);
    }
    page.push_str(&line);
    page.push('\n');
}

/// The words between spaces that are not in code.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut in_code = false;
    for letter in text.chars() {
        in_code ^= letter == '`';
        if letter == ' ' && !in_code {
            words.push(String::new());
        } else {
            words.last_mut().expect("it is never empty").push(letter);
        }
    }
    words
}

/// The lines of a signature, broken after commas.
fn folded(signature: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for part in signature.split_inclusive(", ") {
        if line.len() + part.trim_end().len() > COLUMNS {
            let _ = writeln!(lines, "{}", line.trim_end());
            "  ".clone_into(&mut line);
        }
        line.push_str(part);
    }
    let _ = writeln!(lines, "{line}");
    lines
}

/// Links the groups of facts.
fn linked(facts: &str) -> String {
    FACT_GROUPS.iter().fold(facts.to_owned(), |text, group| {
        text.replace(group, &format!("[{group}](facts.md#{})", group.replace(' ', "-")))
    })
}
