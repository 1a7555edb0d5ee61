//! From text to tables and structs; every fault is told in the words of scenarios.

use super::document::{self, Change};
use super::source::{Refusal, Source};
use super::{base, hints};
use crate::schema::Tables;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

pub(super) fn apply<'s>(source: &Source, root: &mut DeTable<'s>, change: &Change<'s>) -> Result<(), Refusal> {
    document::apply(root, change).map_err(|miss| {
        let known: Vec<&str> = miss.known.iter().map(String::as_str).collect();
        hints::with_names(source.refuse(change.span.clone(), miss.message), &miss.name, &known)
    })
}

/// Parses the file, laid over its base where it has one.
pub(super) fn table<'s>(source: &Source<'s>) -> Result<DeTable<'s>, Refusal> {
    let mut root = parsed(source, source.own()..source.text.len())?;
    if let Some((_, end)) = source.base {
        base::lay_under(source, &mut root, parsed(source, 0..end)?)?;
    }
    Ok(root)
}

/// Parses a part of the text; its words keep their places in the whole.
fn parsed<'s>(source: &Source<'s>, part: Range<usize>) -> Result<DeTable<'s>, Refusal> {
    let first = part.start;
    let text = &source.text[part];
    let root = DeTable::parse(text).map_err(|error| {
        let deep = error.message().contains("recurs");
        let message = if deep { "tables or keys within each other, too many deep" } else { error.message() };
        let span = error.span().unwrap_or(text.len()..text.len());
        source.refuse(first + span.start..first + span.end, format!("not TOML: {message}"))
    })?;
    Ok(document::moved(root.into_inner(), &|span| first + span.start..first + span.end))
}

/// Reads a struct from its table; every error is told in the words of scenarios, with hints.
pub(super) fn deserialize<'s, T: Deserialize<'s>>(source: &Source, table: DeTable<'s>) -> Result<T, Refusal> {
    let whole = 0..source.text.len();
    let kept = table.clone();
    let reader = toml::de::Deserializer::from(Spanned::new(whole.clone(), table));
    T::deserialize(reader).map_err(|error| {
        let span = error.span().unwrap_or_else(|| whole.clone());
        let paths = if span == whole { Vec::new() } else { document::paths_at(&kept, &span) };
        let (message, notes) = hints::explain(error.message(), &paths, Tables::get());
        let refusal = if span == whole { source.refuse_file(message) } else { source.refuse(span, message) };
        notes.into_iter().fold(refusal, Refusal::note)
    })
}
