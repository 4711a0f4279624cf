//! Numbers the names of a sequence in the order in which they are bound: the first `a7` becomes
//! `a1`.

use std::collections::BTreeMap;

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Drop, Fill, HostBuffer, Read};
use allocert_suite::nouns::Name;
use smol_str::format_smolstr;

use crate::step::{Step, bound_name};

/// Renames everything but `m`, which the setup makes.
pub(crate) fn renumber(steps: &mut [Step]) {
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
        names_of_step.extend(mentioned(&mut step.r#do));
        for name in names_of_step {
            if let Some(new) = names.get(name.as_str()) {
                name.clone_from(new);
            }
        }
    }
}

/// The names in an operation that the model knows.
fn mentioned(operation: &mut Operation) -> Vec<&mut Name> {
    match operation {
        Operation::Create { r#as, .. }
        | Operation::Memalloc { r#as, .. }
        | Operation::Memhostalloc { r#as, .. }
        | Operation::HostBuffer(HostBuffer { r#as, .. })
        | Operation::DeferEnter { r#as } => vec![r#as],
        Operation::Mempin { buffer, r#as, .. } => vec![buffer, r#as],
        Operation::GetIpcHandle { memory, r#as } => vec![memory, r#as],
        Operation::View { of, r#as, .. } => vec![of, r#as],
        Operation::DeferExit { scope, .. } => vec![scope],
        Operation::Drop(Drop { name }) => vec![name],
        Operation::Fill(Fill { memory, .. }) | Operation::Read(Read { memory, .. }) => vec![memory],
        _ => Vec::new(),
    }
}
