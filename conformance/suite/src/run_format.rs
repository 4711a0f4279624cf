//! The run file, in JSON lines. It has a header, then the plan, the observation and the verdict of
//! each case, then a footer. A file without the footer is truncated. All reports are made from this
//! file.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::observation::Observation;
use crate::offer::Driver;
use crate::plan::PlannedCase;
use crate::verdict::{Judgement, Verdict};

/// The version of the format that this program writes and reads.
pub const FORMAT: u32 = 2;

/// What stands in the place of a side in a worker's orders and in the header of a matrix's run:
/// the subject is `PRODUCER+CONSUMER`.
pub const PAIR_INTERFACE: &str = "cai-pair";

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of allocert that made the run.
    pub allocert: String,
    /// [`suite_hash`] of the fixtures and the catalogue.
    pub suite: String,
    /// `emm`, `emm-host`, ...
    pub interface: String,
    /// The profile that it was judged by; nothing for an interface of one text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    pub subject: Subject,
    /// The file that the subject was loaded from, as it was when the run began; nothing for a
    /// subject that is part of allocert, and in files of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_file: Option<SubjectFile>,
    pub driver: DriverInfo,
    /// When the run began, in milliseconds since 1970; nothing in files of versions that did not
    /// write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// Which cases of the side were run; nothing if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
}

/// A part of the cases of a side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The glob of `--filter`; all cases where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// `1/4`, of `--shard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
}

impl Selection {
    /// What it is in words, unless it is all cases.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let filter = self.filter.as_ref().map(|filter| format!("the cases of the filter {filter}"));
        let shard = self.shard.as_ref().map(|shard| format!("shard {shard}"));
        let words: Vec<String> = [filter, shard].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// The subject as the worker described it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// As it was given on the command line.
    pub argument: String,
    #[serde(default)]
    pub flavor: String,
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// `loaded.subject` as the worker sent it: name, version, file, host versions.
    #[serde(default)]
    pub details: BTreeMap<String, Value>,
}

/// Stands between a subject and how it is called.
pub(crate) const ABI: &str = " --abi ";

impl Subject {
    /// What [`Subject::argument`] is for a subject of the command line, with its ABI if it has one.
    #[must_use]
    pub fn argument_of(subject: &str, abi: Option<&str>) -> String {
        abi.map_or_else(|| subject.to_owned(), |abi| format!("{subject}{ABI}{abi}"))
    }
}

/// A file, by its name and its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectFile {
    /// Without its folder.
    pub name: String,
    pub size_bytes: u64,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// The driver under the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverInfo {
    pub kind: Driver,
    /// As `cuDriverGetVersion` reports it; nothing where it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The name of the first device, as `cuDeviceGetName` answers; nothing on the software driver,
    /// whose devices a case may choose, and in files of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl DriverInfo {
    /// The software driver.
    #[must_use]
    pub fn simulated() -> Self {
        Self { kind: Driver::Sim, version: None, device: None }
    }
}

/// The last line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Footer {
    pub cases: u64,
    /// Number of cases by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// The verdicts of each repeat, if the cases were run several times. The verdict of a case is
    /// the worst of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Repeats>,
}

/// The verdicts of the cases of all repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// How often the cases were run.
    pub count: u32,
    /// Case to verdict to the number of repeats that had it.
    pub verdicts: BTreeMap<String, BTreeMap<String, u32>>,
}

/// One case of a run with everything known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub case: PlannedCase,
    /// Nothing for a case that was not run.
    pub observation: Option<Observation>,
    pub judgement: Judgement,
}

impl Judged {
    /// How long it took, if it was run and somebody measured.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        self.observation.as_ref()?.duration_ms
    }

    /// Whether it conforms without a finding, or was not run.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let judgement = &self.judgement;
        let conforms = judgement.verdict == Verdict::Conforms && judgement.findings.is_empty();
        self.observation.is_none() || conforms
    }
}

/// A whole run, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub header: Header,
    pub cases: Vec<Judged>,
    pub footer: Footer,
}

/// One line of the file.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum LineOut<'a> {
    Header(&'a Header),
    Case(&'a PlannedCase),
    Observation(&'a Observation),
    Verdict(&'a Judgement),
    Footer(&'a Footer),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Header(Box<Header>),
    Case(Box<PlannedCase>),
    Observation(Box<Observation>),
    Verdict(Box<Judgement>),
    Footer(Footer),
}

/// Writes a run as it goes. Without [`Writer::finish`] the file has no footer and will be refused
/// as truncated.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    footer: Footer,
}

impl<W: Write> Writer<W> {
    /// Begins the file.
    ///
    /// # Errors
    /// Those of the underlying writer, as for all its functions.
    pub fn begin(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out, footer: Footer::default() };
        writer.line(&LineOut::Header(header))?;
        Ok(writer)
    }

    /// Adds one case.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn add(&mut self, judged: &Judged) -> io::Result<()> {
        self.line(&LineOut::Case(&judged.case))?;
        if let Some(observation) = &judged.observation {
            self.line(&LineOut::Observation(observation))?;
        }
        self.line(&LineOut::Verdict(&judged.judgement))?;
        self.footer.cases += 1;
        *self.footer.verdicts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
        Ok(())
    }

    /// Notes what several runs of the cases came to.
    pub fn set_repeats(&mut self, repeats: Option<Repeats>) {
        self.footer.repeats = repeats;
    }

    /// Hands on what was written so far, so that it is there if the program is killed.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes the footer and gives the writer back.
    ///
    /// # Errors
    /// Those of the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        let footer = std::mem::take(&mut self.footer);
        self.line(&LineOut::Footer(&footer))?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn line(&mut self, line: &LineOut<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }
}

/// Why a file is not a complete run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{file}:{line}: cannot be read: {source}")]
    Io { file: String, line: usize, source: io::Error },
    #[error(
        "{file}:1: not a run file of allocert: {message}; name one that `allocert run --out` wrote"
    )]
    Foreign { file: String, message: String },
    #[error(
        "{file}:1: written in format {found}, this program reads format {FORMAT}; judge it with \
         the allocert that wrote it ({allocert})"
    )]
    Format { file: String, found: u32, allocert: String },
    #[error(
        "{file}:1: the record of `allocert matrix`: two libraries ran in each case, and no command \
         reads it again; make other reports with `allocert matrix --html`, `--markdown` or \
         `--expect`"
    )]
    Matrix { file: String },
    #[error("{file}:{line}: {message}")]
    Line { file: String, line: usize, message: String },
    #[error(
        "{file}:{line}: the file ends without a footer: the run was cut off after {cases} cases; \
         run it again, or judge these with `allocert judge --partial`"
    )]
    Truncated { file: String, line: usize, cases: usize },
}

/// Reads a run strictly; `file` is the name to show in errors.
///
/// # Errors
/// The first line that is not what a complete run has there.
pub fn read(file: &str, input: impl BufRead) -> Result<Run, ReadError> {
    let (reader, footer) = read_lines(file, input)?;
    match footer {
        Some(footer) => reader.close(footer),
        None => Err(reader.cut()),
    }
}

/// As [`read`], but the file may end anywhere behind its header. A case that is not whole is left
/// out, and the footer counts those that are.
///
/// # Errors
/// As [`read`], but for the missing end.
pub fn read_partial(file: &str, input: impl BufRead) -> Result<Run, ReadError> {
    let (reader, footer) = read_lines(file, input)?;
    if let Some(footer) = footer {
        return reader.close(footer);
    }
    let mut footer = Footer::default();
    for judged in &reader.cases {
        footer.cases += 1;
        *footer.verdicts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
    }
    reader.close(footer)
}

/// No run writes a longer line: the trace of a case has a fixed size.
const LONGEST_LINE_BYTES: u64 = 256 << 20;

/// Reads a line without its end. False at the end of the file.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let count = input.by_ref().take(LONGEST_LINE_BYTES + 1).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 > LONGEST_LINE_BYTES {
        let limit = LONGEST_LINE_BYTES >> 20;
        return Err(io::Error::other(format!("the line is longer than {limit} MiB")));
    }
    Ok(count > 0)
}

/// Reads lines up to the end of the file, or to a line that stops in its middle.
fn read_lines(
    file: &str,
    mut input: impl BufRead,
) -> Result<(Reader<'_>, Option<Footer>), ReadError> {
    let mut reader = Reader { file, number: 0, header: None, cases: Vec::new(), open: None };
    let (mut footer, mut line) = (None, Vec::new());
    loop {
        let read = read_line(&mut input, &mut line).map_err(|source| ReadError::Io {
            file: file.to_owned(),
            line: reader.number + 1,
            source,
        })?;
        if !read {
            break;
        }
        reader.number += 1;
        if footer.is_some() {
            return Err(reader.wrong(
                "a run ends with its footer, and this line is behind it; give each run file by \
                 itself, or join shards with `allocert merge`"
                    .to_owned(),
            ));
        }
        match reader.line(&line) {
            Err(ReadError::Truncated { .. }) => return Ok((reader, None)),
            read => footer = read?,
        }
    }
    Ok((reader, footer))
}

struct Reader<'a> {
    file: &'a str,
    number: usize,
    header: Option<Header>,
    cases: Vec<Judged>,
    open: Option<(PlannedCase, Option<Observation>)>,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) -> Result<Option<Footer>, ReadError> {
        let parsed = match serde_json::from_slice::<Line>(line) {
            Ok(parsed) => parsed,
            Err(error) if self.header.is_none() => return Err(self.foreign(line, &error)),
            // A line that stops in its middle is the end of a file that was cut off.
            Err(error) if error.is_eof() => return Err(self.cut()),
            Err(error) => return Err(self.wrong(format!("not a line of a run file: {error}"))),
        };
        match (parsed, self.open.take()) {
            (Line::Header(header), None) if self.header.is_none() => {
                self.header = Some(self.accept(*header)?)
            }
            _ if self.header.is_none() => {
                return Err(ReadError::Foreign {
                    file: self.file.to_owned(),
                    message: "it does not begin with a header".to_owned(),
                });
            }
            (Line::Case(case), None) => self.open = Some((*case, None)),
            (Line::Observation(seen), Some((case, None))) if seen.case == case.id => {
                self.open = Some((case, Some(*seen)))
            }
            (Line::Verdict(verdict), Some((case, observation))) if verdict.case == case.id => {
                if observation.is_none() && verdict.verdict.ran() {
                    let (case, verdict) = (&case.id, verdict.verdict.name());
                    return Err(self.wrong(format!(
                        "case {case} has the verdict {verdict}, and nothing was observed of it"
                    )));
                }
                self.cases.push(Judged { case, observation, judgement: *verdict });
            }
            (Line::Footer(footer), None) => return Ok(Some(footer)),
            (_, Some((case, _))) => {
                return Err(self.wrong(format!("this line does not belong to case {}", case.id)));
            }
            (_, None) => return Err(self.wrong("this line belongs to no case".to_owned())),
        }
        Ok(None)
    }

    fn accept(&self, header: Header) -> Result<Header, ReadError> {
        let file = self.file.to_owned();
        if header.format != FORMAT {
            let (found, allocert) = (header.format, header.allocert);
            return Err(ReadError::Format { file, found, allocert });
        }
        if header.interface == PAIR_INTERFACE {
            return Err(ReadError::Matrix { file });
        }
        Ok(header)
    }

    fn close(self, footer: Footer) -> Result<Run, ReadError> {
        if footer.cases != self.cases.len() as u64 {
            let message = format!(
                "the footer counts {} cases, the file holds {}",
                footer.cases,
                self.cases.len()
            );
            return Err(self.wrong(message));
        }
        let mut verdicts = BTreeMap::new();
        for judged in &self.cases {
            *verdicts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
        }
        if footer.verdicts != verdicts {
            let message = format!(
                "the footer counts the verdicts {:?}, the file holds {verdicts:?}",
                footer.verdicts
            );
            return Err(self.wrong(message));
        }
        match self.header {
            Some(header) => Ok(Run { header, cases: self.cases, footer }),
            None => Err(ReadError::Foreign {
                file: self.file.to_owned(),
                message: "it has no header".to_owned(),
            }),
        }
    }

    /// A first line of another format says so by its number; anything else is another kind of file.
    fn foreign(&self, line: &[u8], error: &serde_json::Error) -> ReadError {
        let value: Option<Value> = serde_json::from_slice(line).ok();
        let header = value.as_ref().and_then(|value| value.get("header"));
        let found = header.and_then(|header| header.get("format")).and_then(Value::as_u64);
        match found.and_then(|found| u32::try_from(found).ok()) {
            Some(found) if found != FORMAT => {
                let allocert =
                    header.and_then(|header| header.get("allocert")).and_then(Value::as_str);
                let allocert = allocert.unwrap_or("unknown version").to_owned();
                ReadError::Format { file: self.file.to_owned(), found, allocert }
            }
            _ => ReadError::Foreign { file: self.file.to_owned(), message: error.to_string() },
        }
    }

    fn wrong(&self, message: String) -> ReadError {
        ReadError::Line { file: self.file.to_owned(), line: self.number, message }
    }

    fn cut(&self) -> ReadError {
        if self.header.is_none() {
            return ReadError::Foreign {
                file: self.file.to_owned(),
                message: "it is empty".to_owned(),
            };
        }
        ReadError::Truncated {
            file: self.file.to_owned(),
            line: self.number,
            cases: self.cases.len(),
        }
    }
}

/// The name of the first field in which two records of the same type differ.
#[must_use]
pub fn differing_field(one: &impl Serialize, other: &impl Serialize) -> Option<String> {
    let fields = |record: Option<Value>| match record {
        Some(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let own = fields(serde_json::to_value(one).ok());
    let others = fields(serde_json::to_value(other).ok());
    let all = own.keys().chain(others.keys());
    all.into_iter().find(|name| own.get(*name) != others.get(*name)).cloned()
}

/// Names a set of files: 64-bit FNV-1a over paths and texts. It tells suites apart; it protects
/// nothing.
#[must_use]
pub fn suite_hash<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for (path, text) in files {
        for byte in path.bytes().chain([0]).chain(text.bytes()).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}
