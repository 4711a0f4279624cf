//! The conditions of an entry of an expectation file: on which driver and device, and with which
//! versions, it is expected.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use serde_json::Value;

use crate::offer::Driver;
use crate::run_format::DriverInfo;

/// What the worker says about the subject, as in a run file.
pub type Details = BTreeMap<String, Value>;

/// `when` as it is written.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct When {
    #[serde(default)]
    driver: Option<Driver>,
    #[serde(default)]
    device: Option<String>,
    #[serde(default)]
    versions: BTreeMap<String, String>,
}

/// What must hold of a run. Without a condition every run is meant.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    driver: Option<Driver>,
    device: Option<GlobMatcher>,
    versions: Vec<(String, VersionRange)>,
}

/// What a condition cannot be.
#[derive(Debug)]
pub(crate) enum WrongCondition {
    /// The word that is no range of versions.
    Versions(String),
    Device(globset::Error),
}

impl Conditions {
    pub(crate) fn read(when: When) -> Result<Self, WrongCondition> {
        let read = |(package, text): (String, String)| match VersionRange::read(&text) {
            Some(range) => Ok((package, range)),
            None => Err(WrongCondition::Versions(text)),
        };
        let versions = when.versions.into_iter().map(read).collect::<Result<_, _>>()?;
        let device = when.device.map(|text| Glob::new(&text)).transpose();
        let device = device.map_err(WrongCondition::Device)?.map(|glob| glob.compile_matcher());
        Ok(Self { driver: when.driver, device, versions })
    }

    /// Whether they hold of a run. A version that the run does not name is in no range, and a
    /// device that it does not name matches no glob.
    #[must_use]
    pub fn hold(&self, driver: &DriverInfo, details: &Details) -> bool {
        let is_meant = |glob: &GlobMatcher| {
            driver.device.as_deref().is_some_and(|device| glob.is_match(device))
        };
        let in_range = |(package, range): &(String, VersionRange)| {
            version_of(details, package).is_some_and(|version| range.contains(&version))
        };
        self.driver.is_none_or(|wanted| wanted == driver.kind)
            && self.device.as_ref().is_none_or(is_meant)
            && self.versions.iter().all(in_range)
    }
}

/// The version of a package in a run: of the subject, or of a library that its worker imported.
fn version_of(details: &Details, package: &str) -> Option<String> {
    let normal = |name: &str| name.to_lowercase().replace('_', "-");
    let is_meant = |name: &str| normal(name) == normal(package);
    let host = details.get("host").and_then(Value::as_object);
    let imported = host.and_then(|host| host.iter().find(|(name, _)| is_meant(name)));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some((_, version)) = imported {
        return text(version);
    }
    let name = details.get("name").and_then(Value::as_str)?;
    is_meant(name).then(|| details.get("version").and_then(text))?
}

/// Each package of a list such as `numba-cuda 0.30.4, numba 0.68.1` of which a run has another
/// version, with that one: `numba-cuda 0.31.0`. What the run does not name is not compared.
pub(crate) fn other_versions(seen_on: &str, details: &Details) -> Vec<String> {
    let packages = seen_on.split([',', ';']).filter_map(|part| part.trim().rsplit_once(' '));
    let other = |(package, seen): (&str, &str)| {
        let version = version_of(details, package.trim())?;
        (version != seen).then(|| format!("{} {version}", package.trim()))
    };
    packages.filter_map(other).collect()
}

/// Such as `>=0.30,<0.32`.
#[derive(Debug, Clone)]
struct VersionRange(Vec<(Comparison, Vec<u64>)>);

#[derive(Debug, Clone, Copy)]
enum Comparison {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
    Other,
}

impl VersionRange {
    fn read(text: &str) -> Option<Self> {
        text.split(',').map(|part| bound(part.trim())).collect::<Option<_>>().map(Self)
    }

    fn contains(&self, version: &str) -> bool {
        let version = release(version);
        self.0.iter().all(|(comparison, bound)| {
            let order = compare(&version, bound);
            match comparison {
                Comparison::AtLeast => order != Ordering::Less,
                Comparison::AtMost => order != Ordering::Greater,
                Comparison::Above => order == Ordering::Greater,
                Comparison::Below => order == Ordering::Less,
                Comparison::Equal => order == Ordering::Equal,
                Comparison::Other => order != Ordering::Equal,
            }
        })
    }
}

fn bound(text: &str) -> Option<(Comparison, Vec<u64>)> {
    let operators = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        ("==", Comparison::Equal),
        ("!=", Comparison::Other),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
    let (version, comparison) = operators
        .into_iter()
        .find_map(|(operator, comparison)| Some((text.strip_prefix(operator)?, comparison)))?;
    let numbers: Option<Vec<u64>> =
        version.trim().split('.').map(|part| part.parse().ok()).collect();
    numbers.map(|numbers| (comparison, numbers))
}

/// The numbers at the beginning of a version: `0.30.4rc1` is 0, 30, 4. What follows is left out.
fn release(version: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    for part in version.split('.') {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let Ok(number) = part[..end].parse() else { break };
        numbers.push(number);
        if end < part.len() {
            break;
        }
    }
    numbers
}

/// A number that is not there is 0.
fn compare(one: &[u64], other: &[u64]) -> Ordering {
    let number = |version: &[u64], at: usize| version.get(at).copied().unwrap_or(0);
    let longest = one.len().max(other.len());
    let orders = (0..longest).map(|at| number(one, at).cmp(&number(other, at)));
    orders.fold(Ordering::Equal, Ordering::then)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_with_other_versions_than_seen_is_told_by_those_that_it_names() {
        let details = Details::from([
            ("host".to_owned(), json!({"numba_cuda": "0.31.0", "numpy": "2.4.6"})),
            ("name".to_owned(), json!("a pool")),
            ("version".to_owned(), json!("2")),
        ]);
        let other = |seen_on: &str| other_versions(seen_on, &details);
        assert_eq!(other("numba-cuda 0.30.4, numpy 2.4.6; NVIDIA H200"), ["numba-cuda 0.31.0"]);
        assert_eq!(other("a pool 1, Numba-CUDA 0.31.0"), ["a pool 2"]);
        assert_eq!(other("today"), [""; 0]);
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        let contains = |range: &str, version: &str| {
            VersionRange::read(range).expect("a range").contains(version)
        };
        assert!(contains(">=0.30", "0.30.4") && contains(">=0.30,<0.32", "0.31"));
        assert!(!contains(">=0.30", "0.9") && !contains("<0.30", "0.30"));
        assert!(contains("==2.4", "2.4.0") && contains("!=2.4", "2.4.1"));
        assert!(contains(">2.3", "2.4.0rc1") && contains("<=2.4", "2.4.0+cu13"));
        assert!(contains("<1", "unknown"), "a version without numbers is 0");
        for text in ["", "0.30", ">=", ">=0.30,", ">=a", "~=1.0", ">= 1.-2"] {
            assert!(VersionRange::read(text).is_none(), "{text}");
        }
    }
}
