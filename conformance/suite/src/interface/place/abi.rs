//! The ABIs of allocators that are two functions of a library, or an object of Python, and not the
//! table of `allocert_place.h`.

use std::fmt;
use std::str::FromStr;

use strum::{Display, EnumString, VariantNames};

/// What `--abi` names. Each name is also that of a profile, which subjects with this ABI are held
/// to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Abi {
    Functions(FunctionAbi),
    Object(ObjectAbi),
}

impl Abi {
    /// All names, each once.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let mut names = FunctionAbi::VARIANTS.to_vec();
        names.extend(
            ObjectAbi::VARIANTS.iter().filter(|name| !FunctionAbi::VARIANTS.contains(name)),
        );
        names
    }
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Functions(abi) => abi.fmt(f),
            Self::Object(abi) => abi.fmt(f),
        }
    }
}

/// How an object of Python is called that allocates memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum ObjectAbi {
    /// `malloc(size, device)` returns an address and `free(address, device)` returns nothing, as
    /// CuPy's `PythonFunctionAllocator` calls them.
    Cupy,
    /// `allocate(size, stream)` returns an address and `deallocate(address, size, stream)` returns
    /// nothing, as RMM's `DeviceMemoryResource` has them.
    Rmm,
    /// `allocate(size, stream=stream)` returns a buffer with `handle`, `size` and `close(stream)`,
    /// as cuda.core's `MemoryResource` has it.
    CudaCore,
    /// `memalloc(size)` or `memalloc_async(size, stream)` returns an object with an address that
    /// owns the memory, as nvmath-python's `BaseCUDAMemoryManager` and
    /// `BaseCUDAMemoryManagerAsync` have them.
    Nvmath,
}

/// What the two functions of a library take and return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum FunctionAbi {
    /// `void *malloc(ssize_t size, int device, cudaStream_t stream)` and
    /// `void free(void *pointer, ssize_t size, int device, cudaStream_t stream)`, as PyTorch's
    /// `CUDAPluggableAllocator` calls them.
    Torch,
    /// `void *malloc(void *param, size_t size, int device)` and
    /// `void free(void *param, void *pointer, int device)`, as CuPy's `CFunctionAllocator` calls
    /// them.
    Cupy,
    /// `void *malloc(size_t size)` and `void free(void *pointer)`, as the C standard has them.
    Malloc,
}

impl FunctionAbi {
    /// The names that the functions have in the text, where it names them.
    #[must_use]
    pub fn usual_names(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Torch => Some(["my_malloc", "my_free"]),
            Self::Cupy => None,
            Self::Malloc => Some(["malloc", "free"]),
        }
    }

    /// How a user writes the names of the functions.
    fn pattern(self) -> &'static str {
        match self {
            Self::Torch | Self::Malloc => "MALLOC,FREE",
            Self::Cupy => "MALLOC,FREE[,PARAM]",
        }
    }
}

/// The symbols of the two functions. As text: `torch(my_malloc,my_free)`,
/// `cupy(take,give,pool)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionNames {
    pub abi: FunctionAbi,
    pub alloc: String,
    pub free: String,
    /// The symbol whose address the functions of [`FunctionAbi::Cupy`] are given; without it they
    /// are given NULL.
    pub param: Option<String>,
}

/// Why a text names no functions, or no ABI of objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AbiError {
    #[error("there is no ABI `{given}` of place; there are {}", Abi::names().join(", "))]
    Unknown { given: String },
    #[error("`{given}` names no two functions: write {abi}:{}", .abi.pattern())]
    Names { given: String, abi: FunctionAbi },
    #[error(
        "--abi {abi} is for shared libraries alone, and this subject is a Python object; its ABIs \
         are {}",
        ObjectAbi::VARIANTS.join(", ")
    )]
    OfLibraries { abi: FunctionAbi },
    #[error(
        "--abi {abi} is for Python objects alone, and this subject is a shared library; its ABIs \
         are {}",
        FunctionAbi::VARIANTS.join(", ")
    )]
    OfObjects { abi: ObjectAbi },
    #[error(
        "`{given}` names functions, and this subject is a Python object, whose methods have the \
         names of the text: write --abi {abi}"
    )]
    NamesOfObject { given: String, abi: ObjectAbi },
}

impl ObjectAbi {
    /// How a user writes them.
    #[must_use]
    pub fn names() -> &'static [&'static str] {
        Self::VARIANTS
    }

    /// Reads `cupy`, as a user writes it.
    ///
    /// # Errors
    /// [`AbiError`], which says what was expected.
    pub fn read(text: &str) -> Result<Self, AbiError> {
        let abi = text.split_once(':').map_or(text, |(abi, _)| abi);
        match (abi.parse(), abi.parse()) {
            (Ok(named), _) if abi != text => {
                Err(AbiError::NamesOfObject { given: text.to_owned(), abi: named })
            }
            (Ok(object), _) => Ok(object),
            (Err(_), Ok(functions)) => Err(AbiError::OfLibraries { abi: functions }),
            (Err(_), Err(_)) => Err(AbiError::Unknown { given: abi.to_owned() }),
        }
    }
}

impl FunctionNames {
    /// The ABI whose functions are given an address of the library.
    const WITH_PARAM: FunctionAbi = FunctionAbi::Cupy;

    /// Reads `torch` or `torch:MALLOC,FREE`, as a user writes it.
    ///
    /// # Errors
    /// [`AbiError`], which says what was expected.
    pub fn read(text: &str) -> Result<Self, AbiError> {
        let (abi, names) = match text.split_once(':') {
            Some((abi, names)) => (abi, Some(names)),
            None => (text, None),
        };
        let abi: FunctionAbi = abi.parse().map_err(|_| match abi.parse() {
            Ok(object) => AbiError::OfObjects { abi: object },
            Err(_) => AbiError::Unknown { given: abi.to_owned() },
        })?;
        let names: Vec<&str> = match names {
            Some(names) => names.split(',').collect(),
            None => abi.usual_names().into_iter().flatten().collect(),
        };
        let is_symbol = |name: &&str| !name.is_empty() && !name.contains(['(', ')', ':', '\0']);
        let (alloc, free, param) = match names.as_slice() {
            [alloc, free] => (*alloc, *free, None),
            [alloc, free, param] if abi == Self::WITH_PARAM => (*alloc, *free, Some(*param)),
            _ => ("", "", None),
        };
        if ![alloc, free].iter().all(is_symbol) || !param.iter().all(is_symbol) {
            return Err(AbiError::Names { given: text.to_owned(), abi });
        }
        let param = param.map(str::to_owned);
        Ok(Self { abi, alloc: alloc.to_owned(), free: free.to_owned(), param })
    }
}

impl fmt::Display for FunctionNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { abi, alloc, free, param } = self;
        let param = param.iter().map(|param| format!(",{param}")).collect::<String>();
        write!(f, "{abi}({alloc},{free}{param})")
    }
}

/// As a worker is told.
impl FromStr for FunctionNames {
    type Err = AbiError;

    fn from_str(text: &str) -> Result<Self, AbiError> {
        let names = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (abi, names) = names.unwrap_or((text, ""));
        Self::read(&format!("{abi}:{names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_or_have_the_names_of_the_text() {
        for (given, told) in [
            ("torch", "torch(my_malloc,my_free)"),
            ("torch:take,give", "torch(take,give)"),
            ("malloc", "malloc(malloc,free)"),
            ("cupy:take,give", "cupy(take,give)"),
            ("cupy:take,give,pool", "cupy(take,give,pool)"),
        ] {
            let names = FunctionNames::read(given).expect("two functions");
            assert_eq!(names.to_string(), told);
            assert_eq!(told.parse(), Ok(names));
        }
    }

    #[test]
    fn what_names_no_functions_is_refused() {
        let refused = |text: &str| FunctionNames::read(text).expect_err("refused").to_string();
        assert_eq!(
            refused("torhc"),
            "there is no ABI `torhc` of place; there are torch, cupy, malloc, rmm, cuda-core, \
             nvmath"
        );
        assert_eq!(
            refused("rmm:a,b"),
            "--abi rmm is for Python objects alone, and this subject is a shared library; its ABIs \
             are torch, cupy, malloc"
        );
        for text in ["torch:take", "torch:take,", "torch:a,b,c", "torch:"] {
            let wanted = format!("`{text}` names no two functions: write torch:MALLOC,FREE");
            assert_eq!(refused(text), wanted);
        }
        for text in ["cupy", "cupy:take", "cupy:a,b,c,d", "cupy:a,b,"] {
            let wanted = format!("`{text}` names no two functions: write cupy:MALLOC,FREE[,PARAM]");
            assert_eq!(refused(text), wanted);
        }
    }
    #[test]
    fn an_object_has_an_abi_and_no_names() {
        assert_eq!(ObjectAbi::read("cuda-core"), Ok(ObjectAbi::CudaCore));
        let refused = |text: &str| ObjectAbi::read(text).expect_err("refused").to_string();
        assert_eq!(
            refused("torch"),
            "--abi torch is for shared libraries alone, and this subject is a Python object; its \
             ABIs are cupy, rmm, cuda-core, nvmath"
        );
        assert_eq!(
            refused("cupy:take,give"),
            "`cupy:take,give` names functions, and this subject is a Python object, whose methods \
             have the names of the text: write --abi cupy"
        );
        assert_eq!(
            refused("cuda_core"),
            "there is no ABI `cuda_core` of place; there are torch, cupy, malloc, rmm, cuda-core, \
             nvmath"
        );
    }
}
