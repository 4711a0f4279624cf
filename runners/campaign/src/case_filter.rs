//! Which cases a user means: a glob over their names and requirements, and a part of them.

use std::fmt;
use std::str::FromStr;

use allocert_requirements::nearest::nearest;
use allocert_suite::RefusalCode;
use allocert_suite::plan::PlannedCase;
use globset::{GlobBuilder, GlobMatcher};

use crate::failure::Failure;

/// What `--filter` says.
///
/// # Errors
/// It is no glob.
pub fn glob(text: &str) -> Result<GlobMatcher, Failure> {
    let glob = GlobBuilder::new(text).literal_separator(false).build();
    let glob = glob.map_err(|error| {
        Failure::refused(RefusalCode::InvalidGlob, format!("--filter is no glob: {error}"))
    })?;
    Ok(glob.compile_matcher())
}

/// A glob over case names. It takes a case when it matches the name or a folder of it, so
/// `emm/alloc` means the group, or a requirement that the case states, as `EMM-ALLOC-03` does.
#[derive(Debug)]
pub struct Filter<'a> {
    text: &'a str,
    glob: Option<GlobMatcher>,
}

impl<'a> Filter<'a> {
    /// Takes every case where nothing is said.
    ///
    /// # Errors
    /// The text is no glob.
    pub fn new(text: Option<&'a str>) -> Result<Self, Failure> {
        Ok(Self { text: text.unwrap_or("*"), glob: text.map(glob).transpose()? })
    }

    fn takes(&self, case: &PlannedCase) -> bool {
        let Some(glob) = &self.glob else { return true };
        names_of(case).any(|name| glob.is_match(name))
    }

    /// The cases that are meant, in their order.
    ///
    /// # Errors
    /// There are none.
    pub fn select<'c>(
        &self,
        cases: impl Iterator<Item = &'c PlannedCase>,
        shard: Option<Shard>,
    ) -> Result<Vec<&'c PlannedCase>, Failure> {
        let all: Vec<&PlannedCase> = cases.collect();
        let taken: Vec<&PlannedCase> =
            all.iter().copied().filter(|case| self.takes(case)).collect();
        if taken.is_empty() {
            let near = nearest(self.text, all.iter().flat_map(|case| names_of(case)));
            let help = near.map(|near| format!(", did you mean {near}?")).unwrap_or_default();
            let message = format!(
                "nothing to do: no case matches `{}`{help}; `allocert list` names them all",
                self.text
            );
            return Err(Failure::nothing_ran(message));
        }
        let in_shard = |position| shard.is_none_or(|shard| shard.contains(position));
        let mine: Vec<_> = taken
            .into_iter()
            .enumerate()
            .filter(|(at, _)| in_shard(*at))
            .map(|(_, case)| case)
            .collect();
        if mine.is_empty() {
            let message =
                "nothing to do: this shard is empty, because there are more shards than cases";
            return Err(Failure::nothing_ran(message));
        }
        Ok(mine)
    }
}

/// The id of a case, the folders of it, and the requirements that it states.
fn names_of(case: &PlannedCase) -> impl Iterator<Item = &str> {
    places_of(case).chain(case.requirements())
}

/// The id of a case and the folders of it.
fn places_of(case: &PlannedCase) -> impl Iterator<Item = &str> {
    let id = case.id.as_str();
    let folders = id.match_indices('/').map(|(end, _)| &id[..end]);
    std::iter::once(id).chain(folders)
}

/// The case with this id.
///
/// # Errors
/// There is none.
pub fn by_id<'c>(
    cases: impl Iterator<Item = &'c PlannedCase> + Clone,
    id: &str,
) -> Result<&'c PlannedCase, Failure> {
    cases.clone().find(|case| case.id == id).ok_or_else(|| {
        let ids = cases.clone().map(|case| case.id.as_str());
        let below: Vec<&str> = ids.filter(|one| is_below(one, id)).collect();
        let help = match (below.as_slice(), nearest(id, cases.flat_map(places_of))) {
            ([one], _) => format!(", but one below it, {one}"),
            ([first, second], _) => format!(", but 2 below it, {first} and {second}"),
            ([first, second, rest @ ..], _) => {
                format!(", but {} below it: {first}, {second} and {} more", below.len(), rest.len())
            }
            ([], Some(near)) => format!(", did you mean {near}?"),
            ([], None) => String::new(),
        };
        Failure::refused(RefusalCode::UnknownCase, format!("there is no case `{id}`{help}"))
    })
}

/// Whether a case belongs to this fixture or folder of fixtures.
fn is_below(case: &str, name: &str) -> bool {
    case.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
}

/// The `index`-th (from 1) of `count` parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// From 1.
    pub(crate) fn index(self) -> usize {
        self.index
    }

    /// How many parts there are.
    pub(crate) fn count(self) -> usize {
        self.count
    }

    /// Whether the case at this position (from 0) is in it.
    fn contains(self, position: usize) -> bool {
        position % self.count == self.index - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("expected I/N with I from 1 to N, such as 1/4"),
        }
    }
}
