//! "Did you mean": the candidate closest to a misspelt word.

use strsim::damerau_levenshtein;

/// The candidate within a third of the word's length in edits, if there is one. Upper and lower
/// case are the same.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = ((word.chars().count() + 1) / 3).max(1);
    let word = word.to_ascii_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (damerau_levenshtein(&word, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_a_slip_and_refuses_a_stranger() {
        let words = ["memalloc", "memhostalloc", "mempin", "reset"];
        assert_eq!(nearest("memaloc", words), Some("memalloc"));
        assert_eq!(nearest("mempni", words), Some("mempin"));
        assert_eq!(nearest("RESET", words), Some("reset"));
        assert_eq!(nearest("zzzzz", words), None);
    }
}
