//! Where a scenario's words came from, so that every refusal can point at its place.

use crate::printable::shown;
use std::fmt;
use std::ops::Range;

/// How the nearest right name is told.
pub(super) const DID_YOU_MEAN: &str = "did you mean `";

/// The widest piece of a line that a refusal quotes, in characters.
const QUOTED: usize = 110;

/// A scenario file's name and text, the text of its base, and the `--set` arguments laid over both.
///
/// Places are byte offsets into `text`; offset `len + 1 + k` stands for the `k`-th `--set` as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'s> {
    /// The file's name.
    pub(super) name: &'s str,
    /// The text of its base, where it has one, and then its own.
    pub(super) text: &'s str,
    /// The base's name and where its text ends.
    pub(super) base: Option<(&'s str, usize)>,
    pub(super) sets: &'s [String],
}

impl<'s> Source<'s> {
    /// A text without a base.
    pub(super) fn alone(name: &'s str, text: &'s str, sets: &'s [String]) -> Self {
        Self { name, text, base: None, sets }
    }

    /// Where the file's own text begins: after that of its base and a line break.
    pub(super) fn own(&self) -> usize {
        self.base.map_or(0, |(_, end)| end + 1)
    }

    /// The offsets that stand for the `k`-th `--set`.
    pub(super) fn set_span(&self, k: usize) -> Range<usize> {
        let start = self.text.len() + 1 + k;
        start..start + 1
    }

    /// A refusal that points at `span`.
    pub(super) fn refuse(&self, span: Range<usize>, message: impl Into<String>) -> Refusal {
        let place = match span.start.checked_sub(self.text.len() + 1) {
            Some(k) => match self.sets.get(k) {
                Some(set) => Place::Set(sentence(set)),
                None => Place::File(self.name.to_owned()),
            },
            None => Place::Line(self.line(span)),
        };
        Refusal { place, message: sentence(&message.into()), notes: Vec::new() }
    }

    /// A refusal of the file as a whole.
    pub(super) fn refuse_file(&self, message: impl Into<String>) -> Refusal {
        Refusal::file(self.name, message)
    }

    /// The start of the character at `offset`, or the end of the text.
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
            content: printable(content),
        }
    }
}

/// One character for each character, none of which moves the cursor or colours the terminal: the caret must stay under its
/// word, and a file must not write on the screen as it likes.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c == '\t' { ' ' } else { shown(c) }).collect()
}

/// What is said of a place, printable; of a text as long as a file, its beginning and its end.
fn sentence(text: &str) -> String {
    const MOST: usize = 2_000;
    let length = text.chars().count();
    if length <= MOST {
        return printable(text);
    }
    let part = |from: usize| text.chars().skip(from).take(MOST / 2).collect::<String>();
    printable(&format!("{} ... {}", part(0), part(length - MOST / 2)))
}

/// Why a scenario is not run: what is wrong, where, what was expected, and the nearest right name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    place: Place,
    message: String,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    File(String),
    Line(Line),
    Set(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    name: String,
    number: usize,
    /// Characters before the place.
    column: usize,
    /// Characters to underline.
    width: usize,
    content: String,
}

impl Refusal {
    /// A refusal of a file as a whole.
    pub fn file(name: &str, message: impl Into<String>) -> Self {
        Self { place: Place::File(name.to_owned()), message: sentence(&message.into()), notes: Vec::new() }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The file that it is about; none where it is about a key set from outside.
    pub fn file_name(&self) -> Option<&str> {
        match &self.place {
            Place::File(name) => Some(name),
            Place::Line(line) => Some(&line.name),
            Place::Set(_) => None,
        }
    }

    /// Line and column of the place in that file, both from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        match &self.place {
            Place::Line(line) => Some((line.number, line.column + 1)),
            Place::File(_) | Place::Set(_) => None,
        }
    }

    /// The key set from outside that it is about, with its value: `queue.limit=x`.
    pub fn change(&self) -> Option<&str> {
        match &self.place {
            Place::Set(set) => Some(set),
            Place::File(_) | Place::Line(_) => None,
        }
    }

    /// The nearest right name, where one is near.
    pub fn nearest(&self) -> Option<&str> {
        let told = self.notes.iter().chain([&self.message]).find_map(|note| note.split_once(DID_YOU_MEAN));
        told?.1.split('`').next()
    }

    /// Adds a line below the quoted place.
    #[must_use]
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        if !note.is_empty() {
            self.notes.push(sentence(&note));
        }
        self
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = match &self.place {
            Place::File(name) => {
                write!(f, "{name}: {}", self.message)?;
                1
            }
            Place::Set(set) => {
                write!(f, "--set '{set}': {}", self.message)?;
                1
            }
            Place::Line(line) => {
                write!(f, "{}:{}:{}: {}", line.name, line.number, line.column + 1, self.message)?;
                line.quote(f)?;
                line.number.to_string().len() + 1
            }
        };
        for note in &self.notes {
            write!(f, "\n{:indent$} = {note}", "")?;
        }
        Ok(())
    }
}

impl Line {
    /// The line with a caret under the place; a long line only around it.
    fn quote(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = if self.column + self.width > QUOTED { self.column.saturating_sub(QUOTED / 2) } else { 0 };
        let shown: String = self.content.chars().skip(skipped).take(QUOTED).collect();
        let number = self.number.to_string();
        let gutter = number.len();
        let before = self.column - skipped;
        let width = self.width.min(shown.chars().count().saturating_sub(before)).max(1);
        write!(f, "\n{:gutter$} |\n{number} | {shown}\n{:gutter$} | {:before$}{}", "", "", "", "^".repeat(width))
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
