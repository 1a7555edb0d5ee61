//! Makes text from files and results safe for a terminal: a title must not move the cursor, colour or hide text.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the character; if it controls the terminal or changes the direction of text, a mark in its place.
pub fn shown(c: char) -> char {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns { '\u{fffd}' } else { c }
}

/// Returns lines of text with a mark in place of every control character, including changes of direction.
pub fn lines(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { shown(c) }).collect()
}

/// Returns JSON in which every control character is escaped; the meaning does not change.
pub fn json(text: &str) -> Cow<'_, str> {
    // Results are mostly numbers: megabytes of plain ASCII without control characters.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || shown(c) == c {
            safe.push(c);
        } else {
            let _ = write!(safe, "\\u{:04x}", u32::from(c));
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_the_terminal() {
        let title = "a\u{1b}[31mb\u{9b}2J\u{7f}\u{202e}c\td\né";
        assert_eq!(lines(title), "a\u{fffd}[31mb\u{fffd}2J\u{fffd}\u{fffd}c\td\né");
        let written = serde_json::to_string(title).unwrap();
        let safe = json(&written);
        assert!(!safe.contains(|c: char| shown(c) != c), "{safe:?}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), title);
        assert_eq!(json("{\"a\":1}\n"), "{\"a\":1}\n");
    }
}
