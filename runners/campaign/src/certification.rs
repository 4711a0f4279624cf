//! Certificates: made from a run of all cases of a side, and verified without the subject.
//!
//! A certificate is a folder with three files. `certificate.json` says what is certified,
//! `run.jsonl.gz` is the run file, and `SHA256SUMS` has the digest of both in the format of the
//! program `sha256sum`.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use allocert_harness::Progress;
use allocert_requirements::requirement_set::{self, Requirements};
use allocert_suite::certificate::{self, Certificate};
use allocert_suite::exit::Exit;
use allocert_suite::report::clean;
use allocert_suite::run_format::{self, Header, Judged, Run, Selection};
use allocert_suite::{Catalogue, RefusalCode, Side};

use crate::failure::Failure;
use crate::output_file::{TEMPORARY, folder_of};
use crate::recorded_run::{choose_profile, judge_again, suite_of};
use crate::run::{self, RunOptions};
use crate::subject_file::{self, sha256_of};
use crate::verdict_reports::Verdicts;
use crate::workers::Workers;
use crate::{left_out, run_file, text_file};

const CERTIFICATE: &str = "certificate.json";
const RUN: &str = "run.jsonl.gz";
const DIGESTS: &str = "SHA256SUMS";

/// A judged run, and the certificate that was written of it.
#[derive(Debug)]
pub struct Certified {
    pub verdicts: Verdicts,
    /// Nothing if the subject does not conform, or the run could not be written.
    pub certificate: Option<Certificate>,
}

/// Runs all cases of a side, and writes a certificate as the folder `bundle` if the subject
/// conforms.
///
/// # Errors
/// As for [`run::run`], or the folder cannot be written.
pub fn certify(
    mut options: RunOptions,
    bundle: &Path,
    workers: &Workers,
    progress: &mut dyn Progress,
) -> Result<Certified, Failure> {
    let folder = NewFolder::begin(bundle)?;
    let begun = SystemTime::now();
    options.out = Some(folder.file(RUN));
    options.leaves_partial = false;
    let verdicts = run::run(&options, workers, progress)?;
    if verdicts.unwritten.is_some() || verdicts.exit() != Exit::Conforms {
        return Ok(Certified { verdicts, certificate: None });
    }
    let Verdicts { header, cases, catalogue, .. } = &verdicts;
    let requirements = requirements(catalogue, header);
    let certificate = Certificate::new(header, cases, requirements);
    refuse_changed_subject(header, begun)?;
    folder.write(CERTIFICATE, &format!("{}\n", pretty(&certificate)))?;
    folder.write(DIGESTS, &digest_list(folder.path())?)?;
    // What a reader will do must work now.
    let verified = verify(folder.path())?;
    if verified.verdicts.exit() != Exit::Conforms {
        return Err(Failure::harness(
            "the recorded run does not conform when it is judged again, so no certificate is \
             written; this is a defect of allocert, please report it",
        ));
    }
    folder.finish()?;
    Ok(Certified { verdicts, certificate: Some(certificate) })
}

/// A verified certificate.
#[derive(Debug)]
pub struct Verified {
    pub certificate: Certificate,
    /// Of the run, judged again.
    pub verdicts: Verdicts,
}

/// Reads a certificate, judges its run again, and compares all that it says with the run.
///
/// # Errors
/// A part is missing or was changed, or this program has another suite.
pub fn verify(bundle: &Path) -> Result<Verified, Failure> {
    check_digests(bundle)?;
    let (path, run_path) = (bundle.join(CERTIFICATE), bundle.join(RUN));
    let certificate = read_certificate(&path)?;
    let Run { header, mut cases, .. } = run_file::read(&run_path)?;
    let side = check_suite(&path, &certificate, &header)?;
    let mut catalogue = suite_of(&run_path, &header, &cases)?.catalogue;
    choose_profile(&mut catalogue, &header, None)?;
    check_what_ran(&run_path, &catalogue, &header, &cases)?;
    check_verdicts(&run_path, &catalogue, &mut cases)?;
    let verdicts = Verdicts::of_whole_run(header, cases, catalogue);
    if verdicts.exit() == Exit::Violations {
        return Ok(Verified { certificate, verdicts });
    }
    let requirements = requirement_set::in_force(&verdicts.catalogue, side);
    let mut expected = Certificate::new(&verdicts.header, &verdicts.cases, requirements);
    // Run files did not name the file at first.
    if verdicts.header.subject_file.is_none() {
        expected.subject_file.clone_from(&certificate.subject_file);
    }
    match run_format::differing_field(&certificate, &expected) {
        None => Ok(Verified { certificate, verdicts }),
        Some(field) => Err(invalid(
            &path,
            &format!("`{field}` is not what the run and the suite of this allocert say"),
        )),
    }
}

/// Refuses a file that is not the certified one.
///
/// # Errors
/// The file is another one or cannot be read, or the certificate names none.
pub fn check_subject(bundle: &Path, certificate: &Certificate, file: &Path) -> Result<(), Failure> {
    let Some(certified) = &certificate.subject_file else {
        let message = "it has no digest of a file of the subject, so no file can be compared with \
                       it; leave --subject out";
        return Err(invalid(&bundle.join(CERTIFICATE), message));
    };
    let found = subject_file::read(file).map_err(|error| unreadable(file, &error))?;
    if (&found.sha256, found.size_bytes) == (&certified.sha256, certified.size_bytes) {
        return Ok(());
    }
    let message = format!(
        "{}: it has {} bytes and the SHA-256 {}, and the certificate is about {} with {} bytes and \
         the SHA-256 {}; name the file that was certified, or certify this one",
        file.display(),
        found.size_bytes,
        found.sha256,
        clean(&certified.name),
        certified.size_bytes,
        clean(&certified.sha256)
    );
    Err(Failure::refused(RefusalCode::UncertifiedSubject, message))
}

/// Refuses a certificate of another suite, and says what it would lack here.
fn check_suite(path: &Path, certificate: &Certificate, header: &Header) -> Result<Side, Failure> {
    let Some(side) = Side::by_name(&header.interface) else {
        let side = clean(&header.interface);
        return Err(invalid(path, &format!("allocert knows no side `{side}`")));
    };
    if header.selection != Some(Selection::default()) {
        let message = "the run is only of some cases of the side; certify the subject again";
        return Err(invalid(path, message));
    }
    let suite = crate::Suite::of(&[side])?;
    let own = suite.hash();
    if own == header.suite {
        return Ok(side);
    }
    let mut catalogue = suite.catalogue;
    choose_profile(&mut catalogue, header, None)?;
    let (name, now) = requirement_set::in_force(&catalogue, side);
    let lacking = lacking(&certificate.requirements, &now);
    Err(Failure::refused(
        RefusalCode::ForeignCertificate,
        format!(
            "{}: the run was made with the suite {} (requirement set {}), and allocert {} has the \
             suite {own} (requirement set {name}): {lacking}; verify it with allocert {}, or \
             certify the subject again",
            path.display(),
            clean(&header.suite),
            clean(&certificate.requirement_set),
            env!("CARGO_PKG_VERSION"),
            clean(&header.allocert),
        ),
    ))
}

/// Which requirements of today a certificate does not speak of, in words.
fn lacking(certified: &Requirements, now: &Requirements) -> String {
    let missing = requirement_set::missing(certified, now);
    let missing: Vec<String> =
        missing.iter().map(|(id, level)| format!("{id} ({level})")).collect();
    match missing.as_slice() {
        [] => "the certificate lacks no requirement of this suite, but cases may differ".to_owned(),
        missing => format!("the certificate lacks {}", missing.join(", ")),
    }
}

/// Refuses a run in which a case was left out that the subject declares all needs of.
fn check_what_ran(
    path: &Path,
    catalogue: &Catalogue,
    header: &Header,
    cases: &[Judged],
) -> Result<(), Failure> {
    match left_out::runnable(catalogue, header, cases.iter()) {
        None => Ok(()),
        Some(judged) => Err(invalid(
            path,
            &format!("the case {} was not run, and the subject can run it", clean(&judged.case.id)),
        )),
    }
}

/// Judges each case again. A violation stays one; any other verdict must be the certified one.
fn check_verdicts(path: &Path, catalogue: &Catalogue, cases: &mut [Judged]) -> Result<(), Failure> {
    for judged in cases {
        let certified = judged.judgement.verdict.name();
        judge_again(catalogue, judged);
        let verdict = judged.judgement.verdict.name();
        if verdict != certified && verdict != "violates" {
            let case = clean(&judged.case.id);
            let message =
                format!("the case {case} is certified as {certified}, and its record is {verdict}");
            return Err(invalid(path, &message));
        }
    }
    Ok(())
}

fn requirements(catalogue: &Catalogue, header: &Header) -> (String, Requirements) {
    match Side::by_name(&header.interface) {
        Some(side) => requirement_set::in_force(catalogue, side),
        None => (requirement_set::UNFROZEN.to_owned(), Requirements::new()),
    }
}

fn read_certificate(path: &Path) -> Result<Certificate, Failure> {
    let text = text_file::read("certificate", path)?;
    let certificate: Certificate = serde_json::from_str(&text)
        .map_err(|error| invalid(path, &format!("it is no certificate: {error}")))?;
    if certificate.format == certificate::FORMAT {
        return Ok(certificate);
    }
    Err(Failure::refused(
        RefusalCode::ForeignCertificate,
        format!(
            "{}: written in format {}, this program reads format {}; verify it with allocert {}",
            path.display(),
            certificate.format,
            certificate::FORMAT,
            clean(&certificate.allocert)
        ),
    ))
}

fn pretty(certificate: &Certificate) -> String {
    serde_json::to_string_pretty(certificate).unwrap_or_default()
}

/// Refuses a file that was written or put in place after the run began: it is not what was tested.
fn refuse_changed_subject(header: &Header, begun: SystemTime) -> Result<(), Failure> {
    let path = header.subject.details.get("file").and_then(|file| file.as_str());
    let Some(facts) = path.and_then(|path| fs::metadata(path).ok()) else { return Ok(()) };
    let begun = begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // When the file was written, or got its name.
    let changed = Duration::new(
        facts.ctime().try_into().unwrap_or(0),
        facts.ctime_nsec().try_into().unwrap_or(0),
    );
    if changed <= begun {
        return Ok(());
    }
    let path = path.unwrap_or_default();
    let message = format!(
        "{}: it was changed while the subject was tested, so no certificate is written; run \
         certify again",
        clean(path)
    );
    Err(Failure::harness(message))
}

fn digest_list(folder: &Path) -> Result<String, Failure> {
    let row = |name: &str| -> Result<String, Failure> {
        let digest =
            sha256_of(&folder.join(name)).map_err(|error| Failure::unwritable(folder, &error))?;
        Ok(format!("{digest}  {name}\n"))
    };
    Ok(row(CERTIFICATE)? + &row(RUN)?)
}

/// Refuses a folder whose files are not those that its list of digests names.
fn check_digests(bundle: &Path) -> Result<(), Failure> {
    let list = bundle.join(DIGESTS);
    let entries = fs::read_dir(bundle).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| unreadable(bundle, &error))?;
    let is_plain = |entry: &DirEntry| entry.file_type().is_ok_and(|found| found.is_file());
    if let Some(odd) = entries.iter().find(|entry| !is_plain(entry)) {
        let name = odd.file_name().to_string_lossy().into_owned();
        return Err(invalid(bundle, &format!("{} is no plain file", clean(&name))));
    }
    let found: BTreeSet<String> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let expected = BTreeSet::from([CERTIFICATE, DIGESTS, RUN].map(str::to_owned));
    if let Some(missing) = expected.difference(&found).next() {
        return Err(invalid(bundle, &format!("the file {missing} is missing")));
    }
    if let Some(added) = found.difference(&expected).next() {
        let message = format!("the file {} is no part of a certificate", clean(added));
        return Err(invalid(bundle, &message));
    }
    let listed = text_file::read("list of digests", &list)?;
    let mut rows = listed.split_inclusive('\n');
    for name in [CERTIFICATE, RUN] {
        let path = bundle.join(name);
        let digest = sha256_of(&path).map_err(|error| unreadable(&path, &error))?;
        match rows.next() {
            Some(row) if row == format!("{digest}  {name}\n") => {}
            Some(row) if row.ends_with(&format!("  {name}\n")) => {
                return Err(invalid(
                    &path,
                    &format!("its SHA-256 is {digest}, and {DIGESTS} has another: one was changed"),
                ));
            }
            _ => return Err(invalid(&list, &format!("it has no line for {name}"))),
        }
    }
    match rows.next() {
        None => Ok(()),
        Some(_) => Err(invalid(&list, "it has a line too many")),
    }
}

/// How the name of a folder begins that is not whole yet.
const UNFINISHED: &str = ".allocert-certificate-";

/// A folder that has its name only when it is whole. It is locked until then: one that nobody has
/// locked is of a program that was killed.
struct NewFolder {
    folder: tempfile::TempDir,
    target: PathBuf,
    _lock: File,
}

impl NewFolder {
    fn begin(target: &Path) -> Result<Self, Failure> {
        if fs::symlink_metadata(target).is_ok() {
            let why = "it is there already; name a new folder, or remove it";
            return Err(Failure::unwritable(target, why));
        }
        remove_abandoned(folder_of(target));
        let folder = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(folder_of(target));
        let locked = folder.and_then(|folder| {
            let lock = File::open(folder.path())?;
            lock.lock_shared()?;
            // Another program may have taken it for abandoned before it was locked.
            fs::metadata(folder.path())?;
            Ok((folder, lock))
        });
        let (folder, lock) = locked.map_err(|error| Failure::unwritable(target, &error))?;
        Ok(Self { folder, target: target.to_owned(), _lock: lock })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        fs::write(self.file(name), text).map_err(|error| Failure::unwritable(&self.target, &error))
    }

    fn finish(self) -> Result<(), Failure> {
        let Self { folder, target, _lock } = self;
        let public = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), public)
            .and_then(|()| fs::rename(folder.path(), &target))
            .map_err(|error| Failure::unwritable(&target, &error))?;
        // The name that it would remove is gone.
        let _moved = folder.keep();
        Ok(())
    }
}

/// Removes what programs left in `parent` that were killed before their certificate was whole. What
/// cannot be removed stays: no certificate depends on it.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| has_prefix(entry, UNFINISHED)) {
        let is_folder = entry.file_type().is_ok_and(|found| found.is_dir());
        let Ok(folder) = File::open(entry.path()) else { continue };
        if is_folder && folder.try_lock().is_ok() {
            remove_unfinished(&entry.path());
        }
    }
}

/// Removes the files that a certificate consists of, whole or not, and then the folder if nothing
/// else is in it.
fn remove_unfinished(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = |entry: &DirEntry| {
        [CERTIFICATE, RUN, DIGESTS].iter().any(|name| entry.file_name() == *name)
            || has_prefix(entry, TEMPORARY)
    };
    for entry in entries.filter(ours) {
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_dir(folder);
}

fn has_prefix(entry: &DirEntry, prefix: &str) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot read {}: {error}", path.display());
    Failure::refused(RefusalCode::UnreadableFile, message)
}

fn invalid(path: &Path, message: &str) -> Failure {
    Failure::refused(RefusalCode::InvalidCertificate, format!("{}: {message}", path.display()))
}
