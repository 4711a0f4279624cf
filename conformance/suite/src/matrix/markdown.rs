//! The matrix as Markdown, for a terminal and for documentation.

use strum::VariantArray as _;

use crate::matrix::{Cell, Exchange, Library, Matrix, State};
use crate::report::markdown::escape;

pub(crate) fn document(matrix: &Matrix) -> String {
    let mut lines = vec![
        "# Who can hand CUDA arrays to whom".to_owned(),
        String::new(),
        format!("Seen with allocert {} on {}, {}.", matrix.allocert, matrix.driver(), matrix.date),
        String::new(),
    ];
    lines.extend(table(matrix));
    lines.push(String::new());
    lines.extend(
        State::VARIANTS.iter().map(|state| {
            format!("- **{}** {}: {}", state.letter(), state.words(), state.meaning())
        }),
    );
    lines.extend([String::new(), "The cases:".to_owned(), String::new()]);
    lines.extend(matrix.cases().into_iter().map(|(case, about)| format!("- {case}: {about}")));
    if !matrix.missing.is_empty() {
        lines.extend([String::new(), "Not here:".to_owned(), String::new()]);
    }
    lines.extend(
        matrix.missing.iter().map(|one| format!("- `{}`: {}", one.adapter, escape(&one.reason))),
    );
    for (row, column, exchanges) in matrix.each() {
        let (producer, consumer) = (name(&matrix.producers[row]), name(&matrix.consumers[column]));
        lines.extend([String::new(), format!("## {producer} to {consumer}"), String::new()]);
        lines.extend(details(exchanges));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn details(exchanges: &[Exchange]) -> Vec<String> {
    let rows = Matrix::grouped(exchanges).into_iter().map(|group| {
        let (state, text) = (group[0].state, escape(&group[0].text));
        let names: Vec<&str> = group.iter().map(|one| one.case.as_str()).collect();
        format!("| **{}** {} | {} | {text} |", state.letter(), state.words(), names.join(", "))
    });
    ["| result | cases | what was seen |", "|---|---|---|"]
        .into_iter()
        .map(str::to_owned)
        .chain(rows)
        .collect()
}

fn table(matrix: &Matrix) -> Vec<String> {
    let consumers: Vec<String> = matrix.consumers.iter().map(name).collect();
    let mut lines = vec![
        format!("| producer ↓ consumer → | {} |", consumers.join(" | ")),
        format!("|---{}|", "|---".repeat(consumers.len())),
    ];
    for (producer, pairs) in matrix.producers.iter().zip(&matrix.pairs) {
        let cells = pairs.iter().map(|exchanges| {
            let cell = Cell::of(exchanges);
            format!("**{}** {}", cell.state.letter(), cell.words())
        });
        lines.push(format!("| {} | {} |", name(producer), cells.collect::<Vec<_>>().join(" | ")));
    }
    lines
}

fn name(library: &Library) -> String {
    escape(library.name())
}
