//! The matrix as one page: it loads nothing, runs no script, and is read on a telephone, in the
//! dark, and aloud.

use std::fmt::{self, Write};

use crate::matrix::{Cell, Exchange, Matrix, State};
use crate::report::clean;

pub(crate) fn page(matrix: &Matrix) -> String {
    let mut page = String::new();
    write(&mut page, matrix).expect("writing to a String cannot fail");
    page
}

fn write(page: &mut String, matrix: &Matrix) -> fmt::Result {
    let (allocert, driver, date) = (Text(&matrix.allocert), matrix.driver(), Text(&matrix.date));
    writeln!(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(page, "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{TITLE}</title>")?;
    writeln!(page, "<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{TITLE}</h1>")?;
    writeln!(
        page,
        "<p>The CUDA Array Interface between libraries, two at a time in one process. \
                    Seen with allocert {allocert} on {driver}, <time>{date}</time>.</p>"
    )?;
    overview(page, matrix)?;
    legend(page)?;
    cases(page, matrix)?;
    missing(page, matrix)?;
    writeln!(page, "<h2>Each pair</h2>")?;
    for (row, column, exchanges) in matrix.each() {
        pair(page, matrix, row, column, exchanges)?;
    }
    writeln!(page, "</main>\n</body>\n</html>")
}

fn overview(page: &mut String, matrix: &Matrix) -> fmt::Result {
    writeln!(
        page,
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"overview\" tabindex=\"0\">\n<table class=\"overview\">"
    )?;
    writeln!(
        page,
        "<caption id=\"overview\"><span>Arrays of the library in the row, given to the library in the column</span></caption>"
    )?;
    writeln!(page, "<thead>\n<tr><th scope=\"col\">from \\ to</th>")?;
    for consumer in &matrix.consumers {
        writeln!(page, "<th scope=\"col\">{}</th>", Text(consumer.name()))?;
    }
    writeln!(page, "</tr>\n</thead>\n<tbody>")?;
    for (row, (producer, pairs)) in matrix.producers.iter().zip(&matrix.pairs).enumerate() {
        writeln!(page, "<tr><th scope=\"row\">{}</th>", Text(producer.name()))?;
        for (column, exchanges) in pairs.iter().enumerate() {
            let Cell { state, counts } = Cell::of(exchanges);
            write!(
                page,
                "<td class=\"{}\">{} <a href=\"#pair-{row}-{column}\">{}</a><ul>",
                class(state),
                Letter(state),
                state.words()
            )?;
            for (state, count) in counts {
                write!(page, "<li>{}: {count}</li>", state.words())?;
            }
            writeln!(page, "</ul></td>")?;
        }
        writeln!(page, "</tr>")?;
    }
    writeln!(page, "</tbody>\n</table>\n</div>")
}

fn legend(page: &mut String) -> fmt::Result {
    writeln!(
        page,
        "<h2>What the words mean</h2>\n<p>A cell shows the worst that happened in it.</p>\n<dl>"
    )?;
    for state in State::ALL {
        writeln!(
            page,
            "<dt class=\"{}\">{}</dt><dd>{}</dd>",
            class(state),
            Badge(state),
            state.meaning()
        )?;
    }
    writeln!(page, "</dl>")
}

fn cases(page: &mut String, matrix: &Matrix) -> fmt::Result {
    writeln!(page, "<h2>What the cases are about</h2>\n<dl>")?;
    for (case, about) in matrix.cases() {
        writeln!(page, "<dt><b>{}</b></dt><dd>{}</dd>", Text(case), Text(about))?;
    }
    writeln!(page, "</dl>")
}

fn missing(page: &mut String, matrix: &Matrix) -> fmt::Result {
    if matrix.missing.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Not here</h2>\n<ul>")?;
    for one in &matrix.missing {
        writeln!(page, "<li><code>{}</code>: {}</li>", Text(&one.adapter), Text(&one.reason))?;
    }
    writeln!(page, "</ul>")
}

fn pair(
    page: &mut String,
    matrix: &Matrix,
    row: usize,
    column: usize,
    exchanges: &[Exchange],
) -> fmt::Result {
    let (producer, consumer) =
        (Text(matrix.producers[row].name()), Text(matrix.consumers[column].name()));
    let id = format!("pair-{row}-{column}");
    writeln!(
        page,
        "<section id=\"{id}\" aria-labelledby=\"{id}-name\">\n<h3 id=\"{id}-name\">{producer} to {consumer}</h3>"
    )?;
    writeln!(
        page,
        "<table class=\"pair\">\n<thead><tr><th scope=\"col\">Result</th><th scope=\"col\">Cases</th>\
                    <th scope=\"col\">What was seen</th></tr></thead>\n<tbody>"
    )?;
    for group in Matrix::grouped(exchanges) {
        let Exchange { state, text, .. } = group[0];
        let names: Vec<&str> = group.iter().map(|one| one.case.as_str()).collect();
        write!(page, "<tr><td class=\"{}\">{}</td>", class(*state), Badge(*state))?;
        writeln!(page, "<td>{}</td><td>{}</td></tr>", Text(&names.join(", ")), Text(text))?;
    }
    writeln!(page, "</tbody>\n</table>\n</section>")
}

/// A letter and a word: colour says nothing that they do not.
struct Badge(State);

impl fmt::Display for Badge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Letter(self.0), self.0.words())
    }
}

/// The letter alone, which is not read aloud: the word follows.
struct Letter(State);

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<b class=\"letter\" aria-hidden=\"true\">{}</b>", self.0.letter())
    }
}

fn class(state: State) -> &'static str {
    match state {
        State::Crashes | State::Misreads => "bad",
        State::RacesForward | State::RacesBack => "odd",
        State::Exchanges => "good",
        State::Refuses => "no",
        State::Unseen | State::Unavailable => "faint",
    }
}

/// Anybody's text, as text.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in clean(self.0).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

const TITLE: &str = "Who can hand CUDA arrays to whom";

/// The pairs of colours have a contrast of 4.5 to 1 and more.
const STYLE: &str = include_str!("html.css");
