//! The operations on a host of handlers, by its public interface.

use allocert_contract::trace::handler;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::operation_arguments::{Computation, Deriving, Making, Place};
use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::ARRAY;
use crate::interface::shared::{Drop, one};
use crate::nouns::Name;

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Drops the last reference to an array.
    ///
    /// Facts: `finalized`.
    Drop(Drop),
    /// Runs a full garbage collection.
    Collect {},
    /// Calls `PyDataMem_SetHandler()` with a handler of the worker, which serves and records all
    /// calls.
    ///
    /// Facts: `previous` (the name of the handler that came back).
    Install {
        /// The name in the handler.
        handler: String,
        /// The version in the handler.
        #[serde(default = "first_version")]
        version: u8,
        /// Keep bytes around each block, for `guards`.
        #[serde(default)]
        guarded: bool,
        /// Note the end of the capsule, for `handler_ended`.
        #[serde(default)]
        watched: bool,
    },
    /// Drops what `PyDataMem_SetHandler()` returned last, and asks for the end of the capsule that
    /// was installed with `watched`.
    ///
    /// Facts: `ended`.
    HandlerEnded {},
    /// Looks at the bytes around the blocks that the handler with `guarded` gave.
    ///
    /// Facts: `blocks` (how many it gave), `bytes` (of those that are not freed), `damaged` (around
    /// how many blocks the host wrote).
    Guards {},
    /// Calls `PyDataMem_SetHandler()` with a handler that a host should refuse, `times` times.
    /// After a call that the host accepts, it installs the handler again that was there before.
    ///
    /// Facts: `accepted` (how often), `error` (the class of the last error, or null), `handler`
    /// (the name of the installed handler afterwards), `leaked` (references to the handler that
    /// was there before).
    InstallWrong {
        /// The name of the capsule.
        #[serde(default = "capsule_name")]
        capsule: String,
        /// The version in the handler.
        #[serde(default = "first_version")]
        version: u8,
        /// The function of the handler that is null.
        #[serde(default)]
        without: Option<handler::Function>,
        /// Leave no NUL in the name.
        #[serde(default)]
        endless_name: bool,
        #[serde(default = "one")]
        times: u64,
    },
    /// Calls `PyDataMem_SetHandler(NULL)`.
    ///
    /// Facts: `previous`.
    Restore {},
    /// Calls `PyDataMem_SetHandler()` with what its last call returned.
    ///
    /// Facts: `previous`.
    InstallPrevious {},
    /// Calls `get_handler_name()` and `get_handler_version()`, and `PyDataMem_GetHandler()`.
    ///
    /// Facts: `name`, `version` (null where there is none), `got` (the name of the handler that
    /// `PyDataMem_GetHandler()` returned), `leaked` (references to it that 100 such calls left).
    Handler {
        /// Ask about this array instead of the context.
        #[serde(default)]
        of: Option<Name>,
    },
    /// Calls `get_handler_name()` with an argument that is no array.
    HandlerOfNumber {},
    /// Makes an array.
    ///
    /// Facts: `pointer` (where its data begin), `size_bytes`, `shape`, `strides`, `owner` (whether
    /// it owns its data), `handler` (the name of its handler, or null), `version` (of that
    /// handler), `aligned` (whether the host says that it is, and its address agrees).
    Make {
        /// The way.
        by: Making,
        /// The type, as `numpy.dtype()` takes it.
        #[serde(default = "eight_byte_integer")]
        dtype: String,
        /// The extents.
        shape: Vec<u64>,
        r#as: Name,
    },
    /// Makes an array from another one.
    ///
    /// Facts: those of `make`.
    Derive {
        /// The other one.
        of: Name,
        /// The way.
        by: Deriving,
        r#as: Name,
    },
    /// Asks for the end of the object whose memory the last array by `lent` describes.
    ///
    /// Facts: `ended`.
    LentEnded {},
    /// Describes an array.
    ///
    /// Facts: those of `make`, and `items` (the elements as nested lists).
    Describe { array: Name },
    /// Calls `array.resize(shape, refcheck=False)`.
    ///
    /// Facts: those of `describe`.
    Resize {
        array: Name,
        /// The new extents.
        shape: Vec<u64>,
    },
    /// Lets the host compute something from an array, and drops the result.
    ///
    /// Facts: `right` (whether the result is what Python computes from the same numbers).
    Compute {
        array: Name,
        /// What to compute.
        what: Computation,
    },
    /// Runs code elsewhere: it asks for the installed handler there, installs one, and makes an
    /// array and drops it.
    ///
    /// Facts: `inside` (the name of the handler that was installed there), `made_with` (the name of
    /// the handler of the array), `outside` (the name of the handler that is installed here
    /// afterwards).
    Elsewhere {
        /// Where it runs.
        place: Place,
        /// The name of the handler to install there.
        handler: String,
    },
    /// Makes calls of a function of the worker's handlers answer null: `count` calls, from the
    /// `nth` call on.
    FailHandler {
        /// The function.
        function: handler::Function,
        /// 1 is the next call.
        #[serde(default = "one")]
        nth: u64,
        /// How many calls fail.
        #[serde(default = "one")]
        count: u64,
    },
    /// Ends all faults.
    ClearHandlerFaults {},
    /// Starts `tracemalloc`.
    TraceMemory {},
    /// Reads what `tracemalloc` knows of the domain of array data, 389047.
    ///
    /// Facts: `blocks`, `bytes`.
    TracedMemory {},
    /// Makes an array that owns memory of `malloc()` and has no handler, resizes it, and drops it.
    ///
    /// Facts: `handler` (what `get_handler_name()` says of it), `resize_error` (the class of the
    /// error, or null), `warned` (whether dropping it warned).
    OwnForeign {
        /// What the variable `NUMPY_WARN_IF_NO_MEM_POLICY` asks for.
        warn: bool,
    },
    /// Imports the host in a second interpreter of the process.
    ///
    /// Facts: `imported`.
    Subinterpreter {},
}

fn first_version() -> u8 {
    1
}

fn capsule_name() -> String {
    "mem_handler".to_owned()
}

pub(super) fn eight_byte_integer() -> String {
    "i8".to_owned()
}

impl Operation {
    /// Installs a handler with this name.
    pub(super) fn install(handler: &str) -> Self {
        let version = first_version();
        Self::Install { handler: handler.to_owned(), version, guarded: false, watched: false }
    }
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        match self {
            Self::Drop(drop) => drop.properties(),
            Self::Make { r#as, .. } | Self::Derive { r#as, .. } => none().binds(r#as, ARRAY),
            Self::Collect {}
            | Self::Install { .. }
            | Self::HandlerEnded {}
            | Self::Guards {}
            | Self::LentEnded {}
            | Self::InstallWrong { .. }
            | Self::Restore {}
            | Self::InstallPrevious {}
            | Self::Handler { .. }
            | Self::HandlerOfNumber {}
            | Self::Describe { .. }
            | Self::Resize { .. }
            | Self::Compute { .. }
            | Self::Elsewhere { .. }
            | Self::ClearHandlerFaults {}
            | Self::TraceMemory {}
            | Self::TracedMemory {}
            | Self::OwnForeign { .. }
            | Self::Subinterpreter {} => none(),
            Self::FailHandler { function, .. } => none().fault(function.name()),
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Drop(drop) => drop.arguments(),
            Self::Handler { of: Some(array) }
            | Self::Derive { of: array, .. }
            | Self::Describe { array }
            | Self::Resize { array, .. }
            | Self::Compute { array, .. } => Arguments::one(array, &[ARRAY]),
            Self::Collect {}
            | Self::Install { .. }
            | Self::HandlerEnded {}
            | Self::Guards {}
            | Self::LentEnded {}
            | Self::InstallWrong { .. }
            | Self::Restore {}
            | Self::InstallPrevious {}
            | Self::Handler { of: None }
            | Self::HandlerOfNumber {}
            | Self::Make { .. }
            | Self::Elsewhere { .. }
            | Self::FailHandler { .. }
            | Self::ClearHandlerFaults {}
            | Self::TraceMemory {}
            | Self::TracedMemory {}
            | Self::OwnForeign { .. }
            | Self::Subinterpreter {} => Arguments::none(),
        }
    }
}
