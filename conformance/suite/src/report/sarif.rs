//! SARIF 2.1.0: a rule for each requirement, a result for each cause. A cause stands at its first
//! finding; the other cases that show it are related locations. What else makes the run fail is a
//! notification.

use std::collections::BTreeMap;

use allocert_requirements::{Level, Requirement};
use serde_json::{Value, json};

use crate::causes::{Cause, Found, causes};
use crate::exit::Exit;
use crate::report::unrun::{Failure, failures};
use crate::report::{Report, clean, outcome};
use crate::verdict::Place;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The most cases that are named beside the first one of a cause.
const RELATED: usize = 20;

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let causes = causes(report.catalogue, report.cases);
    // Rules are in the order of their ids, and a result names its rule by its place.
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    for cause in &causes {
        let finding = cause.first().finding;
        let requirement = report.catalogue.get(&finding.requirement);
        rules
            .entry(&finding.requirement)
            .or_insert_with(|| rule(&finding.requirement, requirement));
    }
    let places: BTreeMap<&str, usize> =
        rules.keys().enumerate().map(|(place, id)| (*id, place)).collect();
    let results: Vec<Value> = causes.iter().map(|cause| result(report, cause, &places)).collect();
    let exit = report.exit();
    let header = report.header;
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "allocert",
                "version": header.allocert,
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "automationDetails": {
                "id": format!("allocert/{}/{}/", header.interface, clean(&header.subject.argument)),
            },
            "invocations": [{
                "executionSuccessful": exit != Exit::Harness,
                "exitCode": exit.code(),
                "toolExecutionNotifications":
                    failures(report).iter().map(notification).collect::<Vec<_>>(),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    super::json_text(&document)
}

/// Its level says whether the analysis is complete, as SARIF 2.1.0, 3.58.6 defines levels.
fn notification(failure: &Failure) -> Value {
    let level = if failure.is_incomplete { "error" } else { "warning" };
    json!({"level": level, "message": {"text": failure.text}})
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
    }
}

fn rule(id: &str, requirement: Option<&Requirement>) -> Value {
    let help = format!("More: allocert explain {id}");
    let Some(requirement) = requirement else {
        return json!({"id": id, "help": {"text": help}});
    };
    json!({
        "id": id,
        "shortDescription": {"text": requirement.statement.trim_end()},
        "help": {"text": help},
        "defaultConfiguration": {"level": level(requirement.level)},
        "properties": {
            "tags": [requirement.level.to_string()],
            "source": format!("{}, {}", requirement.source.text, requirement.source.section),
        },
    })
}

fn result(report: &Report<'_>, cause: &Cause<'_>, places: &BTreeMap<&str, usize>) -> Value {
    let Found { judged, finding } = cause.first();
    let mut text = outcome::describe(report, judged, finding).join("\n");
    if let Some(consequences) = outcome::consequences(cause) {
        text.push('\n');
        text.push_str(&consequences);
    }
    let others = cause.findings.iter().skip(1).take(RELATED);
    let related: Vec<Value> = others
        .map(|found| {
            let mut location = location(&found.finding.place, &found.finding.case);
            location["message"] = json!({"text": clean(&found.finding.case)});
            location
        })
        .collect();
    let mut result = json!({
        "ruleId": finding.requirement,
        "ruleIndex": places[finding.requirement.as_str()],
        "level": level(finding.level),
        "message": {"text": text},
        "locations": [location(&finding.place, &finding.case)],
        "relatedLocations": related,
        "occurrenceCount": cause.findings.len(),
        "partialFingerprints": {
            "requirementAndCase/v1": format!("{}:{}", finding.requirement, finding.case),
        },
    });
    if let Some(because) = &finding.expected_because {
        result["suppressions"] = json!([{"kind": "external", "justification": clean(because)}]);
    }
    result
}

fn location(place: &Place, case: &str) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": format!("fixtures/{}", place.file)},
            "region": {"startLine": place.line.max(1)},
        },
        "logicalLocations": [{"fullyQualifiedName": case, "kind": "function"}],
    })
}
