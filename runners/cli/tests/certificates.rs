//! Certificates: made, verified, and refused if anything in them was changed. The real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use rstest::rstest;

const PARTS: [&str; 3] = ["certificate.json", "run.jsonl.gz", "SHA256SUMS"];

fn allocert(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(arguments).env_remove("ALLOCERT_PYTHON");
    command.env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    command.output().expect("the program that cargo built starts")
}

/// Exit code, standard output and standard error.
fn told(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = allocert(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("our words are UTF-8");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn library(name: &str) -> PathBuf {
    let program = allocert_test_support::program();
    program.parent().expect("a folder").join(name)
}

/// What `certify` printed, and the content of each part of the certificate.
static CERTIFICATE: LazyLock<(String, Vec<Vec<u8>>)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bundle = folder.path().join("certificate");
    let subject = library("liballocert_nep49.so").display().to_string();
    let arguments = ["certify", "nep49", &subject, "-o", &bundle.display().to_string()];
    let (code, printed, words) = told(&arguments);
    assert_eq!((code, words.as_str()), (Some(0), ""), "{printed}");
    let left = fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(left, 1, "only the certificate is there");
    let printed = printed.replace(&bundle.display().to_string(), "BUNDLE");
    let parts = PARTS.map(|part| fs::read(bundle.join(part)).expect("a part"));
    (printed, parts.to_vec())
});

/// What a killed `certify` left goes at the next one in the same place. What somebody still writes
/// stays, and so does what is not allocert's.
#[test]
fn an_abandoned_certificate_is_removed() {
    let parent = tempfile::tempdir().expect("a temporary folder");
    let made = |name: &str, file: &str| {
        let folder = parent.path().join(name);
        fs::create_dir(&folder).expect("made");
        fs::write(folder.join(file), "").expect("written");
        folder
    };
    let abandoned = [
        made(".allocert-certificate-aaaaaa", "run.jsonl.gz"),
        made(".allocert-certificate-bbbbbb", ".allocert-cccccc"),
    ];
    let kept = [
        made(".allocert-certificate-dddddd", "notes.txt"),
        made(".allocert-certificate-eeeeee", "run.jsonl.gz"),
        made("certificate-ffffff", "run.jsonl.gz"),
    ];
    let locked = fs::File::open(&kept[1]).expect("it opens");
    locked.lock_shared().expect("nobody else has it");
    let bundle = parent.path().join("certificate").display().to_string();
    let (code, printed, words) = told(&["certify", "nep49", "./none.so", "-o", &bundle]);
    assert_eq!(code, Some(2), "{printed}{words}");
    assert!(abandoned.iter().all(|folder| !folder.exists()), "{abandoned:?}");
    for folder in &kept {
        assert_eq!(fs::read_dir(folder).expect("it is there").count(), 1, "{folder:?}");
    }
    let left = fs::read_dir(parent.path()).expect("it is there").count();
    assert_eq!(left, kept.len(), "nothing new is left");
}

/// A certificate that a test can change.
struct Bundle {
    folder: tempfile::TempDir,
}

impl Bundle {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (part, bytes) in PARTS.iter().zip(&CERTIFICATE.1) {
            fs::write(folder.path().join(part), bytes).expect("written");
        }
        Self { folder }
    }

    fn path(&self) -> String {
        self.folder.path().display().to_string()
    }

    fn part(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn shell(&self, script: &str) {
        let mut shell = Command::new("bash");
        let status = shell.args(["-e", "-c", script]).current_dir(self.folder.path()).status();
        assert!(status.expect("bash starts").success(), "{script}");
    }

    /// Changes the certificate's document.
    fn edit_certificate(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.part("certificate.json")).expect("a part");
        assert!(text.contains(from), "{from} is not in {text}");
        fs::write(self.part("certificate.json"), text.replacen(from, to, 1)).expect("written");
        self.digest();
    }

    /// Changes the run file.
    fn edit_run(&self, edit: impl Fn(&str) -> String) {
        self.shell("gunzip run.jsonl.gz");
        let text = fs::read_to_string(self.part("run.jsonl")).expect("a part");
        fs::write(self.part("run.jsonl"), edit(&text)).expect("written");
        self.shell("gzip run.jsonl");
        self.digest();
    }

    /// Whoever forges a certificate can compute digests.
    fn digest(&self) {
        self.shell("sha256sum certificate.json run.jsonl.gz > SHA256SUMS");
    }

    /// The words of the refusal.
    fn refused(&self) -> String {
        let (code, printed, words) = told(&["verify", &self.path()]);
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{words}");
        assert!(words.starts_with("allocert: error["), "{words}");
        words.replace(&self.path(), "BUNDLE")
    }
}

/// The text without the digest, and without what changes with each change of the suite.
fn stable(text: &str) -> String {
    let word = |word: &str| {
        let hexadecimal = word.len() >= 16 && word.chars().all(|c| c.is_ascii_hexdigit());
        if hexadecimal { "DIGEST".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| {
        let folder = library("").display().to_string();
        let words: Vec<String> = line.replace(&folder, "").split(' ').map(word).collect();
        match words.first().map(String::as_str) {
            Some("requirements:") => "requirements: ...".to_owned(),
            Some("cases:") => "cases: ...".to_owned(),
            Some("subject:") => [&words[..2], &["N".to_owned()], &words[3..]].concat().join(" "),
            _ => words.join(" "),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_subject_that_conforms_gets_a_certificate_that_can_be_verified() {
    insta::assert_snapshot!(stable(&CERTIFICATE.0), @"
    nep49 liballocert_nep49.so on the software driver, suite DIGEST
    requirements: ...
    subject: liballocert_nep49.so, N bytes, SHA-256 DIGEST
      interface_version: 1
    cases: ...
    the certificate is BUNDLE
    ");
    let bundle = Bundle::new();
    let (code, printed, words) = told(&["verify", &bundle.path()]);
    assert_eq!((code, words.as_str()), (Some(0), ""));
    insta::assert_snapshot!(stable(&printed), @"
    nep49 liballocert_nep49.so on the software driver, suite DIGEST
    requirements: ...
    subject: liballocert_nep49.so, N bytes, SHA-256 DIGEST
      interface_version: 1
    cases: ...
    the certificate is valid: its run, judged again, conforms
    ");
    bundle.shell("sha256sum --quiet -c SHA256SUMS");
    let run = bundle.part("run.jsonl.gz").display().to_string();
    assert_eq!(told(&["judge", &run]).0, Some(0));
    let certificate = fs::read_to_string(bundle.part("certificate.json")).expect("a part");
    let library = library("liballocert_nep49.so");
    let digest = Command::new("sha256sum").arg(library).output().expect("sha256sum").stdout;
    let digest = String::from_utf8(digest).expect("hexadecimal");
    let digest = digest.split(' ').next().expect("a digest");
    assert!(certificate.contains(&format!("\"sha256\": \"{digest}\"")), "{certificate}");
}

/// What identifies the file is a part of the run, so the certificate alone cannot name another one.
#[test]
fn a_certificate_is_about_the_file_that_was_loaded() {
    let certified = library("liballocert_nep49.so").display().to_string();
    let other = library("liballocert_place.so").display().to_string();
    let bundle = Bundle::new();
    assert_eq!(told(&["verify", &bundle.path(), "--subject", &certified]).0, Some(0));
    let (code, _, words) = told(&["verify", &bundle.path(), "--subject", &other]);
    assert_eq!(code, Some(2), "{words}");
    assert!(
        words.starts_with(&format!("allocert: error[uncertified-subject]: {other}: it has "))
            && words.contains(", and the certificate is about liballocert_nep49.so with "),
        "{words}"
    );
    bundle.edit_certificate("\"size_bytes\": ", "\"size_bytes\": 1");
    assert!(bundle.refused().contains("`subject_file` is not what the run"));
}

/// Run files did not name the file at first.
#[test]
fn a_run_that_names_no_file_can_be_verified() {
    let bundle = Bundle::new();
    bundle.edit_run(|text| {
        let begin = text.find(r#""subject_file":{"#).expect("the header names it");
        let end = begin + text[begin..].find("},").expect("more fields follow") + 2;
        format!("{}{}", &text[..begin], &text[end..])
    });
    let (code, printed, words) = told(&["verify", &bundle.path()]);
    assert_eq!((code, words.as_str()), (Some(0), ""), "{printed}");
}

/// The reference is a part of allocert.
#[test]
fn a_subject_without_a_file_cannot_be_compared_with_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bundle = folder.path().join("certificate").display().to_string();
    let (code, _, words) = told(&["certify", "nep49", "reference", "-o", &bundle]);
    assert_eq!(code, Some(0), "{words}");
    let (code, _, words) = told(&["verify", &bundle, "--subject", &bundle]);
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("it has no digest of a file of the subject"), "{words}");
}

#[test]
fn one_changed_byte_is_refused_wherever_it_is() {
    for (part, whole) in PARTS.iter().zip(&CERTIFICATE.1) {
        let bundle = Bundle::new();
        let places = (0..whole.len()).step_by(whole.len() / 12).chain([whole.len() - 1]);
        for place in places {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(bundle.part(part), changed).expect("written");
            let words = bundle.refused();
            let named = words.contains(part) || words.contains("SHA256SUMS");
            assert!(named, "{part} at {place}: {words}");
        }
        fs::write(bundle.part(part), &whole[..whole.len() - 1]).expect("written");
        bundle.refused();
        fs::remove_file(bundle.part(part)).expect("removed");
        bundle.refused();
    }
}

#[test]
fn a_file_that_is_no_part_is_refused() {
    let bundle = Bundle::new();
    fs::write(bundle.part("notes\u{1b}[2J"), "").expect("written");
    assert_eq!(
        bundle.refused(),
        "allocert: error[invalid-certificate]: BUNDLE: the file notes\\u{1b}[2J is no part of a \
         certificate\n"
    );
}

/// The digests are right in all of these: only the content gives them away.
#[rstest]
#[case::requirement_set("\"requirement_set\": \"", "\"requirement_set\": \"x", "requirement_set")]
#[case::level("\"NEP49-CALLOC-03\": \"SHOULD\"", "\"NEP49-CALLOC-03\": \"MAY\"", "requirements")]
#[case::count("\"not-applicable\": ", "\"not-applicable\": 1", "verdicts")]
#[case::profile("\"profile\": \"numpy-2\"", "\"profile\": \"nep49\"", "profile")]
#[case::subject("\"argument\": \"", "\"argument\": \"other", "subject")]
#[case::driver("\"kind\": \"sim\"", "\"kind\": \"real\"", "driver")]
#[case::allocert("\"allocert\": \"", "\"allocert\": \"9", "allocert")]
fn a_certificate_that_says_something_else_than_its_run_is_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] field: &str,
) {
    let bundle = Bundle::new();
    bundle.edit_certificate(from, to);
    assert_eq!(
        bundle.refused(),
        format!(
            "allocert: error[invalid-certificate]: BUNDLE/certificate.json: `{field}` is not what \
             the run and the suite of this allocert say\n"
        )
    );
}

#[rstest]
#[case::no_document("{\n", "[\n", "it is no certificate: ")]
#[case::unknown_field("\"format\": 1,", "\"format\": 1, \"x\": 1,", "unknown field `x`")]
#[case::format("\"format\": 1,", "\"format\": 9,", "written in format 9, this program reads")]
fn a_document_that_is_no_certificate_is_refused(
    #[case] from: &str,
    #[case] to: &str,
    #[case] words: &str,
) {
    let bundle = Bundle::new();
    bundle.edit_certificate(from, to);
    assert!(bundle.refused().contains(words), "{}", bundle.refused());
}

/// The lines of one case of a run, from its plan to its verdict.
fn case_lines<'t>(text: &'t str, id: &str) -> (usize, Vec<&'t str>) {
    let lines: Vec<&str> = text.lines().collect();
    let begin = format!("{{\"case\":{{\"id\":\"{id}\"");
    let first = lines.iter().position(|line| line.starts_with(&begin)).expect("the case is there");
    let length = lines[first..].iter().position(|line| line.starts_with("{\"verdict\""));
    (first, lines[first..=first + length.expect("it has a verdict")].to_vec())
}

/// The footer counts what is there.
fn with_footer(lines: &[&str]) -> String {
    let count = |verdict: &str| {
        let has = |line: &&&str| line.starts_with("{\"verdict\"") && line.contains(verdict);
        lines.iter().filter(has).count()
    };
    let (conforms, other) = (count("\"verdict\":\"conforms\""), count("\"not_applicable\""));
    let footer = format!(
        "{{\"footer\":{{\"cases\":{},\"verdicts\":{{\"conforms\":{conforms},\
         \"not-applicable\":{other}}}}}}}\n",
        conforms + other
    );
    lines[..lines.len() - 1].join("\n") + "\n" + &footer
}

const CASE: &str = "nep49/free/guessed-size-large/guess:1";

#[test]
fn a_run_without_one_of_its_cases_is_refused() {
    let bundle = Bundle::new();
    bundle.edit_run(|text| {
        let (first, case) = case_lines(text, CASE);
        let lines: Vec<&str> = text.lines().collect();
        with_footer(&[&lines[..first], &lines[first + case.len()..]].concat())
    });
    assert_eq!(
        bundle.refused(),
        format!(
            "allocert: error[invalid-run-file]: BUNDLE/run.jsonl.gz: the case {CASE} is missing, \
             and the header says that it was run; run the suite again\n"
        )
    );
}

/// Who hides a violation can take the observation out and say that the case does not apply.
#[test]
fn a_case_that_the_subject_can_run_cannot_be_called_not_applicable() {
    let bundle = Bundle::new();
    bundle.edit_run(|text| {
        let (first, case) = case_lines(text, CASE);
        let lines: Vec<&str> = text.lines().collect();
        let verdict = format!(
            "{{\"verdict\":{{\"case\":\"{CASE}\",\"verdict\":{{\"not_applicable\":{{\"reason\":\
             \"stops_no_thread\"}}}}}}}}"
        );
        let rest = &lines[first + case.len()..];
        with_footer(&[&lines[..=first], &[verdict.as_str()], rest].concat())
    });
    assert_eq!(
        bundle.refused(),
        format!(
            "allocert: error[invalid-certificate]: BUNDLE/run.jsonl.gz: the case {CASE} was not \
             run, and the subject can run it\n"
        )
    );
}

#[test]
fn a_run_of_a_part_of_the_cases_is_refused() {
    let bundle = Bundle::new();
    bundle.edit_run(|text| {
        text.replacen("\"selection\":{}", "\"selection\":{\"filter\":\"nep49/free/*\"}", 1)
    });
    assert!(bundle.refused().contains("the run is only of some cases of the side"));
}

#[test]
fn a_certificate_of_another_suite_is_refused_with_what_it_lacks() {
    let bundle = Bundle::new();
    let text = fs::read_to_string(bundle.part("certificate.json")).expect("a part");
    let of_suite = text.split_once("\"suite\": \"").expect("a suite").1;
    let suite = of_suite.split('"').next().expect("a hash").to_owned();
    bundle.edit_certificate(&suite, "0123456789abcdef");
    bundle.edit_certificate("    \"NEP49-FREE-01\": \"MUST\",\n", "");
    bundle.edit_certificate("\"NEP49-FREE-02\": \"MUST\"", "\"NEP49-FREE-02\": \"SHOULD\"");
    bundle.edit_run(|text| text.replacen(&suite, "0123456789abcdef", 1));
    let words = bundle.refused();
    assert!(words.starts_with("allocert: error[foreign-certificate]: "), "{words}");
    assert!(words.contains("the run was made with the suite 0123456789abcdef"), "{words}");
    let lacks = "the certificate lacks NEP49-FREE-01 (MUST), NEP49-FREE-02 (MUST); verify it with";
    assert!(words.contains(lacks), "{words}");
}

#[test]
fn a_subject_that_violates_gets_no_certificate() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (bundle, run) = (path("certificate"), path("run.jsonl.gz"));
    let library = library("liballocert_mutants.so").display().to_string();
    let subject = format!("{library}:mutant_nep49_free_trusts_size");
    let (code, printed, _) = told(&["certify", "nep49", &subject, "--out", &bundle]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.ends_with("\nno certificate is written: violations\n"), "{printed}");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);

    // A certificate that somebody puts around such a run is not valid.
    assert_eq!(told(&["run", "nep49", &subject, "--out", &run]).0, Some(1));
    let forged = Bundle::new();
    fs::copy(&run, forged.part("run.jsonl.gz")).expect("copied");
    forged.digest();
    let (code, printed, _) = told(&["verify", &forged.path()]);
    assert_eq!(code, Some(1), "{printed}");
    let last = "\nthe certificate is not valid: its run does not conform\n";
    assert!(printed.ends_with(last), "{printed}");
}

#[test]
fn a_certificate_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    fs::write(&file, "earlier").expect("written");
    let name = file.display().to_string();
    let (code, _, words) = told(&["certify", "nep49", "reference", "-o", &name]);
    assert_eq!(code, Some(2));
    let expected = "it is there already; name a new folder, or remove it\n";
    assert!(words.ends_with(expected), "{words}");
    assert_eq!(fs::read_to_string(&file).expect("read"), "earlier");
    let nowhere = folder.path().join("none/certificate").display().to_string();
    let (code, _, words) = told(&["certify", "nep49", "reference", "-o", &nowhere]);
    assert_eq!(code, Some(2));
    assert!(words.starts_with("allocert: error[unwritable-file]: cannot write "), "{words}");
}

#[test]
fn what_is_no_folder_of_a_certificate_is_refused() {
    for path in ["/nonexistent/certificate", "/dev/null"] {
        let (code, _, words) = told(&["verify", path]);
        assert_eq!(code, Some(2), "{words}");
        assert!(words.starts_with("allocert: error[unreadable-file]: "), "{words}");
    }
    assert!(!Path::new("/nonexistent").exists());
}

/// A pipe would be read for ever, and a link leads out of the certificate.
#[test]
fn a_part_that_is_no_plain_file_is_refused() {
    let bundle = Bundle::new();
    let part = bundle.part("run.jsonl.gz");
    fs::remove_file(&part).expect("it was there");
    std::os::unix::fs::symlink("/dev/zero", &part).expect("a link");
    let (code, printed, words) = told(&["verify", &bundle.path()]);
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{words}");
    assert!(words.contains("run.jsonl.gz is no plain file"), "{words}");
}

/// The digest would be that of another file than the one that was loaded.
#[test]
fn a_subject_that_is_replaced_meanwhile_gets_no_certificate() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [subject, new, bundle] =
        ["subject.so", "new.so", "certificate"].map(|name| folder.path().join(name));
    fs::copy(library("liballocert_nep49.so"), &subject).expect("a copy");
    let arguments = ["certify", "nep49", &subject.display().to_string(), "-o"].map(str::to_owned);
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(arguments).arg(&bundle);
    command.env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    let mut certify = command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program that cargo built starts");
    while certify.try_wait().expect("a child").is_none() {
        fs::copy(library("liballocert_nep49.so"), &new).expect("a copy");
        fs::rename(&new, &subject).expect("renamed");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let ended = certify.wait_with_output().expect("it ended");
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(3), "{words}");
    assert!(words.contains("it was changed while the subject was tested"), "{words}");
    assert!(!bundle.exists());
}
