//! Joins the runs of all shards of a side into the run that one machine would have made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use allocert_suite::report::clean;
use allocert_suite::run_format::{self, Header, Judged, Repeats, Run};

use crate::case_filter::Shard;
use crate::failure::Failure;
use crate::output_file::{OutputFile, refuse_one_file_twice, refuse_to_overwrite};
use crate::recorded_run::{shard, suite_of, wrong};
use crate::run_file::{self, Contents};

/// The run of one shard, and its file.
struct Part {
    path: PathBuf,
    shard: Shard,
    header: Header,
    cases: Vec<Judged>,
    /// Of a run with `--repeat`.
    repeats: Option<Repeats>,
}

/// Reads the runs of all shards and writes them as one run. Gives the number of its cases.
///
/// # Errors
/// A file is no run of a shard, is of another run than the others, or a shard or a case is missing
/// or there twice.
pub fn merge(paths: &[PathBuf], out: &Path) -> Result<usize, Failure> {
    for path in paths {
        refuse_one_file_twice([out, path.as_path()].into_iter())?;
    }
    let parts = paths.iter().map(|path| read(path)).collect::<Result<Vec<Part>, _>>()?;
    for part in &parts {
        refuse_to_overwrite(out, part.header.subject.details.get("file"))?;
    }
    let mut parts = in_order(parts)?;
    let Some(first) = parts.first() else { return Ok(0) };
    let mut header = whole(&first.header);
    header.started_unix_ms = parts.iter().filter_map(|part| part.header.started_unix_ms).min();
    refuse_repeated_cases(&parts)?;
    let repeats = parts.iter_mut().filter_map(|part| part.repeats.take()).reduce(Repeats::join);
    let cases = interleave(parts.iter_mut().map(|part| std::mem::take(&mut part.cases)).collect());
    OutputFile::create_run(out)?.write_run(&Contents {
        header: &header,
        judged: &cases,
        spool: None,
        repeats: repeats.as_ref(),
    })?;
    Ok(cases.len())
}

fn read(path: &Path) -> Result<Part, Failure> {
    let Run { header, cases, footer } = run_file::read(path)?;
    suite_of(path, &header, &cases)?;
    let selection = header.selection.clone().unwrap_or_default();
    let Some(shard) = shard(path, &selection)? else {
        let message = "it is no part of a run: it was made without --shard";
        return Err(wrong(path, message));
    };
    Ok(Part { path: path.to_owned(), shard, header, cases, repeats: footer.repeats })
}

/// The parts by the number of their shard, each exactly once and all of one run.
fn in_order(mut parts: Vec<Part>) -> Result<Vec<Part>, Failure> {
    let Some((first, others)) = parts.split_first() else { return Ok(parts) };
    for part in others {
        check_same_run(first, part)?;
    }
    let count = first.shard.count();
    parts.sort_by_key(|part| part.shard.index());
    let twice = parts.windows(2).find(|pair| pair[0].shard == pair[1].shard);
    if let Some(pair) = twice {
        let (other, shard) = (pair[0].path.display(), pair[1].shard);
        let message = format!("it is shard {shard}, and so is {other}; name each shard once");
        return Err(wrong(&pair[1].path, &message));
    }
    let there: BTreeSet<usize> = parts.iter().map(|part| part.shard.index()).collect();
    match (1..=count).find(|index| !there.contains(index)) {
        None => Ok(parts),
        Some(index) => {
            let message = format!(
                "it is shard {}, and shard {index}/{count} is missing; name its run file too",
                parts[0].shard
            );
            Err(wrong(&parts[0].path, &message))
        }
    }
}

fn check_same_run(first: &Part, part: &Part) -> Result<(), Failure> {
    let of = first.path.display();
    if first.shard.count() != part.shard.count() {
        let message = format!("it is shard {}, and {of} is shard {}", part.shard, first.shard);
        return Err(wrong(&part.path, &message));
    }
    let comparable = |header: &Header| Header { started_unix_ms: None, ..whole(header) };
    let (ours, theirs) = (comparable(&first.header), comparable(&part.header));
    let times = |part: &Part| part.repeats.as_ref().map(|repeats| repeats.count);
    let other_count = (times(first) != times(part)).then(|| "--repeat".to_owned());
    match run_format::differing_field(&ours, &theirs).or(other_count) {
        None => Ok(()),
        Some(field) => {
            let message = format!(
                "its `{field}` is not that of {of}; run all shards with the same allocert, \
                 subject, driver and options"
            );
            Err(wrong(&part.path, &message))
        }
    }
}

/// The header without what says that the run is a part.
fn whole(header: &Header) -> Header {
    let mut header = header.clone();
    if let Some(selection) = &mut header.selection {
        selection.shard = None;
    }
    header
}

fn refuse_repeated_cases(parts: &[Part]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for part in parts {
        for judged in &part.cases {
            if !seen.insert(judged.case.id.as_str()) {
                let case = clean(&judged.case.id);
                let message = format!("the case {case} is there twice, or in another shard too");
                return Err(wrong(&part.path, &message));
            }
        }
    }
    Ok(())
}

/// The cases in the order of the plan: shards deal them out one by one. Swept cases come last.
fn interleave(shards: Vec<Vec<Judged>>) -> Vec<Judged> {
    let (mut swept, mut shards_of_unswept) = (Vec::new(), Vec::new());
    for cases in shards {
        let (of_sweep, unswept): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|judged| judged.case.is_swept());
        swept.extend(of_sweep);
        shards_of_unswept.push(unswept.into_iter());
    }
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(shards_of_unswept.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            all.append(&mut swept);
            return all;
        }
    }
}
