//! Quotes words for a POSIX shell, so that every command that Sluice prints can be pasted into one.

/// Returns the word itself if it is plain, otherwise in single quotes.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A single quote ends the quotation, is escaped, and begins the next quotation.
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_what_a_shell_would_read_otherwise() {
        assert_eq!(quoted("scenarios/adth/s1a.toml"), "scenarios/adth/s1a.toml");
        assert_eq!(quoted("duration=20 s"), "'duration=20 s'");
        assert_eq!(quoted("flow.*.deadline=1"), "'flow.*.deadline=1'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
