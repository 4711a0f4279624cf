//! `cargo xtask results`: certifies the known libraries that run on the software driver, and writes
//! what each run came to into `docs/results`. A test of `conformance/tidy` makes the page
//! `docs/results.md` of these files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::python::{self, Build};
use crate::shell::{self, Fault};
use crate::workspace;

/// What is installed beside the pinned requirements for these runs alone.
const BESIDE: [&str; 1] = ["warp"];

/// A library on one side.
struct Subject {
    side: &'static str,
    /// The argument SUBJECT; `{library}` stands for the file of the package.
    argument: &'static str,
    package: Package,
    /// What the name of the result has behind the version, where a package has several subjects.
    part: &'static str,
    /// The folder of `.venv` at the front of PYTHONPATH, or a folder of this repository.
    path: &'static str,
    options: &'static [&'static str],
    /// In `fixtures/expectations`.
    expect: &'static str,
}

/// Where a library comes from; its version is asked there.
enum Package {
    /// This repository.
    Own,
    /// A package of Python.
    Python(&'static str),
    /// A package of Debian, and the library in it.
    Debian(&'static str, &'static str),
}

const BARE: Subject = Subject {
    side: "",
    argument: "",
    package: Package::Own,
    part: "",
    path: "",
    options: &[],
    expect: "",
};

const SUBJECTS: &[Subject] = &[
    Subject { side: "emm", argument: "reference", ..BARE },
    Subject { side: "emm", argument: "allocert.numba", part: "numba", ..BARE },
    Subject {
        side: "emm",
        argument: "numba.cuda.cudadrv.driver:NumbaCUDAMemoryManager",
        package: Package::Python("numba-cuda"),
        expect: "numba-cuda-0.30.4.yaml",
        ..BARE
    },
    Subject {
        side: "emm",
        argument: "rmm_standin",
        package: Package::Python("rmm-cu13"),
        path: "runners/python/tests/standin",
        expect: "rmm-26.10.yaml",
        ..BARE
    },
    Subject {
        side: "emm-host",
        argument: "numba.cuda",
        package: Package::Python("numba-cuda"),
        expect: "numba-cuda-0.30.4-host.yaml",
        ..BARE
    },
    Subject { side: "cai-producer", argument: "reference", ..BARE },
    Subject {
        side: "cai-producer",
        argument: "allocert.adapters.numba_cuda:Producer",
        package: Package::Python("numba-cuda"),
        expect: "numba-cuda-0.30.4-cai-producer.yaml",
        ..BARE
    },
    Subject {
        side: "cai-producer",
        argument: "allocert.adapters.warp:Producer",
        package: Package::Python("warp-lang"),
        path: ".venv/warp",
        options: &["--timeout", "60"],
        expect: "warp-1.19.0-cai-producer.yaml",
        ..BARE
    },
    Subject { side: "cai-consumer", argument: "reference", ..BARE },
    Subject {
        side: "cai-consumer",
        argument: "allocert.adapters.numba_cuda:Consumer",
        package: Package::Python("numba-cuda"),
        expect: "numba-cuda-0.30.4-cai-consumer.yaml",
        ..BARE
    },
    Subject {
        side: "cai-consumer",
        argument: "allocert.adapters.cuda_core:Consumer",
        package: Package::Python("cuda-core"),
        expect: "cuda-core-1.2.2-cai-consumer.yaml",
        ..BARE
    },
    Subject {
        side: "cai-consumer",
        argument: "allocert.adapters.warp:Sized",
        package: Package::Python("warp-lang"),
        path: ".venv/warp",
        options: &["--timeout", "60"],
        expect: "warp-1.19.0-cai-consumer.yaml",
        ..BARE
    },
    Subject { side: "nep49", argument: "reference", ..BARE },
    Subject { side: "nep49", argument: "allocert.numpy:handler", part: "numpy", ..BARE },
    Subject {
        side: "nep49",
        argument: "numpy_allocator:default_handler",
        package: Package::Python("numpy"),
        ..BARE
    },
    NUMPY_AS_HOST,
    Subject { path: ".venv/numpy-1.26", expect: "numpy-1.26.4-nep49-host.yaml", ..NUMPY_AS_HOST },
    Subject { path: ".venv/numpy-2.0", expect: "numpy-2.0.2-nep49-host.yaml", ..NUMPY_AS_HOST },
    Subject { path: ".venv/numpy-2.3", expect: "numpy-2.3.5-nep49-host.yaml", ..NUMPY_AS_HOST },
    Subject { side: "place", argument: "reference", ..BARE },
    Subject {
        side: "place",
        argument: "{library}",
        package: Package::Debian("libjemalloc2", "libjemalloc.so.2"),
        options: &["--abi", "malloc"],
        ..BARE
    },
    Subject {
        side: "place",
        argument: "{library}",
        package: Package::Debian("libmimalloc2.0", "libmimalloc.so.2.0"),
        options: &["--abi", "malloc:mi_malloc,mi_free"],
        ..BARE
    },
    Subject {
        side: "place",
        argument: "{library}",
        package: Package::Debian("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
        options: &["--abi", "malloc"],
        ..BARE
    },
    Subject {
        side: "place",
        argument: "cuda.core:DeviceMemoryResource",
        package: Package::Python("cuda-core"),
        part: "device",
        options: &["--abi", "cuda-core"],
        ..BARE
    },
    Subject {
        side: "place",
        argument: "core_resources:pinned",
        package: Package::Python("cuda-core"),
        part: "page-locked",
        path: "runners/gpu/subjects",
        options: &["--abi", "cuda-core"],
        ..BARE
    },
];

/// The newest NumPy of the requirements.
const NUMPY_AS_HOST: Subject = Subject {
    side: "nep49-host",
    argument: "numpy",
    package: Package::Python("numpy"),
    options: &["--faults=every"],
    expect: "numpy-2.4.6-nep49-host.yaml",
    ..BARE
};

/// With words, only the subjects with one of them in their side, argument or package.
pub(crate) fn results(words: &[String]) -> Result<ExitCode, Fault> {
    python::create()?;
    python::install_requirements()?;
    BESIDE.into_iter().try_for_each(python::install_beside)?;
    let products = workspace::build_package()?;
    python::install(Build::Built(&products))?;
    let mut written = BTreeSet::new();
    for subject in SUBJECTS.iter().filter(|subject| subject.is_meant(words)) {
        written.insert(subject.certify(&products.join("allocert"))?);
    }
    if words.is_empty() {
        remove_others(&written)?;
    }
    shell::cargo()
        .args(["test", "--quiet", "-p", "allocert-tidy", "results"])
        .env("ALLOCERT_BLESS", "1")
        .done()?;
    Ok(ExitCode::SUCCESS)
}

fn folder() -> PathBuf {
    workspace::root().join("docs/results")
}

/// The results of subjects that are no longer in the table, and of versions before this one.
fn remove_others(written: &BTreeSet<PathBuf>) -> Result<(), Fault> {
    let failed = |cause| Fault::Missing(format!("{}: {cause}", folder().display()));
    for entry in fs::read_dir(folder()).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if !written.contains(&path) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

impl Subject {
    fn is_meant(&self, words: &[String]) -> bool {
        let package = match self.package {
            Package::Own => "allocert",
            Package::Python(name) | Package::Debian(name, _) => name,
        };
        let text = format!("{} {} {package}", self.side, self.argument);
        words.is_empty() || words.iter().any(|word| text.contains(word.as_str()))
    }

    /// Gives the file of the result.
    fn certify(&self, program: &Path) -> Result<PathBuf, Fault> {
        let (name, argument) = self.name_and_argument()?;
        let run = workspace::target().join("results.jsonl.gz");
        let mut step = shell::run(program)
            .args(["run", self.side, &argument])
            .args(self.options)
            .args([Path::new("--python"), &python::interpreter()])
            .args([Path::new("--out"), &run])
            .env("PYTHONPATH", self.python_path())
            // libjemalloc.so.2 asks for more of it than the loader keeps for dlopen().
            .env("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=65536");
        if !self.expect.is_empty() {
            let expected = workspace::root().join("fixtures/expectations").join(self.expect);
            step = step.args([Path::new("--expect"), &expected]);
        }
        step.done()?;
        let result = folder().join(format!("{}-{name}.json", self.side));
        shell::run(program)
            .args(["report", "--format", "summary"])
            .args([Path::new("--out"), &result, &run])
            .done()?;
        Ok(result)
    }

    /// `numba-cuda-0.30.4`, and what the program is given.
    fn name_and_argument(&self) -> Result<(String, String), Fault> {
        let (mut name, library) = match self.package {
            Package::Own => (format!("allocert-{}", env!("CARGO_PKG_VERSION")), String::new()),
            Package::Python(package) => (self.python_package(package)?, String::new()),
            Package::Debian(package, library) => debian_package(package, library)?,
        };
        if !self.part.is_empty() {
            name = format!("{name}_{}", self.part);
        }
        Ok((name, self.argument.replace("{library}", &library)))
    }

    fn python_package(&self, package: &str) -> Result<String, Fault> {
        const VERSION: &str =
            "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))";
        let version = shell::run(python::interpreter())
            .args(["-c", VERSION, package])
            .env("PYTHONPATH", self.python_path())
            .text()?;
        Ok(format!("{package}-{version}"))
    }

    fn python_path(&self) -> PathBuf {
        if self.path.is_empty() { PathBuf::new() } else { workspace::root().join(self.path) }
    }
}

/// Fetches a package of Debian and unpacks it below `target`: nothing is installed. Gives its name
/// with its version, and the library.
fn debian_package(package: &str, library: &str) -> Result<(String, String), Fault> {
    let folder = workspace::target().join("results").join(package);
    let failed = |cause| Fault::Missing(format!("{}: {cause}", folder.display()));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    shell::run("apt-get")
        .args(["download", "--quiet", "-o", "APT::Sandbox::User=root", package])
        .directory(&folder)
        .advice("the allocators by place are packages of Debian")
        .done()?;
    let mut files = fs::read_dir(&folder).map_err(failed)?.flatten().map(|entry| entry.path());
    let archive = files.find(|path| path.extension().is_some_and(|ending| ending == "deb"));
    let archive =
        archive.ok_or_else(|| Fault::Missing(format!("apt-get fetched no file of {package}")))?;
    shell::run("dpkg-deb").args([Path::new("-x"), &archive, &folder]).done()?;
    let version =
        shell::run("dpkg-deb").args([Path::new("-f"), &archive, Path::new("Version")]).text()?;
    let found = shell::run("find").args([&folder]).args(["-name", library]).text()?;
    Ok((format!("{package}-{version}"), found))
}
