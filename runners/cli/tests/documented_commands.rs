//! The command lines of the documentation are accepted, and those that need nothing else end well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use tempfile::TempDir;

/// Commands that are not run: their page, how they begin, and why not.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("CONTRIBUTING.md", "", "commands of developers, which take minutes"),
    ("docs/tutorial.md", "", "test_tutorial.py runs them, and compares what they print"),
    ("README.md", "pip install", "it compiles the program again"),
    ("README.md", "allocert run emm my_plugin", "a plugin that violates, as in the tutorial"),
    ("README.md", "allocert run emm mylib.", "Python: the tutorial runs such a plugin"),
    ("README.md", "allocert run emm-host numba.cuda", "Python: test_hosts.py runs it"),
    ("README.md", "allocert run cai-producer", "Python: test_cai.py runs it"),
    ("README.md", "allocert run place", "functions of PyTorch's kind: functions.rs runs some"),
    ("docs/debug-a-case.md", "allocert debug", "a person works in the debugger"),
    ("docs/own-memory.md", "NUMBA_CUDA_MEMORY_MANAGER=", "the program is the reader's"),
    ("docs/python.md", "pytest", "Python: test_pytest_plugin.py runs such commands"),
    ("docs/subjects.md", "allocert run emm mylib.", "Python: the tutorial runs such a plugin"),
    ("docs/subjects.md", "allocert run cai-", "Python: test_cai.py runs them"),
    ("docs/subjects.md", "allocert run emm-host", "Python: test_hosts.py runs it"),
    ("docs/subjects.md", "allocert run nep49-host", "Python: test_nep49_host.py runs it"),
];

/// Pages that show command lines: README.md, CONTRIBUTING.md and those of docs.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/topics"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of pages");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        pages.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    pages
}

/// The arguments of `$ allocert run emm ./lib.so   # a comment`, without those behind `--`, which
/// are another program's.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let line = line.strip_prefix("$ allocert ")?;
    let words = line.split_whitespace();
    Some(words.take_while(|word| !["#", "--", "|", ">", "&&"].contains(word)).collect())
}

/// With `--help` at its end, a command line is read and nothing is done.
#[test]
fn each_documented_command_line_is_accepted() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for (number, arguments) in
            text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, arguments(line)?)))
        {
            let program = env!("CARGO_BIN_EXE_allocert");
            let output = Command::new(program).args(&arguments).arg("--help").output();
            let output = output.expect("the program was built");
            assert!(
                output.status.success(),
                "{}:{number}: {arguments:?}: {}",
                page.display(),
                String::from_utf8_lossy(&output.stderr)
            );
            count += 1;
        }
    }
    assert!(count > 30, "{count} command lines");
}

/// The commands of a page, in the order in which a reader gives them.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// The C code of a page.
fn code(text: &str) -> Option<&str> {
    let (_, code) = text.split_once("```c\n")?;
    Some(code.split_once("```")?.0)
}

/// A folder with what the pages take for granted: a plugin, a library of handlers, and the code of
/// the page.
fn folder_of(text: &str, handler: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| folder.path().join(name);
    let plugin = allocert_test_support::library("liballocert_emm_reference.so");
    fs::copy(plugin, file("libmyplugin.so")).expect("copied");
    fs::write(file("handler.c"), handler).expect("written");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Dallocert_nep49_handler=my_handler", "-o"]);
    compiler.arg(file("lib.so")).arg(file("handler.c"));
    assert!(compiler.status().expect("a C compiler").success());
    if let Some(code) = code(text) {
        fs::write(file("example.c"), code).expect("written");
    }
    folder
}

/// Runs a command in a folder as a reader does, for whom `allocert` is installed.
fn run(command: &str, folder: &Path) -> Result<(), String> {
    let program = Path::new(env!("CARGO_BIN_EXE_allocert"));
    let before = env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_owned).into_iter();
    let path = env::join_paths(folders.chain(env::split_paths(&before))).expect("no colon");
    let mut shell = Command::new("bash");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path);
    let output = shell.env("ALLOCERT_LIBCUDA", allocert_test_support::driver()).output();
    let output = output.expect("bash");
    let printed = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    output.status.success().then_some(()).ok_or(format!("{}\n{printed}{told}", output.status))
}

/// Each page has a folder of its own, in which its commands are given one after the other.
#[test]
fn each_documented_command_ends_well() {
    let root = allocert_test_support::repository();
    let handler = fs::read_to_string(root.join("docs/write-a-handler.md")).expect("a page");
    let handler = code(&handler).expect("its code");
    let (mut left_out, mut count) = (BTreeSet::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        let name = page.canonicalize().expect("a page");
        let name = name.strip_prefix(&root).expect("below the root").display().to_string();
        let mut folder = None;
        for command in commands(&text) {
            let is_meant = |one: &&(&str, &str, &str)| one.0 == name && command.starts_with(one.1);
            if let Some(one) = NOT_RUN.iter().find(is_meant) {
                left_out.insert(one);
                continue;
            }
            let folder = folder.get_or_insert_with(|| folder_of(&text, handler));
            run(command, folder.path()).unwrap_or_else(|why| panic!("{name}: {command}: {why}"));
            count += 1;
        }
    }
    assert_eq!(left_out, NOT_RUN.iter().collect(), "no page has a command that is left out");
    assert!(count > 12, "{count} commands");
}
