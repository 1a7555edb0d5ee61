//! The text of a scenario: parsed into tables, read into structs, with the span of every word.

use super::document;
use super::hints;
use super::refusal::{Line, Refusal};
use super::schema::Tables;
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

/// The text of a scenario: the base's text, the file's own and the `--set` arguments, joined with line breaks. Offsets
/// and spans are bytes of this text.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: String,
    pub(super) name: String,
    /// Name of the base, and the offset at which its text ends.
    base: Option<(String, usize)>,
    /// Offset at which the file's own text ends.
    end: usize,
    /// Spans of the `--set` arguments.
    pub(super) sets: Vec<Range<usize>>,
}

/// The part of the joined text to which an offset belongs.
enum Place<'s> {
    /// A file: its name, and the offset at which its text begins.
    File(&'s str, usize),
    /// A `--set` argument.
    Set(&'s str),
}

impl Source {
    /// Joins the texts; `base` is a name and a text.
    pub(super) fn new(name: &str, base: Option<(&str, &str)>, own: &str, sets: &[String]) -> Self {
        let mut text = base.map_or_else(String::new, |(_, text)| format!("{text}\n"));
        let base = base.map(|(name, text)| (name.to_owned(), text.len()));
        text.push_str(own);
        let end = text.len();
        let place = |set: &String| {
            text.push('\n');
            let start = text.len();
            text.push_str(set);
            start..text.len()
        };
        let sets = sets.iter().map(place).collect();
        Self { text, name: name.to_owned(), base, end, sets }
    }

    /// Creates a source without a base.
    pub(super) fn alone(name: &str, text: &str, sets: &[String]) -> Self {
        Self::new(name, None, text, sets)
    }

    /// Returns the span of the base's text, if there is one.
    pub(super) fn of_base(&self) -> Option<Range<usize>> {
        self.base.as_ref().map(|(_, end)| 0..*end)
    }

    /// Returns the span of the file's own text, which follows the base's.
    pub(super) fn own(&self) -> Range<usize> {
        self.of_base().map_or(0, |base| base.end + 1)..self.end
    }

    /// Returns the span of the `k`-th `--set`.
    pub(super) fn set(&self, k: usize) -> Range<usize> {
        self.sets[k].clone()
    }

    /// True if an offset is in a `--set`.
    pub(super) fn is_set(&self, place: usize) -> bool {
        place > self.end
    }

    fn place(&self, start: usize) -> Place<'_> {
        match (self.sets.iter().find(|set| (set.start..=set.end).contains(&start)), &self.base) {
            (Some(set), _) => Place::Set(&self.text[set.clone()]),
            (None, Some((base, end))) if start <= *end => Place::File(base, 0),
            (None, _) => Place::File(&self.name, self.own().start),
        }
    }

    /// Creates a refusal that points at `span`.
    pub(super) fn refuse(&self, span: Range<usize>, message: impl Into<String>) -> Refusal {
        match self.place(span.start) {
            Place::Set(set) => Refusal::set(set, message),
            Place::File(name, first) => Refusal::line(self.line(name, first, span), message),
        }
    }

    pub(super) fn refuse_file(&self, message: impl Into<String>) -> Refusal {
        Refusal::file(&self.name, message)
    }

    /// Returns the start of the character at `offset`, or the end of the files' text.
    fn boundary(&self, offset: usize) -> usize {
        let offset = offset.min(self.end);
        (0..=offset).rev().find(|&offset| self.text.is_char_boundary(offset)).unwrap_or_default()
    }

    fn line(&self, name: &str, first: usize, span: Range<usize>) -> Line {
        let start = self.boundary(span.start);
        let before = &self.text[first..start];
        let line_start = first + before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = &self.text[line_start..self.end];
        let content = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
        let column = self.text[line_start..start].chars().count();
        let end = self.boundary(span.end.clamp(start, line_start + content.len().max(start - line_start)));
        let width = self.text[start..end].chars().count().max(1);
        let number = before.matches('\n').count() + 1;
        Line { name: name.to_owned(), number, column, width, content: content.to_owned() }
    }

    /// Parses a part of the text; words keep their spans in the whole.
    pub(super) fn parse(&self, part: Range<usize>) -> Result<DeTable<'_>, Refusal> {
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

    /// Reads a part of a scenario from its table. Errors are in the words of scenarios, with hints.
    pub(super) fn read<'s, T: Deserialize<'s>>(&self, table: DeTable<'s>) -> Result<T, Refusal> {
        self.read_with(table, || Cow::Borrowed(Tables::get()))
    }

    /// Reads a part of a file that has other tables than scenarios.
    pub(super) fn read_with<'s, T: Deserialize<'s>>(
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
            let (message, notes) = hints::explain(error.message(), &paths, document::around(&kept, &span), &tables());
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
        let sets = ["a=1".to_owned(), "é=2".to_owned()];
        let source = Source::new("own.toml", Some(("base.toml", "x = 1")), "y = 2", &sets);
        assert_eq!(source.refuse(source.set(1), "wrong").to_string(), "--set 'é=2': wrong");
        assert!(source.is_set(source.set(0).start) && !source.is_set(source.own().end));
    }

    #[test]
    fn points_into_the_base_and_into_the_file_after_it() {
        let source = Source::new("own.toml", Some(("base.toml", "a = 1\nb = 2")), "c = 3", &[]);
        let place = |at: &str| {
            let start = source.text.find(at).unwrap();
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
