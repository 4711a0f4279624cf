//! The fault sweep of memory managers.

use serde_json::{Value, json};

use super::Operation;
use crate::expectation::Wanted;
use crate::interface;
use crate::interface::fault_sweep::{
    Demand, Demanded, EarlierStep, FaultSweep, InjectedFault, ProbeStep, as_written, is, not,
    or_raises, returns, same,
};
use crate::interface::shared::{Attach, Drop, Fill, Read};
use crate::nouns::{ErrorKind, Name};
use crate::observation::{Facts, Outcome};

/// A name that no fixture can bind.
const PROBE: Name = Name::new_static("!probe");
/// One page: what many cases ask for first.
const PROBE_BYTES: i128 = 4096;
/// What the probe writes to its memory and reads again.
const PROBE_BYTE: u8 = 0xa5;

#[derive(Debug)]
pub(super) struct ManagerSweep;

impl FaultSweep for ManagerSweep {
    fn fault(&self, fault: InjectedFault) -> interface::Operation {
        Operation::Fault(fault.into()).into()
    }

    fn of_step(
        &self,
        before: &[EarlierStep<'_>],
        operation: &interface::Operation,
        clean: &Outcome,
    ) -> Demanded {
        let interface::Operation::Emm(operation) = operation else { return None };
        let facts = match clean {
            Outcome::Returned(facts) => Some(facts),
            _ => None,
        };
        match (operation, facts) {
            // Only the harness performs these.
            (Operation::Attach(_) | Operation::Detach {} | Operation::HostBuffer(_), _) => None,
            // The subject gave this memory earlier, so no later failure may take it away.
            (Operation::Fill(_), Some(_)) => Some((Demand::MemoryHolds, returns(Wanted::new()))),
            (Operation::Read(Read { memory, .. }), Some(facts)) => {
                Some((Demand::MemoryHolds, returns(as_written(before, memory, facts))))
            }
            (operation, facts) => Some((
                Demand::FailureSurfaces,
                or_raises(success(operation, facts), ErrorKind::Any),
            )),
        }
    }

    fn of_teardown(&self, operation: &interface::Operation, clean: &Outcome) -> Demanded {
        let expected = match (operation, clean) {
            (interface::Operation::Emm(Operation::Detach {}), _) => return None,
            (_, Outcome::Returned(_)) => returns(Wanted::new()),
            _ => or_raises(Wanted::new(), ErrorKind::Any),
        };
        Some((Demand::ServesAfterwards, expected))
    }

    /// Asks the first living manager for memory and uses it. Without a manager the probe only ends
    /// the fault.
    fn probe(&self, before: &[EarlierStep<'_>], memory_is_limited: bool) -> Vec<ProbeStep> {
        let end = ProbeStep {
            operation: Operation::ClearFaults {}.into(),
            on: Name::new_static("m"),
            demanded: None,
        };
        let living = Living::after(before);
        let Some((manager, device)) = living.managers.first().copied() else { return vec![end] };
        let is_elsewhere = living.attached != Some(device);
        let mut operations = Vec::new();
        if is_elsewhere {
            operations.push(Operation::Attach(Attach { device }));
        }
        operations.extend([
            Operation::Memalloc { size: PROBE_BYTES, r#as: PROBE },
            Operation::Fill(Fill { memory: PROBE, byte: PROBE_BYTE, offset: 0, size: None }),
            Operation::Read(Read { memory: PROBE, offset: 0, size: None, device: false }),
            Operation::Drop(Drop { name: PROBE }),
        ]);
        if before.last().is_some_and(is_last_reset) {
            // The failed reset of the teardown left something, and the probe took memory: another
            // reset must give both back.
            operations.push(Operation::Reset {});
        }
        if is_elsewhere {
            operations.push(match living.attached {
                Some(device) => Operation::Attach(Attach { device }),
                None => Operation::Detach {},
            });
        }
        let steps = operations.into_iter().map(|operation| ProbeStep {
            demanded: of_probe(&operation, memory_is_limited),
            operation: operation.into(),
            on: manager.into(),
        });
        [end].into_iter().chain(steps).collect()
    }
}

fn is_last_reset(step: &EarlierStep<'_>) -> bool {
    step.in_teardown && *step.operation == interface::Operation::Emm(Operation::Reset {})
}

/// What exists when the probe begins.
#[derive(Default)]
struct Living<'a> {
    managers: Vec<(&'a str, u32)>,
    /// The device whose context is current on the main thread.
    attached: Option<u32>,
}

impl<'a> Living<'a> {
    fn after(steps: &[EarlierStep<'a>]) -> Self {
        let mut living = Self::default();
        for step in steps {
            let interface::Operation::Emm(operation) = step.operation else { continue };
            match operation {
                Operation::Create { r#as, device } => living.managers.push((r#as, *device)),
                Operation::Destroy {} => living.managers.retain(|(name, _)| *name != step.on),
                Operation::Attach(Attach { device }) if step.on_main_thread => {
                    living.attached = Some(*device)
                }
                Operation::Detach {} if step.on_main_thread => living.attached = None,
                _ => {}
            }
        }
        living
    }
}

fn of_probe(operation: &Operation, memory_is_limited: bool) -> Demanded {
    let wanted = match operation {
        Operation::Memalloc { size, .. } => Wanted::from([
            is("kind", json!("device")),
            is("size_bytes", json!(*size as u64)),
            not("pointer", json!(0)),
        ]),
        Operation::Read(_) => Wanted::from([is("uniform", json!(PROBE_BYTE))]),
        Operation::Attach(_) | Operation::Detach {} => return None,
        _ => Wanted::new(),
    };
    let expected =
        if memory_is_limited { or_raises(wanted, ErrorKind::OutOfMemory) } else { returns(wanted) };
    Some((Demand::ServesAfterwards, expected))
}

/// The facts without which a return is no success.
fn success(operation: &Operation, clean: Option<&Facts>) -> Wanted {
    let Some(facts) = clean else { return Wanted::new() };
    match operation {
        Operation::Memalloc { .. }
        | Operation::Memhostalloc { .. }
        | Operation::Mempin { .. }
        | Operation::View { .. } => {
            let mut wanted = same(facts, &["kind", "size_bytes"]);
            let addresses = ["pointer", "host_pointer"].into_iter();
            wanted.extend(
                addresses.filter(|name| is_set(facts, name)).map(|name| not(name, json!(0))),
            );
            wanted
        }
        Operation::GetMemoryInfo { .. } => same(facts, &["total_bytes"]),
        Operation::GetIpcHandle { .. } => {
            // Not `offset_bytes`: a subject may place the memory elsewhere in its blocks.
            let mut wanted = same(facts, &["handle_bytes", "size_bytes"]);
            let zeros =
                facts.get("handle").and_then(Value::as_str).map(|handle| "0".repeat(handle.len()));
            wanted.extend(zeros.map(|zeros| not("handle", json!(zeros))));
            wanted
        }
        Operation::Churn { .. } | Operation::Reenter { .. } | Operation::Stress { .. } => {
            same(facts, &["overlaps", "misaligned"])
        }
        _ => Wanted::new(),
    }
}

fn is_set(facts: &Facts, name: &str) -> bool {
    facts.get(name).and_then(Value::as_u64).is_some_and(|address| address != 0)
}
