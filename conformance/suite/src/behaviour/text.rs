//! A behaviour as a snapshot file, in the form that `cargo insta review` shows: a header, then the
//! lines that a person reads.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{AFTER, BEFORE_FIRST, Behaviour, StepBehaviour};

/// The `source:` of a snapshot of ours. Other files of a folder are left alone.
pub const SOURCE: &str = "allocert snapshot";

const CALL: &str = "    ";
const RESULT: &str = "  -> ";

/// Why a text is no snapshot of a behaviour: the line, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct BehaviourError {
    pub line: usize,
    pub message: String,
    /// Whether the file is not ours, by its header.
    pub is_foreign: bool,
}

impl Behaviour {
    /// The snapshot file.
    #[must_use]
    pub fn to_text(&self) -> String {
        // A JSON string is a YAML string.
        let case = serde_json::Value::from(self.case.as_str());
        let mut out = format!("---\nsource: {SOURCE}\nexpression: {case}\n---\n");
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line(&format!("verdict: {}", self.verdict));
        self.findings.iter().for_each(|finding| line(&format!("finding: {finding}")));
        for step in &self.steps {
            line(&heading(step));
            step.calls.iter().for_each(|call| line(&format!("{CALL}{call}")));
            step.results.iter().for_each(|result| line(&format!("{RESULT}{result}")));
        }
        self.ending.iter().for_each(|text| line(&format!("ended: {text}")));
        out
    }

    /// Reads what [`Behaviour::to_text`] writes.
    ///
    /// # Errors
    /// The first line that is none of a snapshot.
    pub fn from_text(text: &str) -> Result<Self, BehaviourError> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let case = header(&mut lines)?;
        let mut behaviour = Self {
            case,
            verdict: String::new(),
            findings: Vec::new(),
            steps: Vec::new(),
            ending: Vec::new(),
        };
        for (number, line) in lines {
            let wrong = |message| BehaviourError { line: number, message, is_foreign: false };
            behaviour.add(line).map_err(wrong)?;
        }
        Ok(behaviour)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let stray = || format!("`{line}` belongs to no step");
        if let Some(verdict) = line.strip_prefix("verdict: ") {
            verdict.clone_into(&mut self.verdict);
        } else if let Some(finding) = line.strip_prefix("finding: ") {
            self.findings.push(finding.to_owned());
        } else if let Some(text) = line.strip_prefix("ended: ") {
            self.ending.push(text.to_owned());
        } else if let Some(result) = line.strip_prefix(RESULT) {
            self.steps.last_mut().ok_or_else(stray)?.results.push(result.to_owned());
        } else if let Some(call) = line.strip_prefix(CALL) {
            self.steps.last_mut().ok_or_else(stray)?.calls.push(call.to_owned());
        } else if line.starts_with("step ") || [BEFORE_FIRST, AFTER].contains(&line) {
            self.steps.push(read_heading(line));
        } else {
            return Err(format!("`{line}` is no line of a snapshot"));
        }
        Ok(())
    }
}

fn header<'t>(
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
) -> Result<String, BehaviourError> {
    let mut next = || lines.next().unwrap_or((1, ""));
    let (opening, source, expression, closing) = (next(), next(), next(), next());
    if opening.1 != "---" || source.1.strip_prefix("source: ") != Some(SOURCE) {
        let message = "this is no snapshot of allocert".to_owned();
        // A file that lost its lines was a snapshot once.
        let is_foreign = !opening.1.is_empty();
        return Err(BehaviourError { line: source.0, message, is_foreign });
    }
    let case = expression.1.strip_prefix("expression: ");
    let case = case.and_then(|case| serde_json::from_str(case).ok());
    match (case, closing.1) {
        (Some(case), "---") => Ok(case),
        _ => {
            let message = "the header names no case".to_owned();
            Err(BehaviourError { line: expression.0, message, is_foreign: false })
        }
    }
}

/// `step 2 memalloc [EMM-ALLOC-01, EMM-ALLOC-02]`.
fn heading(step: &StepBehaviour) -> String {
    let mut heading = step.title.clone();
    if !step.requirements.is_empty() {
        let requirements: Vec<&str> = step.requirements.iter().map(String::as_str).collect();
        let _infallible = write!(heading, " [{}]", requirements.join(", "));
    }
    heading
}

fn read_heading(line: &str) -> StepBehaviour {
    let (title, requirements) = match line.strip_suffix(']').and_then(|line| line.split_once(" ["))
    {
        Some((title, requirements)) => (title, requirements.split(", ").map(str::to_owned)),
        None => return StepBehaviour { title: line.to_owned(), ..StepBehaviour::default() },
    };
    let requirements: BTreeSet<String> = requirements.collect();
    StepBehaviour { title: title.to_owned(), requirements, ..StepBehaviour::default() }
}
