//! A row of what was measured.

use std::fmt;

/// A stream's kind, and whether it is of context B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamKind {
    pub(crate) name: &'static str,
    pub(crate) of_b: bool,
}

const NAMES: [&str; 5] = ["blocking", "non_blocking", "legacy", "per_thread", "other_thread"];

impl StreamKind {
    pub(crate) fn of(text: &str) -> Self {
        let (name, of_b) = match text.strip_suffix("@B") {
            Some(name) => (name, true),
            None => (text, false),
        };
        let name = NAMES.into_iter().find(|one| *one == name);
        Self { name: name.unwrap_or_else(|| panic!("no kind of stream: {text}")), of_b }
    }
}

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) call: String,
    pub(crate) what: String,
    pub(crate) busy: StreamKind,
    /// `busy`, `-` or a kind.
    pub(crate) stream: String,
    pub(crate) result: i32,
    pub(crate) host_waits: bool,
    pub(crate) later: Vec<String>,
    /// Only some streams were asked, none of context B.
    pub(crate) is_brief: bool,
    /// The device of context B.
    pub(crate) device_of_b: u64,
}

pub(crate) fn rows(table: &str) -> Vec<Row> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut rows: Vec<Row> = lines.map(Row::read).collect();
    // A brief entry has no row with a busy stream of context B. The entries follow each other.
    let mut from = 0;
    while from < rows.len() {
        let same = |row: &&Row| row.call == rows[from].call && row.what == rows[from].what;
        let to = from + rows[from..].iter().take_while(same).count();
        let is_brief = !rows[from..to].iter().any(|row| row.busy.of_b);
        rows[from..to].iter_mut().for_each(|row| row.is_brief = is_brief);
        from = to;
    }
    rows
}

impl Row {
    fn read(line: &str) -> Self {
        let cells: Vec<&str> = line.split('\t').collect();
        let [call, what, busy, stream, result, host, later] = cells[..] else {
            panic!("seven columns: {line}")
        };
        Self {
            call: call.to_owned(),
            what: what.to_owned(),
            busy: StreamKind::of(busy),
            stream: stream.to_owned(),
            result: result.parse().expect("a CUresult"),
            host_waits: host == "waits",
            later: later.split(' ').filter(|name| *name != "-").map(str::to_owned).collect(),
            is_brief: false,
            device_of_b: 0,
        }
    }

    /// Whether the next work of a stream came after the busy one's; `None` if nobody asked.
    pub(crate) fn is_after(&self, name: &str) -> Option<bool> {
        if self.is_brief && name.ends_with("@B") {
            return None;
        }
        Some(self.host_waits || self.later.iter().any(|one| one == name))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, what, busy, stream, .. } = self;
        let context = if busy.of_b { "@B" } else { "" };
        write!(f, "{call} ({what}) in {stream}, {}{context} is busy", busy.name)
    }
}
