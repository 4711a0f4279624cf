//! An event's JSON form: one object, which names what it holds.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::SerializeMap};

use super::{Call, Event, Function, Misuse, What};
use crate::trace::{Boundary, Marker, MarkerKind, cuda};

/// The values of one side of a call, under their names.
struct Named<'a>(&'a Call, bool);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(call, outputs) = *self;
        if outputs {
            serializer.collect_map(call.function.outputs().zip(call.out))
        } else {
            serializer.collect_map(call.function.inputs().zip(call.args))
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        match &self.what {
            What::Call(call) => serialize_call(&mut map, call)?,
            What::Marker(marker) => {
                map.serialize_entry("marker", &marker.kind())?;
                if let Some(step) = marker.step() {
                    map.serialize_entry("step", &step)?;
                }
            }
            What::Misuse { misuse, function, args } => {
                map.serialize_entry("misuse", misuse)?;
                map.serialize_entry("in", function)?;
                map.serialize_entry("values", args)?;
            }
            What::Unsupported { function, per_thread } => {
                map.serialize_entry("unsupported", function)?;
                serialize_per_thread(&mut map, *per_thread)?;
            }
            What::PassedOn { function, per_thread } => {
                map.serialize_entry("passed_on", function)?;
                serialize_per_thread(&mut map, *per_thread)?;
            }
            What::Argument { launch, stream, position, value, base, size_bytes } => {
                map.serialize_entry("argument", position)?;
                map.serialize_entry("launch", launch)?;
                map.serialize_entry("stream", stream)?;
                map.serialize_entry("value", value)?;
                map.serialize_entry("base", base)?;
                map.serialize_entry("size_bytes", size_bytes)?;
            }
        }
        map.serialize_entry("thread", &self.thread)?;
        map.serialize_entry("process", &self.process)?;
        map.serialize_entry("context", &self.context)?;
        map.end()
    }
}

fn serialize_per_thread<M: SerializeMap>(map: &mut M, per_thread: bool) -> Result<(), M::Error> {
    if per_thread { map.serialize_entry("per_thread", &true) } else { Ok(()) }
}

fn serialize_call<M: SerializeMap>(map: &mut M, call: &Call) -> Result<(), M::Error> {
    map.serialize_entry("boundary", &call.function.boundary())?;
    map.serialize_entry("call", call.function.name())?;
    serialize_per_thread(map, call.per_thread)?;
    if call.injected {
        map.serialize_entry("injected", &true)?;
    }
    map.serialize_entry("args", &Named(call, false))?;
    if call.result == Some(0) && call.function.outputs().next().is_some() {
        map.serialize_entry("out", &Named(call, true))?;
    }
    map.serialize_entry("result", &call.result)
}

/// What the JSON object holds, before names are resolved.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    seq: u64,
    thread: u32,
    process: u32,
    context: u64,
    boundary: Option<Boundary>,
    #[serde(borrow)]
    call: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    args: BTreeMap<Cow<'a, str>, u64>,
    #[serde(default, borrow)]
    out: BTreeMap<Cow<'a, str>, u64>,
    result: Option<i32>,
    #[serde(default)]
    per_thread: bool,
    #[serde(default)]
    injected: bool,
    marker: Option<MarkerKind>,
    #[serde(default)]
    step: u64,
    misuse: Option<Misuse>,
    r#in: Option<cuda::Function>,
    #[serde(default)]
    values: [u64; 2],
    unsupported: Option<cuda::Function>,
    passed_on: Option<cuda::Function>,
    argument: Option<u32>,
    #[serde(default)]
    launch: u64,
    #[serde(default)]
    stream: u64,
    #[serde(default)]
    value: u64,
    #[serde(default)]
    base: u64,
    #[serde(default)]
    size_bytes: u64,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let what = match (
            &wire.call,
            wire.marker,
            wire.misuse,
            wire.unsupported,
            wire.passed_on,
            wire.argument,
        ) {
            (Some(name), None, None, None, None, None) => {
                What::Call(call(&wire, name).map_err(D::Error::custom)?)
            }
            (None, Some(kind), None, None, None, None) => {
                What::Marker(Marker::new(kind, wire.step))
            }
            (None, None, Some(misuse), None, None, None) => {
                let function = wire.r#in.ok_or_else(|| D::Error::missing_field("in"))?;
                What::Misuse { misuse, function, args: wire.values }
            }
            (None, None, None, Some(function), None, None) => {
                What::Unsupported { function, per_thread: wire.per_thread }
            }
            (None, None, None, None, Some(function), None) => {
                What::PassedOn { function, per_thread: wire.per_thread }
            }
            (None, None, None, None, None, Some(position)) => What::Argument {
                launch: wire.launch,
                stream: wire.stream,
                position,
                value: wire.value,
                base: wire.base,
                size_bytes: wire.size_bytes,
            },
            _ => {
                let kinds = "`call`, `marker`, `misuse`, `unsupported`, `passed_on`, `argument`";
                return Err(D::Error::custom(format_args!("an event has exactly one of {kinds}")));
            }
        };
        Ok(Self {
            seq: wire.seq,
            thread: wire.thread,
            process: wire.process,
            context: wire.context,
            what,
        })
    }
}

fn call(wire: &Wire<'_>, name: &str) -> Result<Call, String> {
    let boundary = wire.boundary.ok_or("a call without its `boundary`")?;
    let function = Function::by_name(boundary, name)
        .ok_or_else(|| format!("the boundary `{boundary}` has no function `{name}`"))?;
    Ok(Call {
        function,
        args: positional(function, function.inputs(), &wire.args)?,
        out: positional(function, function.outputs(), &wire.out)?,
        result: wire.result,
        per_thread: wire.per_thread,
        injected: wire.injected,
    })
}

fn positional<const N: usize>(
    function: Function,
    names: impl Iterator<Item = &'static str>,
    values: &BTreeMap<Cow<'_, str>, u64>,
) -> Result<[u64; N], String> {
    let mut words = [0; N];
    let mut used = 0;
    for (word, name) in words.iter_mut().zip(names) {
        if let Some(value) = values.get(name) {
            *word = *value;
            used += 1;
        }
    }
    if used == values.len() {
        Ok(words)
    } else {
        Err(format!("a value in the event is not a parameter of {function}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::plugin;

    fn event(what: What) -> Event {
        Event { seq: 12, thread: 77, process: 70, context: 1, what }
    }

    fn alloc(result: Option<i32>, out: u64) -> What {
        What::Call(Call {
            function: cuda::Function::cuMemAlloc_v2.into(),
            args: [64, 0, 0, 0, 0, 0, 0, 0],
            out: [out, 0, 0],
            result,
            per_thread: false,
            injected: false,
        })
    }

    const FINALIZE: What = What::Call(Call {
        function: Function::Plugin(plugin::Function::Finalize),
        args: [4, 1, 3, 137, 1, 1, 0, 0],
        out: [0; 3],
        result: Some(0),
        per_thread: false,
        injected: false,
    });

    const ARGUMENT: What = What::Argument {
        launch: 11,
        stream: 87,
        position: 2,
        value: 4104,
        base: 4096,
        size_bytes: u64::MAX,
    };

    #[test]
    fn the_json_names_everything() {
        let text = |what| {
            let text = serde_json::to_string(&event(what)).expect("serializable");
            let rest = r#","thread":77,"process":70,"context":1}"#;
            let own = text.strip_prefix(r#"{"seq":12,"#).and_then(|text| text.strip_suffix(rest));
            own.expect("every event begins and ends like this").to_owned()
        };
        assert_eq!(
            text(alloc(Some(0), 137)),
            r#""boundary":"cuda","call":"cuMemAlloc_v2","args":{"bytesize":64},"#.to_owned()
                + r#""out":{"dptr":137},"result":0"#
        );
        assert_eq!(
            text(FINALIZE),
            r#""boundary":"plugin","call":"finalize","#.to_owned()
                + r#""args":{"number":4,"manager":1,"of":3,"pointer":137,"times":1,"live":1},"#
                + r#""result":0"#
        );
        assert_eq!(
            text(What::Marker(Marker::StepBegin { step: 3 })),
            r#""marker":"step_begin","step":3"#
        );
        assert_eq!(
            text(What::Misuse {
                misuse: Misuse::DestroyedStream,
                function: cuda::Function::cuStreamQuery,
                args: [5, 0]
            }),
            r#""misuse":"destroyed_stream","in":"cuStreamQuery","values":[5,0]"#
        );
        assert_eq!(
            text(What::Argument {
                launch: 11,
                stream: 87,
                position: 2,
                value: 4104,
                base: 4096,
                size_bytes: 64
            }),
            r#""argument":2,"launch":11,"stream":87,"value":4104,"base":4096,"size_bytes":64"#
        );
    }

    #[test]
    fn every_kind_survives_json() {
        let kinds = [
            alloc(Some(0), 137),
            alloc(Some(2), 0),
            alloc(None, 0),
            What::Marker(Marker::StepEnd { step: u64::MAX }),
            What::Marker(Marker::HarnessBegin),
            What::Marker(Marker::HostCodeEnd),
            FINALIZE,
            What::Misuse {
                misuse: Misuse::WorkAfterFree,
                function: cuda::Function::cuCtxSynchronize,
                args: [5, 6],
            },
            What::Unsupported { function: cuda::Function::cuGetExportTable, per_thread: true },
            What::PassedOn { function: cuda::Function::cuGraphCreate, per_thread: true },
            ARGUMENT,
        ];
        for what in kinds {
            let text = serde_json::to_string(&event(what.clone())).expect("serializable");
            assert_eq!(
                serde_json::from_str::<Event>(&text).expect("own output"),
                event(what),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_call_is_said() {
        let error = |call: &str| {
            let text = format!(r#"{{"seq":1,{call},"thread":1,"process":1,"context":0}}"#);
            serde_json::from_str::<Event>(&text).expect_err(call).to_string()
        };
        let parameter = error(r#""boundary":"cuda","call":"cuMemFree_v2","args":{"bytes":1}"#);
        assert!(parameter.contains("not a parameter of cuMemFree_v2"), "{parameter}");
        let function = error(r#""boundary":"place","call":"memalloc""#);
        assert!(function.contains("`place` has no function `memalloc`"), "{function}");
        let boundary = error(r#""call":"cuMemFree_v2""#);
        assert!(boundary.contains("without its `boundary`"), "{boundary}");
    }
}
