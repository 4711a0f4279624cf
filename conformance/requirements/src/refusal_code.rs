//! The codes of refusals: what is wrong with what the user gave, by one word that never changes.

use std::fmt;

/// Defines the codes in the order in which the page lists them.
macro_rules! codes {
    ($($name:ident $code:literal $meaning:literal $remedy:literal)*) => {
        /// Why the program refuses what the user gave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RefusalCode {
            $(#[doc = $meaning] $name,)*
        }

        impl RefusalCode {
            /// All codes, in the order of the page.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word that messages show.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// What is wrong.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning,)*
                }
            }

            /// What the user can do.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$name => $remedy,)*
                }
            }
        }
    };
}

codes! {
    // The command line.
    CommandLine "command-line"
        "The program has no such command or option, or an option has a wrong value."
        "Read `allocert help COMMAND`."
    OptionConflict "option-conflict"
        "An option does not apply to this side or this driver."
        "Leave the option out, or choose the side or the driver that it is for."
    UnknownInterface "unknown-interface"
        "No interface and no side has this name, or the command is for other interfaces."
        "Use a name from the message."
    NoCases "no-cases"
        "The side has no cases yet."
        "Use a side from the message."
    UnknownProfile "unknown-profile"
        "The interface has no profile of this name."
        "Use a name from the message."
    UnknownCase "unknown-case"
        "No case has this name."
        "Use the suggestion, or look the name up with `allocert list`."
    UnknownId "unknown-id"
        "No requirement, case, profile, contract or refusal code has this name."
        "Use the suggestion, or look cases up with `allocert list`."
    InvalidGlob "invalid-glob"
        "A pattern for names is not a glob."
        "Correct the pattern: `*` matches any text, `[ab]` one of two characters."

    // The subject and what it needs.
    InvalidSubject "invalid-subject"
        "The text names no subject of this side."
        "Give a path of a shared library, `module[:attribute]` or `reference`, as the message says."
    UnknownReference "unknown-reference"
        "There is no reference subject of this name."
        "Use a name from the message."
    UnknownAbi "unknown-abi"
        "There is no such ABI of functions, or the option does not name two functions."
        "Use a name from the message, and write `--abi NAME:MALLOC,FREE`."
    MissingLibrary "missing-library"
        "The shared library does not exist."
        "Build the plugin, or correct the path."
    SubjectRefused "subject-refused"
        "The worker looked at the subject and cannot use it."
        "Correct what the message names: an import, an attribute, a class, a symbol or a table."
    SubjectUnloadable "subject-unloadable"
        "The subject crashed the worker, or hung, while the worker loaded it."
        "Load the subject alone and look for the crash; `allocert debug` starts a debugger."
    CannotStart "cannot-start"
        "The interpreter, the debugger or another program cannot be started."
        "Correct its path, install it, or make it executable."
    UnusablePython "unusable-python"
        "The interpreter did not run the worker."
        "Name an interpreter of Python 3.10 or later with `--python`."
    MissingHost "missing-host"
        "The interpreter lacks numba-cuda, which Python mutants need."
        "Name another interpreter with `--python`, or use `--flavor native`."

    // Files and folders.
    UnreadableFile "unreadable-file"
        "A file cannot be read."
        "Correct the path, or the permissions of the file."
    UnusableProjectFolder "unusable-project-folder"
        "`allocert new` writes only to a folder that does not exist or is empty."
        "Name another folder."
    UnwritableFile "unwritable-file"
        "A file or a folder cannot be written."
        "Create the folder, or choose another place."
    UnusableRunFolder "unusable-run-folder"
        "The folder of `--keep` cannot hold a run."
        "Name a folder that is empty or does not exist, with a short path."
    InvalidRunFile "invalid-run-file"
        "The file is not a run file, is cut off, or has another format."
        "Run the suite again with `--out`."
    InvalidCertificate "invalid-certificate"
        "A part of a certificate is missing, was changed, or contradicts another part."
        "Take the certificate from where it was made, or certify the subject again."
    ForeignCertificate "foreign-certificate"
        "The certificate was made with another suite or by another version of allocert."
        "Verify it with the version that made it, or certify the subject again with this one."
    UncertifiedSubject "uncertified-subject"
        "The file that --subject names is not the one that was certified."
        "Name the file that was certified, or certify this one."

    // YAML: fixtures, expectation files, the catalogue and the registry of mutants.
    InvalidYaml "invalid-yaml"
        "The text is not YAML, has a key twice, or uses YAML that these files do not allow."
        "Correct the text at the marked place."
    WrongType "wrong-type"
        "A value has another type than the field takes."
        "Write what the message expects."
    UnknownField "unknown-field"
        "There is no field of this name here."
        "Use the suggestion, or one of the listed fields."
    MissingField "missing-field"
        "A field that is needed is not there."
        "Add the field."
    UnknownWord "unknown-word"
        "The value is none of the words that the field takes."
        "Use the suggestion, or one of the listed words."
    EmptyField "empty-field"
        "A field is there, but says nothing."
        "Fill the field in, or remove it."
    UnknownRequirement "unknown-requirement"
        "The catalogue has no requirement with this id."
        "Use the suggestion, or look the id up with `allocert coverage`."

    // Fixtures.
    MissingComment "missing-comment"
        "A fixture does not begin with a comment."
        "Say in the first line why the case exists."
    WrongCaseName "wrong-case-name"
        "The name of a case does not fit its file or is below no side."
        "Give the case the path of its file below `cases/`, without `.yaml`."
    WrongSide "wrong-side"
        "An operation or a requirement belongs to another side than the case."
        "Move the case to that side, or use what belongs to its own side."
    MissingNeed "missing-need"
        "The case uses something that it does not declare in `needs`."
        "Add the need that the message names."
    NothingExpected "nothing-expected"
        "A case, an expectation or a predicate asks nothing, so it can never fail."
        "State what must hold."
    InvalidExpectation "invalid-expectation"
        "An expectation contradicts itself, or names no fact."
        "Write the expectation as the message says."
    WrongPredicate "wrong-predicate"
        "A predicate compares a fact with a value of the wrong type."
        "Use a value of the type that the message names."
    InvalidArgument "invalid-argument"
        "The arguments of an operation contradict each other, or one is out of range."
        "Correct the argument that is marked."
    UnboundName "unbound-name"
        "No earlier step binds this name."
        "Correct the name, or bind it with `as` in an earlier step."
    DroppedName "dropped-name"
        "An earlier step dropped the object of this name."
        "Use the name before it is dropped."
    WrongNameType "wrong-name-type"
        "The object of this name has a type that the operation does not take."
        "Use the name of an object that the operation takes."
    DuplicateName "duplicate-name"
        "A name, a label or a permutation is there twice."
        "Give each its own name."
    UnknownLabel "unknown-label"
        "No earlier step has this label."
        "Correct the label, or give it to an earlier step."
    UnknownFact "unknown-fact"
        "The operation, or the call, has no fact of this name."
        "Use the suggestion, or a fact that docs/fixtures lists there."
    UnknownFunction "unknown-function"
        "No boundary of this side has a function of this name."
        "Use the suggestion, or the name in NVIDIA's documentation."
    InvalidAxis "invalid-axis"
        "An axis is unknown, is not used, or has values that it cannot have."
        "Use each axis in the text as `$name`, and give it different scalars."

    // Files that the project itself brings along.
    InvalidExpectationFile "invalid-expectation-file"
        "An entry of an expectation file has no reason or no case."
        "Add what the message names."
    OtherSubject "other-subject"
        "The expectation file is about another subject than the run."
        "Name the file of this subject, or correct its field `subject`."
    ExpiredExpectation "expired-expectation"
        "The last day of an entry of an expectation file is over."
        "Mend the violation and remove the entry, or look at it again and set a later day."
    InconsistentCatalogue "inconsistent-catalogue"
        "Entries of the catalogue contradict themselves or each other."
        "Correct the entry; only a change of the catalogue can cause this."
    InconsistentRegistry "inconsistent-registry"
        "Entries of the registry of mutants or variants contradict themselves or each other."
        "Correct the entry; only a change of the registry can cause this."
}

impl RefusalCode {
    /// The code with this word.
    #[must_use]
    pub fn by_name(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.code() == code)
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
