//! What follows from verdicts: expectations, the run file, the JUnit report, the exit code.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use allocert_harness::Loaded;
use allocert_suite::exit::Exit;
use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::plan::PlannedCase;
use allocert_suite::repeats::Repeats;
use allocert_suite::report::{Report, clean, junit};
use allocert_suite::run_format::{Header, Judged};
use allocert_suite::verdict::Judgement;
use allocert_suite::{Catalogue, RefusalCode};

use crate::failure::Failure;
use crate::spool::Spool;
use crate::{clock, run_file, text_file};

/// What a user wants done with verdicts, from a new run or a recorded one.
#[derive(Debug, Clone, Default)]
pub struct VerdictOptions {
    /// The text that holds where the texts disagree; the interface's default where none is named.
    pub profile: Option<String>,
    /// The expectation file.
    pub expect: Option<PathBuf>,
    /// Where the JUnit report goes.
    pub junit: Option<PathBuf>,
}

/// A judged run.
#[derive(Debug)]
pub struct Verdicts {
    pub header: Header,
    pub cases: Vec<Judged>,
    /// What a person should know about the run besides.
    pub warnings: Vec<String>,
    /// The verdicts of each repeat, if the cases were run several times. The cases have the worst.
    pub repeats: Option<Repeats>,
    pub catalogue: Catalogue,
}

impl Verdicts {
    /// What a renderer takes.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report { header: &self.header, cases: &self.cases, catalogue: &self.catalogue }
    }

    #[must_use]
    pub fn exit(&self) -> Exit {
        self.report().exit()
    }
}

/// The files that verdicts are compared with and written to. All are opened before anything runs,
/// so that what is wrong with them is told at once.
#[derive(Debug)]
pub(crate) struct VerdictFiles {
    expectations: Option<ExpectationFile>,
    junit: Option<OutputFile>,
    runs: Vec<OutputFile>,
}

impl VerdictFiles {
    /// `cases` are all that the side has, whichever of them run.
    pub(crate) fn open(
        catalogue: &Catalogue,
        cases: &[&PlannedCase],
        options: &VerdictOptions,
        runs: &[Option<&Path>],
        input: Option<&Path>,
    ) -> Result<Self, Failure> {
        let expectations = options.expect.as_deref();
        let files = Self {
            expectations: expectations.map(|path| read(catalogue, cases, path)).transpose()?,
            junit: options.junit.as_deref().map(OutputFile::create).transpose()?,
            runs: runs
                .iter()
                .flatten()
                .map(|path| OutputFile::create_run(path))
                .collect::<Result<_, _>>()?,
        };
        refuse_one_file_twice(files.outputs().chain(expectations).chain(input))?;
        Ok(files)
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.runs.iter().chain(&self.junit).map(OutputFile::path)
    }

    /// Refuses to write the file of the subject, which is known when the subject is loaded.
    pub(crate) fn keep_apart_from(&self, subject: &Loaded) -> Result<(), Failure> {
        self.outputs().try_for_each(|output| refuse_to_overwrite(output, subject))
    }

    /// Applies the expectations and writes the files. The spool has what is not in the cases.
    pub(crate) fn apply(
        self,
        verdicts: &mut Verdicts,
        spool: Option<&Spool>,
    ) -> Result<(), Failure> {
        if let Some(expectations) = &self.expectations {
            let (meant, subject) = (&expectations.subject, &verdicts.header.subject.argument);
            if meant != subject {
                let file = &expectations.file;
                let note = format!("{file} is about the subject {meant}, and this is {subject}");
                verdicts.warnings.push(clean(&note));
            }
            let cases = verdicts.cases.iter_mut();
            let mut judgements: Vec<&mut Judgement> =
                cases.map(|judged| &mut judged.judgement).collect();
            expectations.apply(&mut judgements);
        }
        for run in self.runs {
            run.write_run(&verdicts.header, &verdicts.cases, spool)?;
        }
        if let Some(junit) = self.junit {
            let text = junit::render(&verdicts.report());
            let text = text.map_err(Failure::harness)?;
            junit.write_text(&text)?;
        }
        Ok(())
    }
}

/// Refuses to write a file that is read, or that is written for another purpose too: the same file
/// of the file system, whatever its names are.
pub(crate) fn refuse_one_file_twice<'p>(
    paths: impl Iterator<Item = &'p Path>,
) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for path in paths {
        // A device, such as /dev/null, takes any number of outputs.
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        if file.is_some_and(|file| !seen.insert((file.dev(), file.ino()))) {
            return Err(Failure::refused(
                RefusalCode::UnwritableFile,
                format!(
                    "cannot write {}: it is given twice, or it is also read; name another file",
                    path.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses an output that is the file of a subject.
pub(crate) fn refuse_to_overwrite(output: &Path, subject: &Loaded) -> Result<(), Failure> {
    let Some(file) = subject.subject.get("file").and_then(|file| file.as_str()) else {
        return Ok(());
    };
    if is_one_file(output, Path::new(file)) {
        let output = output.display();
        let message =
            format!("cannot write {output}: the subject was loaded from it; name another file");
        return Err(Failure::refused(RefusalCode::UnwritableFile, message));
    }
    Ok(())
}

fn is_one_file(one: &Path, other: &Path) -> bool {
    let id = |path| fs::metadata(path).ok().map(|file| (file.is_file(), file.dev(), file.ino()));
    id(one).is_some_and(|file| file.0 && Some(file) == id(other))
}

fn read(
    catalogue: &Catalogue,
    cases: &[&PlannedCase],
    path: &Path,
) -> Result<ExpectationFile, Failure> {
    let text = text_file::read("expectation file", path)?;
    let file = ExpectationFile::read(&path.display().to_string(), &text, catalogue)?;
    let cases: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    file.check_cases(&text, &cases)?;
    file.check_dates(&text, clock::today())?;
    Ok(file)
}

/// A file that is being written, and its name.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    file: File,
}

impl OutputFile {
    /// Opens the file. What it held stays there until the first write, so that a run that is
    /// refused or interrupted loses nothing.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| {
            Failure::refused(
                RefusalCode::UnwritableFile,
                format!("cannot write {}: {error}", path.display()),
            )
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// As [`OutputFile::create`], for a run file.
    pub(crate) fn create_run(path: &Path) -> Result<Self, Failure> {
        run_file::check_name(path)?;
        Self::create(path)
    }

    pub(crate) fn write_run(
        self,
        header: &Header,
        judged: &[Judged],
        spool: Option<&Spool>,
    ) -> Result<(), Failure> {
        let path = self.path.clone();
        self.write(|file| run_file::write(&path, file, header, judged, spool))
    }

    fn write(self, write: impl FnOnce(File) -> io::Result<()>) -> Result<(), Failure> {
        let Self { path, file } = self;
        let empty = |file: &File| if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) };
        empty(&file)
            .and_then(|()| write(file))
            .map_err(|error| Failure::harness(format!("cannot write {}: {error}", path.display())))
    }

    pub(crate) fn write_text(self, text: &str) -> Result<(), Failure> {
        self.write(|mut file| file.write_all(text.as_bytes()))
    }
}
