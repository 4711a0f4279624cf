//! Numbers the names of a sequence in the order in which they are bound: the first `a7` becomes
//! `a1`.

use std::collections::BTreeMap;

use allocert_suite::interface::Operation;
use allocert_suite::nouns::Name;
use smol_str::format_smolstr;

use crate::step::{Step, bound_name};

/// Renames everything but `m`, which the setup makes. `names_of` gives the names in an operation.
pub(crate) fn renumber(steps: &mut [Step], names_of: fn(&mut Operation) -> Vec<&mut Name>) {
    let mut names: BTreeMap<Name, Name> = BTreeMap::new();
    let mut counts: BTreeMap<char, u32> = [('m', 1)].into();
    for step in steps.iter_mut() {
        if let Some(name) = bound_name(step) {
            let prefix = name.chars().next().unwrap_or('x');
            let count = counts.entry(prefix).or_default();
            *count += 1;
            names.insert(name.into(), format_smolstr!("{prefix}{count}"));
        }
        let mut names_of_step: Vec<&mut Name> = vec![&mut step.on];
        names_of_step.extend(names_of(&mut step.r#do));
        for name in names_of_step {
            if let Some(new) = names.get(name.as_str()) {
                name.clone_from(new);
            }
        }
    }
}
