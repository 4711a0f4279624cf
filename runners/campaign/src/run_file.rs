//! Run files on disk: plain, or compressed by gzip if the name ends in `.gz`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IntoInnerError, Write};
use std::path::Path;

use allocert_suite::RefusalCode;
use allocert_suite::run_format::{self, Header, Judged, ReadError, Run, Writer};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::failure::Failure;
use crate::spool::Spool;

/// Refuses a name that promises another compression.
pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
    let other = ["zst", "xz", "bz2", "zip", "lz4"].into_iter().find(|end| ends_in(path, end));
    match other {
        None => Ok(()),
        Some(other) => Err(Failure::refused(
            RefusalCode::UnwritableFile,
            format!(
                "cannot write {}: a run file is plain or compressed by gzip; end its name in .gz, \
                 not in .{other}",
                path.display()
            ),
        )),
    }
}

/// Writes a whole run. What the spool has takes the place of what is in the cases.
pub(crate) fn write(
    path: &Path,
    file: File,
    header: &Header,
    judged: &[Judged],
    spool: Option<&Spool>,
) -> io::Result<()> {
    let file = BufWriter::new(file);
    if ends_in(path, "gz") {
        // JSON comes in small pieces, and each piece would start the compressor.
        let encoder = BufWriter::new(GzEncoder::new(file, Compression::default()));
        let encoder = write_lines(encoder, header, judged, spool)?.into_inner();
        encoder.map_err(IntoInnerError::into_error)?.finish()?.flush()
    } else {
        write_lines(file, header, judged, spool)?.flush()
    }
}

fn write_lines<W: Write>(
    out: W,
    header: &Header,
    judged: &[Judged],
    spool: Option<&Spool>,
) -> io::Result<W> {
    let mut writer = Writer::begin(out, header)?;
    for judged in judged {
        match spool.map(|spool| spool.get(judged)).transpose()?.flatten() {
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
    let file = open(path)?;
    if !ends_in(path, "gz") {
        return Ok(run_format::read(&name, file)?);
    }
    run_format::read(&name, BufReader::new(MultiGzDecoder::new(file))).map_err(
        |error| match error {
            ReadError::Io { file, line, source } => Failure::refused(
                RefusalCode::InvalidRunFile,
                format!(
                    "{file}:{line}: the compressed file is cut off or damaged ({source}); run the \
                 suite again"
                ),
            ),
            other => other.into(),
        },
    )
}

/// Reads what is there of a run that was interrupted.
///
/// # Errors
/// As [`read`], but for the missing end.
pub(crate) fn read_partial(path: &Path) -> Result<Run, Failure> {
    if ends_in(path, "gz") {
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
