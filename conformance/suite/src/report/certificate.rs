//! What a certificate says, for a person who verified it or who made it.

use allocert_requirements::Level;

use serde_json::Value;

use crate::certificate::Certificate;
use crate::report::clean;
use crate::report::style::Palette;

/// The certificate, with a newline at its end.
#[must_use]
pub fn render(certificate: &Certificate, palette: Palette) -> String {
    let mut out = String::new();
    let subject = palette.strong(clean(&certificate.subject.argument));
    let driver = certificate.driver.kind.words();
    let (side, suite) = (clean(&certificate.side), clean(&certificate.suite));
    line!(out, "{side} {subject} on the {driver}, suite {suite}");
    line!(out, "requirements: {}", requirements(certificate));
    line!(out, "subject: {}", subject_file(certificate));
    let unknown =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    for (name, value) in &certificate.subject.details {
        if name != "file" && name != "name" && !unknown(value) {
            line!(out, "  {}: {}", clean(name), clean(&value.to_string()));
        }
    }
    let verdicts: Vec<String> = certificate
        .verdicts
        .iter()
        .map(|(verdict, count)| format!("{count} {}", clean(verdict)))
        .collect();
    line!(out, "cases: {}", verdicts.join(", "));
    out
}

fn requirements(certificate: &Certificate) -> String {
    let count = |level| certificate.requirements.values().filter(|one| **one == level).count();
    let profile = certificate.profile.as_deref().map(|name| format!(", profile {}", clean(name)));
    format!(
        "{}{}: {} MUST, {} SHOULD, {} MAY",
        clean(&certificate.requirement_set),
        profile.unwrap_or_default(),
        count(Level::Must),
        count(Level::Should),
        count(Level::May)
    )
}

fn subject_file(certificate: &Certificate) -> String {
    match &certificate.subject_file {
        Some(file) => format!(
            "{}, {} bytes, SHA-256 {}",
            clean(&file.name),
            file.size_bytes,
            clean(&file.sha256)
        ),
        None => "has no file of its own".to_owned(),
    }
}
