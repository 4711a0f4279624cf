//! What a message says apart from its values, so that the same message of two cases is recognised.

/// What the judge adds to the last finding that it lists of a check.
const OTHERS: &str = " (one of ";
/// What the judge adds about the first of several rounds.
const FIRST_ROUND: &str = "; first: ";

/// The message with `#` for numbers, addresses and null values, `` `…` `` for quoted names,
/// `[…]` for lists, and `stream #` for streams. "1 call" and "2 calls" have the same shape.
pub(super) fn of(message: &str) -> String {
    let message = message.split(FIRST_ROUND).next().unwrap_or_default();
    let message = message.split(OTHERS).next().unwrap_or_default().replace("legacy", "stream 1");
    let mut shape = String::with_capacity(message.len());
    let mut rest = message.as_str();
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '`' => quoted(&mut shape, rest, '`', "`…`"),
            '[' => quoted(&mut shape, rest, ']', "[…]"),
            _ if first.is_alphanumeric() || first == '_' => word(&mut shape, rest),
            _ => {
                shape.push(first);
                &rest[first.len_utf8()..]
            }
        };
    }
    shape
}

/// Writes `short` for what stands before the closing character; gives what follows.
fn quoted<'t>(shape: &mut String, text: &'t str, close: char, short: &str) -> &'t str {
    match text[1..].find(close) {
        Some(length) => {
            shape.push_str(short);
            &text[1 + length + close.len_utf8()..]
        }
        None => {
            shape.push_str(&text[..1]);
            &text[1..]
        }
    }
}

/// Writes a word, `#` for a number or a value that is null, and the noun after a number without its
/// plural.
fn word<'t>(shape: &mut String, text: &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_null = word == "null" && shape.ends_with(" is ");
    if is_null || word.starts_with(|c: char| c.is_ascii_digit()) {
        shape.push('#');
    } else if shape.ends_with("# ") {
        shape.push_str(word.strip_suffix('s').unwrap_or(word));
    } else {
        shape.push_str(word);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn values_make_no_difference_and_words_do() {
        let same = [
            ("1 call", "12 calls"),
            ("`a` at 0x7d00..0x7dff lies in it", "`view of b` at 0x1..0x2 lies in it"),
            ("1 call", "2 calls (one of 18 in this case; the others are not listed)"),
            ("size is [1, 2]", "size is [3]"),
            ("uniform is null", "uniform is 255"),
            ("A (#6, step 4, legacy) reads", "A (#88, step 5, stream 0x2f) reads"),
        ];
        for (left, right) in same {
            assert_eq!(of(left), of(right));
        }
        assert_ne!(of("raised KeyError: 1"), of("raised DriverError: 1"));
        assert_ne!(of("cuMemFree_v2 failed"), of("cuMemAlloc_v2 failed"));
    }

    #[test]
    fn an_open_quote_or_bracket_is_text() {
        assert_eq!(of("a `b and [c, 12"), "a `b and [c, #");
    }
}
