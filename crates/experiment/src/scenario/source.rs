//! The text of a scenario: parsed into tables, read into structs, with the place of every word.

use super::document;
use super::refusal::{Line, Refusal};
use super::schema::Tables;
use super::{base, hints};
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

/// A scenario file's name and text, the text of its base, and the `--set` arguments laid over both.
///
/// Places are byte offsets into `text`; offset `len + 1 + k` stands for the `k`-th `--set` as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    /// The file's name.
    pub(super) name: &'s str,
    /// The text of its base, if it has one, followed by its own.
    pub(super) text: &'s str,
    /// The base's name and the end of its text.
    pub(super) base: Option<(&'s str, usize)>,
    pub(super) sets: &'s [String],
}

impl<'s> Source<'s> {
    /// Creates a source without a base.
    pub(super) fn alone(name: &'s str, text: &'s str, sets: &'s [String]) -> Self {
        Self { name, text, base: None, sets }
    }

    /// Returns the beginning of the file's own text, which follows that of its base and a line break.
    pub(super) fn own(&self) -> usize {
        self.base.map_or(0, |(_, end)| end + 1)
    }

    /// Returns the offsets that stand for the `k`-th `--set`.
    pub(super) fn set_span(&self, k: usize) -> Range<usize> {
        let start = self.text.len() + 1 + k;
        start..start + 1
    }

    /// Creates a refusal that points at `span`.
    pub(super) fn refuse(&self, span: Range<usize>, message: impl Into<String>) -> Refusal {
        match span.start.checked_sub(self.text.len() + 1) {
            None => Refusal::line(self.line(span), message),
            Some(k) => match self.sets.get(k) {
                Some(set) => Refusal::set(set, message),
                None => self.refuse_file(message),
            },
        }
    }

    /// Creates a refusal of the file as a whole.
    pub(super) fn refuse_file(&self, message: impl Into<String>) -> Refusal {
        Refusal::file(self.name, message)
    }

    /// Returns the start of the character at `offset`, or the end of the text.
    fn boundary(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        (0..=offset).rev().find(|&offset| self.text.is_char_boundary(offset)).unwrap_or_default()
    }

    fn line(&self, span: Range<usize>) -> Line {
        let start = self.boundary(span.start);
        let (name, first) = match self.base {
            Some((base, end)) if start <= end => (base, 0),
            _ => (self.name, self.own()),
        };
        let before = &self.text[first..start];
        let line_start = first + before.rfind('\n').map_or(0, |newline| newline + 1);
        let content = self.text[line_start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let column = self.text[line_start..start].chars().count();
        let end = self.boundary(span.end.clamp(start, line_start + content.len().max(start - line_start)));
        let width = self.text[start..end].chars().count().max(1);
        Line {
            name: name.to_owned(),
            number: before.matches('\n').count() + 1,
            column,
            width,
            content: content.to_owned(),
        }
    }

    /// Parses the file, laid over its base where it has one.
    pub(super) fn parse(&self) -> Result<DeTable<'s>, Refusal> {
        let mut root = self.parsed(self.own()..self.text.len())?;
        if let Some((_, end)) = self.base {
            base::lay_under(self, &mut root, self.parsed(0..end)?)?;
        }
        Ok(root)
    }

    /// Parses a part of the text; its words keep their places in the whole.
    fn parsed(&self, part: Range<usize>) -> Result<DeTable<'s>, Refusal> {
        let first = part.start;
        let text = &self.text[part];
        let root = DeTable::parse(text).map_err(|error| {
            let deep = error.message().contains("recurs");
            let message = if deep { "tables or keys are nested too deeply" } else { error.message() };
            let span = error.span().unwrap_or(text.len()..text.len());
            self.refuse(first + span.start..first + span.end, format!("not TOML: {message}"))
        })?;
        Ok(document::moved(root.into_inner(), &|span| first + span.start..first + span.end))
    }

    /// Reads a part of a scenario from its table; every error is worded for scenarios, with hints.
    pub(super) fn read<T: Deserialize<'s>>(&self, table: DeTable<'s>) -> Result<T, Refusal> {
        self.read_with(table, || Cow::Borrowed(Tables::get()))
    }

    /// Reads a part of a file with other tables.
    pub(super) fn read_with<T: Deserialize<'s>>(
        &self,
        table: DeTable<'s>,
        tables: impl FnOnce() -> Cow<'static, Tables>,
    ) -> Result<T, Refusal> {
        let whole = 0..self.text.len();
        let kept = table.clone();
        let reader = toml::de::Deserializer::from(Spanned::new(whole.clone(), table));
        T::deserialize(reader).map_err(|error| {
            let span = error.span().unwrap_or_else(|| whole.clone());
            let paths = if span == whole { Vec::new() } else { document::paths_at(&kept, &span) };
            let (message, notes) = hints::explain(error.message(), &paths, &tables());
            let refusal = if span == whole { self.refuse_file(message) } else { self.refuse(span, message) };
            notes.into_iter().fold(refusal, Refusal::note)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, span: Range<usize>) -> String {
        Source::alone("a.toml", text, &["queue.limit=x".to_owned()]).refuse(span, "wrong").to_string()
    }

    #[test]
    fn points_at_the_word() {
        let text = "a = 1\nbb = 22\n";
        let start = text.find("22").unwrap();
        assert_eq!(refusal(text, start..start + 2), "a.toml:2:6: wrong\n  |\n2 | bb = 22\n  |      ^^");
    }

    #[test]
    fn counts_characters_and_not_bytes() {
        let text = "title = \"Zürich\" x";
        let start = text.find('x').unwrap();
        assert_eq!(refusal(text, start..start + 1).lines().next(), Some("a.toml:1:18: wrong"));
    }

    #[test]
    fn points_past_the_end() {
        assert!(refusal("a = 1", 5..5).starts_with("a.toml:1:6: wrong"));
        assert!(refusal("a = 1\n", 6..6).starts_with("a.toml:2:1: wrong"));
        assert!(refusal("", 0..0).starts_with("a.toml:1:1: wrong"));
    }

    #[test]
    fn offsets_beyond_the_file_are_arguments() {
        assert_eq!(refusal("a = 1", 6..7), "--set 'queue.limit=x': wrong");
    }

    #[test]
    fn points_into_the_base_and_into_the_file_after_it() {
        let text = "a = 1\nb = 2\nc = 3";
        let source = Source { name: "own.toml", text, base: Some(("base.toml", 11)), sets: &[] };
        let place = |at: &str| {
            let start = text.find(at).unwrap();
            source.refuse(start..start + 1, "wrong").to_string().lines().next().unwrap().to_owned()
        };
        assert_eq!(
            [place("b"), place("c"), place("3")],
            ["base.toml:2:1: wrong", "own.toml:1:1: wrong", "own.toml:1:5: wrong"]
        );
    }

    #[test]
    fn shows_a_long_line_around_the_place() {
        let text = format!("{}here", "x".repeat(1000));
        let shown = refusal(&text, 1000..1004);
        assert!(shown.lines().nth(2).unwrap().ends_with("here"), "{shown}");
        assert!(shown.lines().all(|line| line.len() < 130), "{shown}");
    }
}
