//! The formats in which a recorded run is reported.

use strum::{IntoStaticStr, VariantArray};

use crate::report::style::Palette;
use crate::report::terminal::{self, Detail};
use crate::report::{
    Report, badge, ctrf, github, json, junit, markdown, page, sarif, summary, tap,
};

/// A format of `allocert report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// What `allocert run` prints.
    Terminal,
    /// What a program reads: the verdicts and findings as data.
    Json,
    Junit,
    Sarif,
    Ctrf,
    /// TAP 14.
    Tap,
    /// Annotations of GitHub Actions.
    Github,
    Markdown,
    /// The outcome of a run in a few lines of JSON.
    Summary,
    /// The JSON of an endpoint badge of shields.io.
    Badge,
    /// One page about one run or several.
    Html,
}

impl Format {
    /// As the command line names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether one document can be about several runs.
    #[must_use]
    pub fn takes_several(self) -> bool {
        self == Self::Html
    }
}

/// The document about the runs; only a format that [`Format::takes_several`] looks further than
/// the first.
///
/// # Errors
/// Those of the XML writer, which a string does not cause.
pub fn render(
    format: Format,
    reports: &[Report<'_>],
    palette: Palette,
) -> Result<String, quick_junit::SerializeError> {
    let Some(report) = reports.first() else { return Ok(String::new()) };
    Ok(match format {
        Format::Terminal => terminal::render(report, Detail::Causes, palette),
        Format::Json => json::render(report),
        Format::Junit => junit::render(report)?,
        Format::Sarif => sarif::render(report),
        Format::Ctrf => ctrf::render(report),
        Format::Tap => tap::render(report),
        Format::Github => github::render(report),
        Format::Markdown => markdown::render(report),
        Format::Summary => summary::render(report),
        Format::Badge => badge::render(report),
        Format::Html => page::render(reports),
    })
}
