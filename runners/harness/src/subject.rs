//! What the user names as the implementation under test.

use std::fmt;
use std::path::{Path, PathBuf};

use allocert_suite::interface::place::{Abi, AbiError, FunctionAbi, FunctionNames, ObjectAbi};
use allocert_suite::interface::{Reference, interface};
use allocert_suite::offer::Flavor;
use allocert_suite::{RefusalCode, Side};

/// One implementation under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The project's own subject of this name, inside the native worker.
    Reference { name: &'static str },
    /// A shared library that exports the table or structure of the side.
    Library { path: PathBuf, symbol: Option<String> },
    /// Two functions of a shared library that are an allocator by place; without a path those of
    /// the project's own allocator.
    Functions { path: Option<PathBuf>, names: FunctionNames },
    /// What a Python interpreter can import; without an attribute it is the module itself, or what
    /// the side expects there.
    Python { module: String, attribute: Option<String> },
    /// An object of Python that is an allocator by place.
    Allocator { abi: ObjectAbi, module: String, attribute: Option<String> },
    /// The adapters of two libraries, for one process.
    Pair { producer: Box<Subject>, consumer: Box<Subject> },
}

/// Why a text names no subject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    #[error("there is no reference subject `{given}` of {side}; there are {known}")]
    Reference { given: String, side: Side, known: String },
    #[error("there is no library {}; build the plugin or correct the path", .0.display())]
    Missing(PathBuf),
    #[error(
        "`{given}` is no subject of {side}, which is certified in Python: give module[:attribute]"
    )]
    NotPython { given: String, side: Side },
    #[error(
        "`{given}` is no subject of {side}, which is certified in shared libraries: give \
         ./lib.so[:symbol]"
    )]
    NotLibrary { given: String, side: Side },
    #[error(
        "`{given}` is a file name; a Python subject is a module as `import` takes it: `{module}`"
    )]
    FileName { given: String, module: String },
    #[error(
        "--abi is for place alone, whose subjects are a table, two functions or a Python object; \
         it does not apply to {0}"
    )]
    AbiOfOtherSide(Side),
    #[error(transparent)]
    Abi(#[from] AbiError),
    #[error(
        "`{given}` is no shared library with the functions of --abi {abi}: give ./lib.so, and the \
         names of the functions in --abi {abi}:MALLOC,FREE"
    )]
    NoFunctions { given: String, abi: FunctionAbi },
    #[error(
        "`{given}` is a Python subject of place: say how it is called, by --abi {}",
        .abis.join("|")
    )]
    NoAbi { given: String, abis: &'static [&'static str] },
    #[error(
        "`{0}` is no module[:attribute] that Python could import, and no path of a shared library \
         (which holds a `/` or ends in .so)"
    )]
    Module(String),
}

impl SubjectError {
    /// The code of the refusal.
    #[must_use]
    pub fn code(&self) -> RefusalCode {
        match self {
            Self::Reference { .. } => RefusalCode::UnknownReference,
            Self::Missing(_) => RefusalCode::MissingLibrary,
            Self::AbiOfOtherSide(_) => RefusalCode::OptionConflict,
            Self::Abi(_) => RefusalCode::UnknownAbi,
            Self::NoFunctions { .. }
            | Self::NoAbi { .. }
            | Self::NotPython { .. }
            | Self::NotLibrary { .. }
            | Self::FileName { .. }
            | Self::Module(_) => RefusalCode::InvalidSubject,
        }
    }
}

impl Subject {
    /// Reads `reference[:name]`, `path/to/lib.so[:symbol]` or `module[:attribute]`, as the side
    /// takes them.
    ///
    /// # Errors
    /// [`SubjectError`], which says what was expected; a library must exist.
    pub fn parse(text: &str, side: Side) -> Result<Self, SubjectError> {
        let facts = interface(side).map(|interface| &interface.facts);
        let not_python = || SubjectError::NotPython { given: text.to_owned(), side };
        let native = facts.is_some_and(|facts| facts.flavors.contains(&Flavor::Native));
        let known = facts.map_or(Reference::None, |facts| facts.reference);
        match (text.split(':').next(), known) {
            (Some("reference"), Reference::Native(names)) => reference(text, side, names),
            (Some("reference"), Reference::Python(module)) if text == "reference" => {
                Ok(Self::Python { module: module.to_owned(), attribute: None })
            }
            (Some("reference"), _) => Err(not_python()),
            _ if looks_like_path(text) && native => library(text),
            _ if looks_like_path(text) => Err(not_python()),
            _ if facts.is_some_and(|facts| !facts.flavors.contains(&Flavor::Python)) => {
                Err(SubjectError::NotLibrary { given: text.to_owned(), side })
            }
            _ if side == Side::Place => called_allocator(text),
            _ => python(text, facts.and_then(|facts| facts.python_attribute)),
        }
    }

    /// As [`Subject::parse`]; with an ABI, `torch` or `torch:MALLOC,FREE`, the subject is two
    /// functions of a library, or an object of Python.
    ///
    /// # Errors
    /// [`SubjectError`], as for [`Subject::parse`].
    pub fn parse_with(text: &str, abi: Option<&str>, side: Side) -> Result<Self, SubjectError> {
        let Some(abi) = abi else { return Self::parse(text, side) };
        if side != Side::Place {
            return Err(SubjectError::AbiOfOtherSide(side));
        }
        if text != "reference" && !looks_like_path(text) && !text.starts_with("reference:") {
            return allocator(text, ObjectAbi::read(abi)?);
        }
        if let ("reference", Some(names)) = (text, abi.parse().ok().and_then(own_functions)) {
            return Ok(Self::Functions { path: None, names });
        }
        let names = FunctionNames::read(abi)?;
        let none = |abi| SubjectError::NoFunctions { given: text.to_owned(), abi };
        if text == "reference" || !looks_like_path(text) {
            return Err(none(names.abi));
        }
        match library(text)? {
            Self::Library { path, symbol: None } => Ok(Self::Functions { path: Some(path), names }),
            _ => Err(none(names.abi)),
        }
    }

    /// The ABI of a subject that has no table.
    #[must_use]
    pub fn abi(&self) -> Option<Abi> {
        match self {
            Self::Functions { names, .. } => Some(Abi::Functions(names.abi)),
            Self::Allocator { abi, .. } => Some(Abi::Object(*abi)),
            _ => None,
        }
    }

    /// The library at `path`, with the contract's default symbol.
    pub fn library(path: impl Into<PathBuf>) -> Self {
        Self::Library { path: path.into(), symbol: None }
    }

    /// Two adapters, of which the second is given what the first makes.
    pub fn pair(producer: Self, consumer: Self) -> Self {
        Self::Pair { producer: Box::new(producer), consumer: Box::new(consumer) }
    }

    pub fn is_python(&self) -> bool {
        matches!(self, Self::Python { .. } | Self::Allocator { .. } | Self::Pair { .. })
    }
}

/// As a worker is told.
impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference { name } => write!(out, "reference:{name}"),
            Self::Library { path, symbol: None } => write!(out, "{}", path.display()),
            Self::Library { path, symbol: Some(symbol) } => {
                write!(out, "{}:{symbol}", path.display())
            }
            Self::Functions { path: None, names } => write!(out, "reference:{names}"),
            Self::Functions { path: Some(path), names } => {
                write!(out, "{}:{names}", path.display())
            }
            Self::Python { module, attribute: None } => write!(out, "{module}"),
            Self::Python { module, attribute: Some(attribute) } => {
                write!(out, "{module}:{attribute}")
            }
            Self::Allocator { abi, module, attribute: None } => write!(out, "{abi}({module})"),
            Self::Allocator { abi, module, attribute: Some(attribute) } => {
                write!(out, "{abi}({module}:{attribute})")
            }
            Self::Pair { producer, consumer } => write!(out, "{producer}+{consumer}"),
        }
    }
}

fn reference(
    text: &str,
    side: Side,
    names: &'static [&'static str],
) -> Result<Subject, SubjectError> {
    let given = text.split_once(':').map(|(_, name)| name);
    let mut wanted = names.iter().filter(|name| given.is_none_or(|given| given == **name));
    wanted.next().map(|name| Subject::Reference { name }).ok_or_else(|| {
        let given = given.unwrap_or_default().to_owned();
        SubjectError::Reference { given, side, known: names.join(", ") }
    })
}

/// The functions of the project's own allocator.
fn own_functions(abi: FunctionAbi) -> Option<FunctionNames> {
    let (alloc, free) = match abi {
        FunctionAbi::Torch => ("allocert_place_torch_malloc", "allocert_place_torch_free"),
        FunctionAbi::Cupy => ("allocert_place_cupy_malloc", "allocert_place_cupy_free"),
        FunctionAbi::Malloc => return None,
    };
    Some(FunctionNames { abi, alloc: alloc.to_owned(), free: free.to_owned(), param: None })
}

fn looks_like_path(text: &str) -> bool {
    let path = text.rsplit_once(':').map_or(text, |(path, _)| path);
    text.contains('/')
        || [text, path].iter().any(|path| path.ends_with(".so") || path.contains(".so."))
}

/// A path may hold a colon itself, so the whole text is tried first.
fn library(text: &str) -> Result<Subject, SubjectError> {
    let (path, symbol) = match text.rsplit_once(':') {
        Some((path, symbol)) if !Path::new(text).exists() && is_identifier(symbol) => {
            (path, Some(symbol.to_owned()))
        }
        _ => (text, None),
    };
    // Absolute, because dlopen searches for a name without a slash elsewhere.
    let path =
        Path::new(path).canonicalize().map_err(|_| SubjectError::Missing(PathBuf::from(path)))?;
    Ok(Subject::Library { path, symbol })
}

/// Reads `cupy(module:attribute)`, as registries write it and a worker is told.
fn called_allocator(text: &str) -> Result<Subject, SubjectError> {
    let called = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let none = || SubjectError::NoAbi { given: text.to_owned(), abis: ObjectAbi::names() };
    let (abi, object) = called.ok_or_else(none)?;
    allocator(object, ObjectAbi::read(abi)?)
}

fn allocator(text: &str, abi: ObjectAbi) -> Result<Subject, SubjectError> {
    python_names(text, None).map(|(module, attribute)| Subject::Allocator {
        abi,
        module,
        attribute,
    })
}

fn python(text: &str, default_attribute: Option<&str>) -> Result<Subject, SubjectError> {
    python_names(text, default_attribute)
        .map(|(module, attribute)| Subject::Python { module, attribute })
}

/// The names of a module, and of its attribute if there is one.
fn python_names(
    text: &str,
    default_attribute: Option<&str>,
) -> Result<(String, Option<String>), SubjectError> {
    let (module, attribute) = match text.split_once(':') {
        Some((module, attribute)) => (module, Some(attribute)),
        None => (text, default_attribute),
    };
    if let Some(stem) = module.strip_suffix(".py") {
        return Err(SubjectError::FileName { given: module.to_owned(), module: stem.to_owned() });
    }
    if !module
        .split('.')
        .chain(attribute.iter().flat_map(|path| path.split('.')))
        .all(is_identifier)
    {
        return Err(SubjectError::Module(text.to_owned()));
    }
    Ok((module.to_owned(), attribute.map(str::to_owned)))
}

fn is_identifier(text: &str) -> bool {
    let starts_well =
        text.chars().next().is_some_and(|first| first == '_' || first.is_alphabetic());
    starts_well && text.chars().all(|letter| letter == '_' || letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("reference", "reference:pool")]
    #[case("reference:host-only", "reference:host-only")]
    #[case("rmm.allocators.numba", "rmm.allocators.numba:_numba_memory_manager")]
    #[case("pool:Manager", "pool:Manager")]
    #[case("/bin/sh", &Path::new("/bin/sh").canonicalize().expect("a shell").display().to_string())]
    #[case(
        "/bin/../bin/sh:table",
        &format!("{}:table", Path::new("/bin/sh").canonicalize().expect("a shell").display())
    )]
    fn reads(#[case] text: &str, #[case] told: &str) {
        assert_eq!(Subject::parse(text, Side::Emm).expect("a subject").to_string(), told);
    }

    #[rstest]
    #[case("numba.cuda", "numba.cuda")]
    #[case("mine:host", "mine:host")]
    fn reads_a_host(#[case] text: &str, #[case] told: &str) {
        assert_eq!(Subject::parse(text, Side::EmmHost).expect("a subject").to_string(), told);
    }

    #[rstest]
    #[case(
        "reference",
        "torch",
        "reference:torch(allocert_place_torch_malloc,allocert_place_torch_free)"
    )]
    #[case(
        "reference",
        "cupy",
        "reference:cupy(allocert_place_cupy_malloc,allocert_place_cupy_free)"
    )]
    #[case("/bin/../bin/sh", "torch:take,give", &format!("{}:torch(take,give)", shell()))]
    fn reads_functions(#[case] text: &str, #[case] abi: &str, #[case] told: &str) {
        let subject = Subject::parse_with(text, Some(abi), Side::Place).expect("a subject");
        let abi = abi.split(':').next().expect("a name");
        let names = subject.abi().map(|abi| abi.to_string());
        assert_eq!((subject.to_string().as_str(), names.as_deref()), (told, Some(abi)));
    }

    #[test]
    fn reads_an_object_of_python() {
        let subject = Subject::parse_with("pool:Pool", Some("cuda-core"), Side::Place);
        let subject = subject.expect("a subject");
        assert_eq!(subject.to_string(), "cuda-core(pool:Pool)");
        assert_eq!(subject.abi(), Some(Abi::Object(ObjectAbi::CudaCore)));
        assert_eq!(Subject::parse(&subject.to_string(), Side::Place), Ok(subject));
        let refused = |text, abi| {
            let read = Subject::parse_with(text, abi, Side::Place);
            read.expect_err("no subject").to_string()
        };
        assert_eq!(
            refused("pool:Pool", None),
            "`pool:Pool` is a Python subject of place: say how it is called, by --abi \
             cupy|rmm|cuda-core|nvmath"
        );
        assert_eq!(
            refused("pool:Pool", Some("malloc")),
            "--abi malloc is for shared libraries alone, and this subject is a Python object; its \
             ABIs are cupy, rmm, cuda-core, nvmath"
        );
        assert_eq!(
            refused("pool.py", Some("cupy")),
            "`pool.py` is a file name; a Python subject is a module as `import` takes it: `pool`"
        );
    }

    fn shell() -> String {
        Path::new("/bin/sh").canonicalize().expect("a shell").display().to_string()
    }

    #[rstest]
    #[case("reference", "torch:take,give")]
    #[case("reference:pool", "torch")]
    #[case("/bin/sh:table", "torch")]
    fn refuses_what_has_no_functions(#[case] text: &str, #[case] abi: &str) {
        let refused = Subject::parse_with(text, Some(abi), Side::Place).expect_err("no subject");
        let abi = FunctionAbi::Torch;
        assert_eq!(refused, SubjectError::NoFunctions { given: text.to_owned(), abi });
        let refused = Subject::parse_with(text, Some("torch"), Side::Emm).expect_err("no subject");
        assert_eq!(refused, SubjectError::AbiOfOtherSide(Side::Emm));
    }

    #[test]
    fn the_reference_of_arrays_is_an_adapter() {
        let read = |text| Subject::parse(text, Side::CaiProducer);
        let adapter = "allocert.adapters.reference";
        assert_eq!(read("reference").expect("a subject").to_string(), adapter);
        let message = read("reference:pool").expect_err("no subject").to_string();
        let wanted = "`reference:pool` is no subject of cai-producer, which is certified in \
                      Python: give module[:attribute]";
        assert_eq!(message, wanted);
    }

    #[rstest]
    #[case("reference")]
    #[case("/bin/sh")]
    fn refuses_a_host_that_is_not_python(#[case] text: &str) {
        let message = Subject::parse(text, Side::EmmHost).expect_err("no subject").to_string();
        let wanted = format!(
            "`{text}` is no subject of emm-host, which is certified in Python: give \
             module[:attribute]"
        );
        assert_eq!(message, wanted);
    }

    #[rstest]
    #[case(
        "reference:buddy",
        "there is no reference subject `buddy` of emm; there are pool, deferred, host-only"
    )]
    #[case("libnone.so", "there is no library libnone.so; build the plugin or correct the path")]
    #[case(
        "./none.so:table",
        "there is no library ./none.so; build the plugin or correct the path"
    )]
    #[case(
        "pool.py",
        "`pool.py` is a file name; a Python subject is a module as `import` takes it: `pool`"
    )]
    #[case(
        "my-pool",
        "`my-pool` is no module[:attribute] that Python could import, and no path of a shared \
         library (which holds a `/` or ends in .so)"
    )]
    fn refuses(#[case] text: &str, #[case] message: &str) {
        assert_eq!(Subject::parse(text, Side::Emm).expect_err("no subject").to_string(), message);
    }
}
