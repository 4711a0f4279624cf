//! Ending what a worker started. Process ids on the socket are claims of untrusted code, so nothing
//! is signalled that `/proc` does not show to descend from the worker this harness started.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};

/// How often what is left behind is looked for, against subjects whose processes multiply.
const ROUNDS: usize = 100;

/// One line of the process table.
#[derive(Debug, Clone, Copy)]
struct Entry {
    parent: i32,
    group: i32,
}

/// The process table at one moment.
#[derive(Debug)]
pub(crate) struct ProcessTable(HashMap<i32, Entry>);

impl ProcessTable {
    pub(crate) fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let processes = entries.filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, parse(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
        });
        Self(processes.collect())
    }

    pub(crate) fn descends(&self, pid: i32, ancestor: i32) -> bool {
        self.descendants(ancestor).contains(&pid)
    }

    pub(crate) fn descendants(&self, ancestor: i32) -> HashSet<i32> {
        let mut found = HashSet::new();
        let mut front = vec![ancestor];
        while let Some(parent) = front.pop() {
            let children = self.0.iter().filter(|(_, entry)| entry.parent == parent);
            front.extend(children.map(|(&pid, _)| pid).filter(|&pid| found.insert(pid)));
        }
        found
    }

    /// Whether its server died and left it to this process, with a process group of its own.
    fn is_orphan(&self, pid: i32) -> bool {
        let own = getpid().as_raw_nonzero().get();
        self.0.get(&pid).is_some_and(|entry| entry.parent == own && entry.group == pid)
    }

    /// Kills `root`'s descendants together with the process groups that they lead. `root` itself
    /// stays.
    fn kill_below(&self, root: i32) {
        for pid in self.descendants(root) {
            self.kill(pid);
        }
    }

    fn kill_from(&self, root: i32) {
        self.kill_below(root);
        self.kill(root);
    }

    fn kill(&self, pid: i32) {
        if self.0.get(&pid).is_some_and(|entry| entry.group == pid) {
            signal_group(pid);
        }
        signal(pid);
    }
}

/// `pid (name) state parent group ...`; the name may hold spaces and parentheses.
fn parse(stat: &str) -> Option<Entry> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace().skip(1);
    Some(Entry { parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
}

/// Whether `pid` is a child that `server` has and has not reaped.
pub(crate) fn is_child(pid: u32, server: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let parent =
        stat.and_then(|stat| parse(&stat)).and_then(|entry| u32::try_from(entry.parent).ok());
    parent == Some(server)
}

/// Makes this process the parent of what a dead worker leaves behind, so that it can be found and
/// ended.
pub(crate) fn become_subreaper() {
    // Where the kernel refuses, a killed worker's children live until they notice by themselves.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends the process running a batch: `child`, which was seen to be the server's, or without it
/// every child that the server has. The server stays.
pub(crate) fn kill_batch(server: u32, child: Option<u32>) {
    let Ok(server) = i32::try_from(server) else { return };
    let table = ProcessTable::read();
    let child = child.and_then(|pid| i32::try_from(pid).ok());
    match child.filter(|&pid| table.descends(pid, server) || table.is_orphan(pid)) {
        Some(pid) => table.kill_from(pid),
        None => table.kill_below(server),
    }
}

/// Ends a worker server with everything below it. The caller started it and has not reaped it, so
/// the id is its own.
pub(crate) fn kill_server(server: u32) {
    if let Ok(server) = i32::try_from(server) {
        ProcessTable::read().kill_from(server);
    }
}

/// The children of a server. Those that are gone and not waited for are among them.
pub(crate) fn children(server: u32) -> HashSet<i32> {
    // One small file where the kernel has it; of a subreaper's threads the first gets the orphans.
    match fs::read_to_string(format!("/proc/{server}/task/{server}/children")) {
        Ok(text) => text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        Err(_) => {
            let parent = i32::try_from(server).ok();
            let table = ProcessTable::read();
            table
                .0
                .iter()
                .filter(|(_, entry)| Some(entry.parent) == parent)
                .map(|(&pid, _)| pid)
                .collect()
        }
    }
}

/// Ends what a batch left behind: a server is the parent of all orphans below it, and had the
/// children `before`.
pub(crate) fn kill_leftovers(server: u32, before: &HashSet<i32>) {
    let mut known = before.clone();
    // What is killed may have had children of its own, or made some in the meantime.
    for _ in 0..ROUNDS {
        let strays: Vec<i32> =
            children(server).into_iter().filter(|pid| known.insert(*pid)).collect();
        if strays.is_empty() {
            return;
        }
        let table = ProcessTable::read();
        strays.into_iter().for_each(|pid| table.kill_from(pid));
    }
}

/// Ends those of `children`, of a server that is gone, which this process has inherited.
pub(crate) fn kill_inherited(children: &HashSet<i32>) {
    if children.is_empty() {
        return;
    }
    let (own, table) = (getpid().as_raw_nonzero().get(), ProcessTable::read());
    let inherited = |pid: &&i32| table.0.get(pid).is_some_and(|entry| entry.parent == own);
    children.iter().filter(inherited).for_each(|&pid| table.kill_from(pid));
}

// A process that is gone already is what was wanted, so errors mean nothing here.
fn signal(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn signal_group(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_name_with_spaces_and_parentheses() {
        let entry = parse("42 (a) b) (c) S 7 42 42 0 -1").expect("well formed");
        assert_eq!((entry.parent, entry.group), (7, 42));
    }

    #[test]
    fn a_stranger_is_no_descendant() {
        let table = ProcessTable::read();
        let own = i32::try_from(std::process::id()).expect("pids fit");
        assert!(!table.descends(1, own));
        assert!(table.descends(own, 1) || own == 1);
    }
}
