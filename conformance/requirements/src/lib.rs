//! The requirement catalogue: what each specification demands, as data. Each entry names its
//! source.
//!
//! - [`side`]: the interfaces and their roles.
//! - [`requirement`]: one atomic normative statement.
//! - [`catalogue`]: all of them, read strictly and looked up by id, operation or always-on check.
//! - [`profile`]: which text holds where the texts disagree.
//! - [`refusal_code`]: a stable word for each reason to refuse what a user gives.
//! - [`requirement_set`]: the requirements of a side under a name that never changes its meaning.
//! - [`freedom`]: what a text leaves to the subject.
//! - [`consequence`]: which violation leads to which others.
//! - [`mutant`]: the subjects that are built to break requirements.
//! - [`variant`]: the subjects that use freedoms.
//! - [`built_subject`]: what the two registries have in common.
//! - [`yaml`]: the one place where YAML is read, for the catalogue, the registry of mutants, the
//!   fixtures and expectation files.
//! - [`nearest`]: "did you mean".

#![forbid(unsafe_code)]

pub mod built_subject;
pub mod catalogue;
pub mod consequence;
pub mod freedom;
pub mod mutant;
pub mod nearest;
pub mod profile;
pub mod refusal_code;
pub mod requirement;
pub mod requirement_set;
pub mod side;
pub mod variant;
pub mod yaml;

pub use built_subject::{BuiltSubject, Flavor};
pub use catalogue::Catalogue;
pub use consequence::Consequence;
pub use freedom::Freedom;
pub use mutant::{Mutant, ReportedAs};
pub use profile::{Contract, Difference, Profile};
pub use refusal_code::RefusalCode;
pub use requirement::{Channel, Level, Requirement};
pub use requirement_set::RequirementSet;
pub use side::{Interface, Role, Side};
pub use variant::Variant;
pub use yaml::Refusal;
