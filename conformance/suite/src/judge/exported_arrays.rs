//! Judges each description that an object exports in a case, all of its entries. The catalogue
//! gives each defect its requirement.

use allocert_contract::array::{ArrayInterface, Defect, DefectKind, Description, Stream};
use allocert_requirements::Level;
use serde_json::Value;
use strum::VariantArray as _;

use crate::interface::shared::bound_type::EXPORT;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;
use crate::judge::{expected_calls, steps};
use crate::observation::{Facts, Outcome};
use crate::reason::Reason;

/// The defects of an export that only the driver can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DriverDefect {
    /// The driver knows no memory at the pointer.
    MemoryUnknown,
    /// A byte of an element lies outside of the allocation that the pointer lies in.
    OutsideAllocation,
    /// The driver knows no such stream.
    StreamUnknown,
}

impl DriverDefect {
    pub(crate) const ALL: [Self; 3] =
        [Self::MemoryUnknown, Self::OutsideAllocation, Self::StreamUnknown];

    /// The name that the catalogue's `defects:` uses.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MemoryUnknown => "memory_unknown",
            Self::OutsideAllocation => "outside_allocation",
            Self::StreamUnknown => "stream_unknown",
        }
    }
}

/// Judges every export of the case. Every defect in the description of a mask counts as a defect of
/// the mask.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    for (index, step) in record.case.steps.iter().enumerate() {
        let exports = step.r#do.properties().binds.is_some_and(|(_, bound)| bound == EXPORT);
        let Some(Outcome::Returned(facts)) = record.outcome(index).filter(|_| exports) else {
            continue;
        };
        let Some(description) = facts.get("description") else { continue };
        for kind in names() {
            if let Some(requirement) = record.catalogue.by_defect(record.side, &kind) {
                sink.checked(&requirement.id);
            }
        }
        match read(description) {
            Ok(array) => {
                driver_defects(&array, facts).into_iter().for_each(|(defect, observed)| {
                    sink.report_defect(defect.name(), step, observed);
                })
            }
            Err(defects) => defects.iter().for_each(|defect| {
                if defect.kind == DefectKind::NotCarried && !is_endless_mask(defect) {
                    return sink.not_observed(Reason::NotCarried {
                        step: step.index,
                        entry: defect.path.clone(),
                    });
                }
                if defect.kind == DefectKind::InterfaceRaised
                    && let Some(function) =
                        expected_calls::function_that_driver_lacks(record, step.index)
                {
                    return steps::not_in_driver(sink, step, function);
                }
                sink.report_defect(&name(record, defect), step, defect.to_string());
            }),
        }
    }
}

/// The name of any defect of a mask that keeps it from conforming.
const MASK: &str = "mask";

/// A defect that is allowed in an array is allowed in its mask. The attribute of a mask raises for
/// the same reasons as any other.
fn name(record: &CaseRecord<'_>, defect: &Defect) -> String {
    let own = defect.kind.to_string();
    let level = record.catalogue.by_defect(record.side, &own).map(|requirement| requirement.level);
    let raised = defect.kind == DefectKind::InterfaceRaised;
    if !raised && defect.of_mask() && level.is_none_or(|level| level == Level::Must) {
        MASK.to_owned()
    } else {
        own
    }
}

/// Whether masks have masks, more of them than anybody makes.
fn is_endless_mask(defect: &Defect) -> bool {
    defect.of_mask() && defect.path.ends_with(MASK)
}

/// The names of everything that can be wrong with an export.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let read = DefectKind::VARIANTS
        .iter()
        .filter(|kind| **kind != DefectKind::NotCarried)
        .map(ToString::to_string);
    read.chain(DriverDefect::ALL.map(|driver_defects| driver_defects.name().to_owned()))
        .chain([MASK.to_owned()])
}

fn read(description: &Value) -> Result<ArrayInterface, Vec<Defect>> {
    match serde_json::from_value::<Description>(description.clone()) {
        Ok(description) => ArrayInterface::read(&description),
        // The worker writes the form of a description, so a wrong form is not the subject's fault.
        Err(_) => Err(Vec::new()),
    }
}

/// The statements of a valid description that contradict the driver.
fn driver_defects(array: &ArrayInterface, facts: &Facts) -> Vec<(DriverDefect, String)> {
    let mut found = Vec::new();
    found.extend(
        array
            .extent()
            .and_then(|extent| misplaced_elements(array, *extent.start(), *extent.end(), facts)),
    );
    let handle = match array.stream() {
        Stream::Handle(handle) => Some(handle),
        Stream::None | Stream::Legacy | Stream::PerThread => None,
    };
    if let Some(handle) = handle.filter(|_| facts.get("stream_flags").is_some_and(Value::is_null)) {
        found.push((
            DriverDefect::StreamUnknown,
            format!("stream: the driver knows no stream {handle:#x}"),
        ));
    }
    found
}

/// Whether its elements lie in memory that the driver gave.
fn misplaced_elements(
    array: &ArrayInterface,
    first: u64,
    last: u64,
    facts: &Facts,
) -> Option<(DriverDefect, String)> {
    let memory = facts.get("memory")?;
    let pointer = array.data().0;
    if memory.get("known").and_then(Value::as_bool) == Some(false) {
        return Some((
            DriverDefect::MemoryUnknown,
            format!("data[0]: the driver knows no memory at {pointer:#x}"),
        ));
    }
    let number = |name: &str| memory.get(name).and_then(Value::as_u64);
    let (base, end) = (number("base")?, number("base")?.checked_add(number("size_bytes")?)?);
    (first < base || last >= end).then(|| {
        let observed = format!(
            "data[0]: elements lie at {first:#x}..={last:#x}, and the allocation is \
             {base:#x}..{end:#x}, {} bytes",
            end - base
        );
        (DriverDefect::OutsideAllocation, observed)
    })
}
