//! Refusals of scenarios: the reason, and where in the text the fault is.

use crate::printable::shown;
use std::fmt;

/// First words of the note that names the nearest right name.
const DID_YOU_MEAN: &str = "did you mean `";

/// Largest part of a line that a refusal quotes, in characters.
const QUOTED: usize = 110;

/// A refusal of a scenario: the fault, its place in the text, the expected values, and the nearest right name.
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
pub(super) struct Line {
    pub(super) name: String,
    pub(super) number: usize,
    /// Number of characters before the fault.
    pub(super) column: usize,
    /// Number of characters to underline.
    pub(super) width: usize,
    pub(super) content: String,
}

impl Refusal {
    /// Creates a refusal of a file as a whole.
    pub fn file(name: &str, message: impl Into<String>) -> Self {
        Self::at(Place::File(name.to_owned()), message)
    }

    pub(super) fn line(line: Line, message: impl Into<String>) -> Self {
        let content = printable(&line.content);
        Self::at(Place::Line(Line { content, ..line }), message)
    }

    /// Creates a refusal of a key set from outside.
    pub(super) fn set(set: &str, message: impl Into<String>) -> Self {
        Self::at(Place::Set(sentence(set)), message)
    }

    fn at(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: sentence(&message.into()), notes: Vec::new() }
    }

    /// Returns the fault without its place in the text.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the file at fault; `None` if the fault is in a key set from outside.
    pub fn file_name(&self) -> Option<&str> {
        match &self.place {
            Place::File(name) => Some(name),
            Place::Line(line) => Some(&line.name),
            Place::Set(_) => None,
        }
    }

    /// Returns the line and column of the fault in that file, both from 1.
    pub fn position(&self) -> Option<(usize, usize)> {
        match &self.place {
            Place::Line(line) => Some((line.number, line.column + 1)),
            Place::File(_) | Place::Set(_) => None,
        }
    }

    /// Returns the key set from outside that has the fault, with its value: `queue.limit=x`.
    pub fn change(&self) -> Option<&str> {
        match &self.place {
            Place::Set(set) => Some(set),
            Place::File(_) | Place::Line(_) => None,
        }
    }

    /// Returns the nearest right name, if one is near.
    pub fn nearest(&self) -> Option<&str> {
        let told = self.notes.iter().chain([&self.message]).find_map(|note| note.split_once(DID_YOU_MEAN));
        told?.1.split('`').next()
    }

    /// Adds a line below the quoted text.
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
    /// Writes the line with a caret under the fault; of a long line only the part around it.
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

/// Replaces each character that moves the cursor or colours the terminal. So the caret stays under its word, and a file
/// cannot control the screen.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c == '\t' { ' ' } else { shown(c) }).collect()
}

/// Returns a message in printable characters; of a very long text, its beginning and its end.
fn sentence(text: &str) -> String {
    const MOST: usize = 2_000;
    let length = text.chars().count();
    if length <= MOST {
        return printable(text);
    }
    let part = |from: usize| text.chars().skip(from).take(MOST / 2).collect::<String>();
    printable(&format!("{} ... {}", part(0), part(length - MOST / 2)))
}
