//! free() with a size that is not the size of the block.
//!
//! A handler may believe the size: overwrite so many bytes, unmap them, or give them out as a block
//! of that size. The block that is freed so has others of the case behind it. They take the damage,
//! and not the memory of the worker.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::churn_and_stress::{Block, BlockSource};
use crate::interface::nep49::handler::HandlerCalls;
use crate::interface::nep49::rounds::rounds;
use crate::step_result::{NoResult, facts};

/// The block that is freed has so many others behind it, where there are as many.
const LEAST_BEHIND: u64 = 16;

/// A block, filled with its byte.
type Filled = (Block, u8);

/// Frees one of several blocks with the size `guess`.
pub(crate) fn free_guessed(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    guess: u64,
    blocks: u64,
) -> Result<Facts, NoResult> {
    let (mut failed, mut changed, mut overlaps) = (0_u64, 0, 0);
    // One allocation before the first block: none of the worker's own comes between the blocks.
    let mut held: Vec<Filled> = Vec::with_capacity(blocks as usize + 3);
    for number in 0..blocks {
        match calls.malloc_block(size_bytes)? {
            Some(block) => held.push((block, (number % 255) as u8 + 1)),
            None => failed += 1,
        }
    }
    held.sort_unstable_by_key(|(block, _)| block.address);
    held.iter().for_each(|(block, byte)| calls.fill(*block, *byte));
    if !held.is_empty() {
        let (freed, _) = held.remove(with_most_behind(&held, guess));
        calls.free(freed.address as usize, guess)?;
        changed = count_changed(calls, &held);
    }
    if changed == 0 {
        for (number, size_bytes) in [guess.max(1), size_bytes, size_bytes].into_iter().enumerate() {
            let Some(block) = calls.malloc_block(size_bytes)? else {
                failed += 1;
                continue;
            };
            overlaps += u64::from(held.iter().any(|(other, _)| overlap(block, *other)));
            held.push((block, number as u8 + 1));
        }
    }
    if changed == 0 && overlaps == 0 {
        let new = held.len().saturating_sub(3);
        held[new..].iter().for_each(|(block, byte)| calls.fill(*block, *byte));
        changed = count_changed(calls, &held);
    }
    if changed == 0 && overlaps == 0 {
        for (block, _) in held {
            calls.give(block)?;
        }
    }
    Ok(facts([
        ("failed", json!(failed)),
        ("changed", json!(changed)),
        ("overlaps", json!(overlaps)),
    ]))
}

/// Rounds with the right size and then with `guess`.
pub(crate) fn guessed_rounds(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    guess: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let told = |told: u64| {
        rounds(
            calls,
            times,
            || calls.malloc_block(size_bytes),
            move |block| {
                calls.free(block.address as usize, told)?;
                Ok(true)
            },
        )
    };
    let right = told(size_bytes)?;
    let (right_bytes, mut facts) = (right.memory.kept_bytes(), right.memory.facts());
    let guessed = told(guess)?;
    let grown_bytes = guessed.memory.kept_bytes().saturating_sub(right_bytes);
    facts.insert("failed".into(), json!(right.failed + guessed.failed));
    facts.insert("grown_bytes".into(), json!(grown_bytes));
    Ok(facts)
}

/// The index of the block with the most bytes of others right behind it, as far as free() may write
/// if it believes the size. The blocks are sorted.
fn with_most_behind(blocks: &[Filled], guess: u64) -> usize {
    let behind = |index: usize| -> u64 {
        let (first, _) = blocks[index];
        let begin = first.address.saturating_add(first.size_bytes);
        let end = begin.saturating_add(guess.max(LEAST_BEHIND * first.size_bytes));
        let others = blocks[index + 1..].iter().take_while(|(other, _)| other.address < end);
        others.map(|(other, _)| other.size_bytes.min(end - other.address)).sum()
    };
    (0..blocks.len()).rev().max_by_key(|index| behind(*index)).unwrap_or(0)
}

fn count_changed(calls: HandlerCalls<'_>, held: &[Filled]) -> u64 {
    held.iter().filter(|(block, byte)| !calls.is_filled(*block, *byte)).count() as u64
}

fn overlap(one: Block, other: Block) -> bool {
    let end = |block: Block| block.address.saturating_add(block.size_bytes);
    one.address < end(other) && other.address < end(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_that_is_freed_has_the_most_bytes_of_others_behind_it() {
        let at = |address| (Block { address, size_bytes: 80 }, 1);
        let alone_then_row = [0x1000, 0x9000, 0x9060, 0x90c0, 0x20000, 0x20060].map(at);
        assert_eq!(with_most_behind(&alone_then_row, 1), 1);
        assert_eq!(with_most_behind(&[at(0x1000)], 1), 0);
        let with_gaps_then_dense = [0x1000, 0x1300, 0x1600, 0x1900, 0x9000, 0x9060, 0x90c0].map(at);
        assert_eq!(with_most_behind(&with_gaps_then_dense, 300), 4);
    }

    #[test]
    fn blocks_that_touch_do_not_overlap() {
        let block = |address, size_bytes| Block { address, size_bytes };
        assert!(!overlap(block(0x1000, 16), block(0x1010, 16)));
        assert!(overlap(block(0x1000, 17), block(0x1010, 16)));
        assert!(overlap(block(0x1008, 1), block(0x1000, 16)));
    }
}
