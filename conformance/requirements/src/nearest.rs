//! "Did you mean": the candidate closest to a misspelt word.

/// The candidate within a third of the word's length in edits, if there is one.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = ((word.chars().count() + 1) / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, without regard to ASCII case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(!a.eq_ignore_ascii_case(b));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_slip_and_refuses_a_stranger() {
        let words = ["memalloc", "memhostalloc", "mempin", "reset"];
        assert_eq!(nearest("memaloc", words), Some("memalloc"));
        assert_eq!(nearest("RESET", words), Some("reset"));
        assert_eq!(nearest("zzzzz", words), None);
    }
}
