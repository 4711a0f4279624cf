//! Run files on disk: plain, or compressed by gzip or zstd if the name ends in `.gz` or `.zst`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IntoInnerError, Seek, Write};
use std::path::Path;

use allocert_harness::Error;
use allocert_suite::RefusalCode;
use allocert_suite::run_format::{self, Header, Judged, ReadError, Repeats, Run, Writer};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::failure::Failure;
use crate::spool::Spool;
use crate::zstandard;

/// What the name of a run file promises of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Gzip,
    Zstandard,
}

impl Format {
    /// What each file of the format begins with.
    fn magic(self) -> &'static [u8] {
        match self {
            Self::Plain => b"",
            Self::Gzip => &[0x1f, 0x8b],
            Self::Zstandard => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }

    /// Refuses a file that has only the name of the format.
    fn check_begin(self, path: &Path, file: &mut impl BufRead) -> Result<(), Failure> {
        let name = path.display();
        // What cannot be read is told by the reader.
        let begin = file.fill_buf().unwrap_or_default();
        if begin.is_empty() || begin.starts_with(self.magic()) {
            return Ok(());
        }
        let message = format!(
            "{name}: its name is that of a compressed file, and it is none of that format; rename \
             it as what it is"
        );
        Err(Failure::refused(RefusalCode::InvalidRunFile, message))
    }

    /// The format of a file by its name, or the ending of one that allocert does not know.
    fn of(path: &Path) -> Result<Self, &'static str> {
        if ends_in(path, "gz") {
            return Ok(Self::Gzip);
        }
        if ends_in(path, "zst") {
            return Ok(Self::Zstandard);
        }
        let other = ["zstd", "xz", "bz2", "zip", "lz4"].into_iter().find(|end| ends_in(path, end));
        other.map_or(Ok(Self::Plain), Err)
    }
}

/// Refuses a name that promises another compression.
pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
    format_of(path, RefusalCode::UnwritableFile, "write", "end its name in .gz or .zst").map(drop)
}

fn format_of(path: &Path, code: RefusalCode, verb: &str, advice: &str) -> Result<Format, Failure> {
    Format::of(path).map_err(|other| {
        let message = format!(
            "cannot {verb} {}: a run file is plain, or compressed by gzip or zstd; {advice} \
             (it ends in .{other})",
            path.display()
        );
        Failure::refused(code, message)
    })
}

/// What a run file holds.
pub(crate) struct Contents<'a> {
    pub(crate) header: &'a Header,
    pub(crate) judged: &'a [Judged],
    /// What it has takes the place of what is in the cases.
    pub(crate) spool: Option<&'a Spool>,
    pub(crate) repeats: Option<&'a Repeats>,
}

/// Writes a whole run.
pub(crate) fn write(path: &Path, file: File, contents: &Contents<'_>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    match Format::of(path).unwrap_or(Format::Plain) {
        Format::Plain => write_lines(file, contents)?.flush(),
        Format::Gzip => {
            // JSON comes in small pieces, and each piece would start the compressor.
            let encoder = BufWriter::new(GzEncoder::new(file, Compression::default()));
            let encoder = write_lines(encoder, contents)?.into_inner();
            encoder.map_err(IntoInnerError::into_error)?.finish()?.flush()
        }
        Format::Zstandard => {
            let lines = lines_in_temporary_file(contents);
            let lines = lines.map_err(|error| io::Error::other(Error::temporary(error)))?;
            file.write_all(&zstandard::compress(lines)?)?;
            file.flush()
        }
    }
}

/// The compressor takes what has an end that is known.
fn lines_in_temporary_file(contents: &Contents<'_>) -> io::Result<File> {
    let lines = write_lines(BufWriter::new(tempfile::tempfile()?), contents)?;
    let mut lines = lines.into_inner().map_err(IntoInnerError::into_error)?;
    lines.rewind()?;
    Ok(lines)
}

fn write_lines<W: Write>(out: W, contents: &Contents<'_>) -> io::Result<W> {
    let mut writer = Writer::begin(out, contents.header)?;
    writer.set_repeats(contents.repeats.cloned());
    for judged in contents.judged {
        match contents.spool.map(|spool| spool.get(judged)).transpose()?.flatten() {
            Some(whole) => writer.add(&whole)?,
            None => writer.add(judged)?,
        }
    }
    writer.finish()
}

/// Reads a whole run.
///
/// # Errors
/// The file cannot be read, or is no run file.
pub(crate) fn read(path: &Path) -> Result<Run, Failure> {
    let name = path.display().to_string();
    let format = format_of(path, RefusalCode::InvalidRunFile, "read", "decompress it first")?;
    let mut file = open(path)?;
    format.check_begin(path, &mut file)?;
    let damaged = |source: &io::Error, line: usize| {
        let message = format!(
            "{name}:{line}: the compressed file is cut off or damaged ({source}); run the suite \
             again"
        );
        Failure::refused(RefusalCode::InvalidRunFile, message)
    };
    let run = match format {
        Format::Plain => return Ok(run_format::read(&name, file)?),
        Format::Gzip => run_format::read(&name, BufReader::new(MultiGzDecoder::new(file))),
        Format::Zstandard => {
            let decoder = zstandard::Decoder::new(file).map_err(|error| damaged(&error, 1))?;
            run_format::read(&name, BufReader::new(decoder))
        }
    };
    run.map_err(|error| match error {
        ReadError::Io { line, source, .. } => damaged(&source, line),
        other => other.into(),
    })
}

/// Reads what is there of a run that was interrupted.
///
/// # Errors
/// As [`read`], but for the missing end.
pub(crate) fn read_partial(path: &Path) -> Result<Run, Failure> {
    if Format::of(path) != Ok(Format::Plain) {
        return Err(Failure::refused(
            RefusalCode::InvalidRunFile,
            format!(
                "{}: only a file that is not compressed can be partial; an interrupted run leaves \
                 {}.partial",
                path.display(),
                path.display()
            ),
        ));
    }
    Ok(run_format::read_partial(&path.display().to_string(), open(path)?)?)
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Failure::refused(
            RefusalCode::UnreadableFile,
            format!("cannot read the run file {name}: {error}"),
        )
    })?;
    Ok(BufReader::new(file))
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}
