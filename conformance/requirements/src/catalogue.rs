//! All requirements, read strictly and found by id, by operation or by always-on check.

use std::collections::BTreeMap;

use crate::consequence::{self, Consequence, Consequences};
use crate::freedom::{self, Freedom};
use crate::profile::{self, Contract, Difference, Profile};
use crate::refusal_code::RefusalCode;
use crate::requirement::Requirement;
use crate::side::{Interface, Side};
use crate::yaml::{Document, Refusal, Spanned, suggestion};

/// `(path below catalogue/, text)` of every catalogue file, in the order of their paths.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// Every requirement of every interface, and the profile that is in force.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    requirements: BTreeMap<String, Requirement>,
    operations: Claims,
    checks: Claims,
    defects: Claims,
    demands: Claims,
    profiles: Vec<Profile>,
    contracts: Vec<Contract>,
    differences: Vec<Difference>,
    freedoms: BTreeMap<String, Freedom>,
    consequences: Consequences,
    /// Nothing where all requirements are judged.
    chosen: Option<Profile>,
}

impl Catalogue {
    /// The catalogue that this program was built with.
    ///
    /// # Errors
    /// One refusal for each file that is not accepted.
    pub fn embedded() -> Result<Self, Vec<Refusal>> {
        Self::from_files(EMBEDDED.iter().copied())
    }

    /// Reads catalogue files given as `(path, text)`.
    ///
    /// # Errors
    /// One refusal for each file that is not accepted.
    pub fn from_files<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Vec<Refusal>> {
        let mut catalogue = Self::default();
        let documents: Vec<Document<'_>> = files
            .into_iter()
            .map(|(file, text)| Document { noun: "catalogue", file, text })
            .collect();
        let (freedoms, rest): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| freedom::is_file_of(document));
        let (consequences, rest): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|document| consequence::is_file_of(document));
        let (profiles, requirements): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|document| profile::interface_of(document).is_some());
        // Differences and consequences name requirements, so those come first.
        let mut refusals = refused(&requirements, |document| catalogue.add(document));
        refusals.extend(refused(&freedoms, |document| catalogue.add_freedoms(document)));
        if refusals.is_empty() {
            refusals = refused(&profiles, |document| catalogue.add_profiles(document));
        }
        if refusals.is_empty() {
            refusals = refused(&requirements, |document| catalogue.check_versions(document));
        }
        if refusals.is_empty() {
            refusals = refused(&profiles, |document| catalogue.add_differences(document));
        }
        if refusals.is_empty() {
            refusals = refused(&consequences, |document| catalogue.add_consequences(document));
        }
        if refusals.is_empty() { Ok(catalogue) } else { Err(refusals) }
    }

    /// The requirement with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Requirement> {
        self.requirements.get(id)
    }

    /// The requirement that an operation stands for in the cases of a side.
    #[must_use]
    pub fn by_operation(&self, side: Side, operation: &str) -> Option<&Requirement> {
        self.get(self.operations.get(&side)?.get(operation)?)
    }

    /// The requirement whose id the findings of an always-on check carry. Without one, the check is
    /// not performed on that side.
    #[must_use]
    pub fn by_check(&self, side: Side, check: &str) -> Option<&Requirement> {
        self.get(self.checks.get(&side)?.get(check)?)
    }

    /// The requirement whose id a defect of an export carries.
    #[must_use]
    pub fn by_defect(&self, side: Side, defect: &str) -> Option<&Requirement> {
        self.get(self.defects.get(&side)?.get(defect)?)
    }

    /// The defects that requirements of a side name.
    pub fn defects(&self, side: Side) -> impl Iterator<Item = &str> {
        self.defects.get(&side).into_iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// The requirement that stands for a demand of the fault sweep, the matrix of pairs or
    /// exploration, named `tool.demand`.
    #[must_use]
    pub fn by_demand(&self, side: Side, demand: &str) -> Option<&Requirement> {
        self.get(self.demands.get(&side)?.get(demand)?)
    }

    /// The demands of tools that have a requirement, of all sides.
    pub fn demands(&self) -> impl Iterator<Item = &str> {
        self.demands.values().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// All of them, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.values()
    }

    /// The freedom with this id.
    #[must_use]
    pub fn freedom(&self, id: &str) -> Option<&Freedom> {
        self.freedoms.get(id)
    }

    /// The freedoms of a side, ordered by id.
    pub fn freedoms(&self, side: Side) -> impl Iterator<Item = &Freedom> {
        self.freedoms.values().filter(move |freedom| freedom.side() == Some(side))
    }

    /// The profiles of an interface, in the order of their file.
    pub fn profiles(&self, interface: Interface) -> impl Iterator<Item = &Profile> {
        self.profiles.iter().filter(move |profile| profile.interface == interface)
    }

    /// The profile with this name, of whichever interface.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The profile that applies to an interface if the user chooses none; `None` for an interface
    /// with one text.
    #[must_use]
    pub fn default_profile(&self, interface: Interface) -> Option<&Profile> {
        self.profiles(interface).find(|profile| profile.default)
    }

    /// The texts that hold besides the profiles.
    #[must_use]
    pub fn contracts(&self) -> &[Contract] {
        &self.contracts
    }

    /// The contract that states a requirement, which then binds only who implements that contract.
    #[must_use]
    pub fn contract_of(&self, requirement: &Requirement) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.states(requirement))
    }

    /// Whether a contract states the requirement and no profile does.
    #[must_use]
    pub fn is_of_contract_alone(&self, requirement: &Requirement) -> bool {
        requirement.versions.len() == 1 && self.contract_of(requirement).is_some()
    }

    /// Every point on which the profiles of an interface disagree.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// Why the violation of one requirement leads to that of another in the same case; nothing if
    /// it does not.
    #[must_use]
    pub fn consequence(&self, cause: &str, consequence: &str) -> Option<&Consequence> {
        self.consequences.find(cause, consequence)
    }

    /// Whether one entry names both requirements as causes.
    #[must_use]
    pub fn are_peers(&self, left: &str, right: &str) -> bool {
        self.consequences.are_peers(left, right)
    }

    /// Judges by this profile from now on; by all requirements without one.
    pub fn choose(&mut self, profile: Option<Profile>) {
        self.chosen = profile;
    }

    /// The profile that is in force.
    #[must_use]
    pub fn chosen(&self) -> Option<&Profile> {
        self.chosen.as_ref()
    }

    /// The profile that is in force, if it is a text.
    #[must_use]
    pub fn chosen_text(&self) -> Option<&Profile> {
        self.chosen().filter(|profile| profile.is_text())
    }

    /// Whether neither the chosen profile nor a C contract contains this requirement. False for an
    /// id that the catalogue does not have.
    #[must_use]
    pub fn leaves_out(&self, id: &str) -> bool {
        let Some(chosen) = &self.chosen else { return false };
        self.get(id).is_some_and(|one| !chosen.contains(one) && self.contract_of(one).is_none())
    }

    /// "did you mean" for an id that is not here.
    #[must_use]
    pub fn suggestion(&self, id: &str) -> Option<String> {
        let known = self.requirements.keys().chain(self.freedoms.keys()).map(String::as_str);
        let close = crate::nearest::nearest(id, known)?;
        suggestion(id, [close])
    }

    fn add(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        for entry in document.read::<Vec<Spanned<Requirement>>>()? {
            let line = entry.line();
            let mut requirement = entry.value;
            requirement.file = document.file.to_owned();
            requirement.line = line;
            self.insert(requirement).map_err(|(word, message)| {
                document.refuse_word(RefusalCode::InconsistentCatalogue, line, &word, message)
            })?;
        }
        Ok(())
    }

    fn add_freedoms(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        for entry in document.read::<Vec<Spanned<Freedom>>>()? {
            let line = entry.line();
            let freedom = Freedom { file: document.file.to_owned(), line, ..entry.value };
            if let Some((word, message)) = freedom.fault() {
                return Err(document.refuse_word(
                    RefusalCode::InconsistentCatalogue,
                    line,
                    &word,
                    message,
                ));
            }
            if let Some(earlier) = self.freedoms.get(&freedom.id) {
                let id = &freedom.id;
                let message =
                    format!("{id} is already defined in {}:{}", earlier.file, earlier.line);
                return Err(document.refuse_word(
                    RefusalCode::InconsistentCatalogue,
                    line,
                    id,
                    message,
                ));
            }
            self.freedoms.insert(freedom.id.clone(), freedom);
        }
        Ok(())
    }

    fn add_profiles(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        let Some(interface) = profile::interface_of(document) else { return Ok(()) };
        let file: profile::File = document.read()?;
        for entry in file.profiles {
            let line = entry.line();
            let profile = entry.value.of(interface);
            self.check_new(&profile.name, line, document)?;
            self.profiles.push(profile);
        }
        for entry in file.contracts {
            let line = entry.line();
            let contract = entry.value.of(interface);
            self.check_new(&contract.name, line, document)?;
            self.contracts.push(contract);
        }
        if self.profiles(interface).filter(|profile| profile.default).count() != 1 {
            return Err(document.refuse_word(
                RefusalCode::InconsistentCatalogue,
                1,
                "profiles",
                "exactly one profile must be the `default`",
            ));
        }
        Ok(())
    }

    /// No profile and no contract has this name yet.
    fn check_new(
        &self,
        name: &str,
        line: usize,
        document: &Document<'_>,
    ) -> Result<(), Box<Refusal>> {
        if self.profile(name).is_none()
            && self.contracts.iter().all(|contract| contract.name != name)
        {
            return Ok(());
        }
        Err(document.refuse_word(
            RefusalCode::InconsistentCatalogue,
            line,
            name,
            format!("a profile `{name}` stands elsewhere already"),
        ))
    }

    fn add_differences(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        let Some(interface) = profile::interface_of(document) else { return Ok(()) };
        for entry in document.read::<profile::File>()?.differences {
            let line = entry.line();
            let profiles: Vec<&Profile> = self.profiles(interface).collect();
            if let Some((word, message)) = entry.value.fault(&profiles, |id| self.get(id)) {
                return Err(document.refuse_word(
                    RefusalCode::InconsistentCatalogue,
                    line,
                    &word,
                    message,
                ));
            }
            self.differences.push(entry.value);
        }
        Ok(())
    }

    fn add_consequences(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        for entry in document.read::<Vec<Spanned<Consequence>>>()? {
            let line = entry.line();
            self.consequences.add(entry.value, &self.requirements).map_err(|(word, message)| {
                document.refuse_word(RefusalCode::InconsistentCatalogue, line, &word, message)
            })?;
        }
        Ok(())
    }

    /// Every version that a requirement names is a profile, where its interface has profiles.
    fn check_versions(&self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        for requirement in self.iter().filter(|requirement| requirement.file == document.file) {
            let Some(interface) = Interface::of_id(&requirement.id) else { continue };
            let profiles = self.profiles(interface).map(|profile| profile.name.as_str());
            let contracts =
                self.contracts.iter().filter(|contract| contract.interface == interface);
            let known: Vec<&str> =
                profiles.chain(contracts.map(|contract| contract.name.as_str())).collect();
            if known.is_empty() {
                continue;
            }
            let (id, line) = (&requirement.id, requirement.line);
            if requirement.versions.is_empty() {
                return Err(document.refuse_word(
                    RefusalCode::InconsistentCatalogue,
                    line,
                    "versions",
                    format!("no profile contains {id}"),
                ));
            }
            if let Some(version) =
                requirement.versions.iter().find(|version| !known.contains(&version.as_str()))
            {
                let mut refusal = document.refuse_word(
                    RefusalCode::UnknownProfile,
                    line,
                    version,
                    format!("there is no profile `{version}`"),
                );
                refusal.help = suggestion(version, known);
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// The word at fault and why, when the entry contradicts itself or another.
    fn insert(&mut self, requirement: Requirement) -> Result<(), (String, String)> {
        let id = requirement.id.clone();
        let Some(interface) = Interface::of_id(&id) else {
            return Err((
                id.clone(),
                format!("`{id}` does not begin with the name of an interface"),
            ));
        };
        let Some(side) = requirement.side() else {
            let (name, role) = (interface.name(), requirement.role.name());
            return Err((id.clone(), format!("the interface {name} has no role `{role}`")));
        };
        if requirement.statement.trim().is_empty() {
            return Err((id.clone(), format!("{id} states nothing")));
        }
        if requirement.observed_by.is_empty() && requirement.excluded.is_none() {
            return Err((id.clone(), format!("{id} is observed by nothing and not excluded")));
        }
        claim(&mut self.operations, side, requirement.operation.as_deref(), &id)?;
        claim(&mut self.checks, side, requirement.check.as_deref(), &id)?;
        for defect in &requirement.defects {
            claim(&mut self.defects, side, Some(defect), &id)?;
        }
        for demand in &requirement.demands {
            claim(&mut self.demands, side, Some(demand), &id)?;
        }
        match self.requirements.insert(id.clone(), requirement) {
            None => Ok(()),
            Some(earlier) => {
                let message =
                    format!("{id} is already defined in {}:{}", earlier.file, earlier.line);
                Err((id, message))
            }
        }
    }
}

/// What is refused of these documents.
fn refused(
    documents: &[Document<'_>],
    mut add: impl FnMut(&Document<'_>) -> Result<(), Box<Refusal>>,
) -> Vec<Refusal> {
    documents.iter().filter_map(|document| add(document).err()).map(|refusal| *refusal).collect()
}

/// What each side calls by a name of its own, and the requirement that it belongs to.
type Claims = BTreeMap<Side, BTreeMap<String, String>>;

/// Gives an operation, a check or a defect to one requirement, and to no second one.
fn claim(
    claims: &mut Claims,
    side: Side,
    name: Option<&str>,
    id: &str,
) -> Result<(), (String, String)> {
    let Some(name) = name else { return Ok(()) };
    match claims.entry(side).or_default().insert(name.to_owned(), id.to_owned()) {
        None => Ok(()),
        Some(owner) => Err((name.to_owned(), format!("`{name}` already belongs to {owner}"))),
    }
}
