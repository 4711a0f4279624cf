//! Finds the candidate that is closest to a misspelt word, and writes the help that names it.

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

/// "did you mean", or the list of what there is.
#[must_use]
pub fn suggestion<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(candidate) = nearest(word, candidates.clone()) {
        return Some(format!("did you mean `{candidate}`?"));
    }
    let all: Vec<&str> = candidates.into_iter().take(60).collect();
    (!all.is_empty()).then(|| format!("one of: {}", all.join(", ")))
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
