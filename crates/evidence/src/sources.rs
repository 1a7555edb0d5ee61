//! The reproduced documents, with authors and publication (`sources.toml`).

use itertools::Itertools as _;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A document, or the publication that contains it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name of the document, which is also the name of its file in the record.
    pub document: String,
    /// Key of the BibTeX entry.
    key: String,
    /// Kind of the BibTeX entry.
    kind: String,
    /// Fields of the entry, in the order in which they are written.
    fields: Vec<(String, String)>,
}

/// The sources of all documents.
pub static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let read: BTreeMap<String, Vec<Source>> = toml::from_str(include_str!("sources.toml")).expect("a test reads it");
    read.into_values().flatten().collect()
});

impl Source {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        self.field("title").unwrap_or_default()
    }

    /// Returns the year of publication.
    pub fn year(&self) -> &str {
        self.field("year").unwrap_or_default()
    }

    /// Returns the BibTeX entry. Capitals in the title are protected.
    pub fn bibtex(&self) -> String {
        let Self { key, kind, .. } = self;
        let field = |(name, value): &(String, String)| match name.as_str() {
            "title" => format!("  title = {{{{{value}}}}},\n"),
            name => format!("  {name} = {{{value}}},\n"),
        };
        format!("@{kind}{{{key},\n{}}}\n", self.fields.iter().map(field).collect::<String>())
    }

    /// Returns the source as one sentence: authors, title, publication, year, address, and unknown details.
    pub fn cited(&self) -> String {
        let first_names_first = |name: &str| match name.split_once(", ") {
            Some((last, first)) => format!("{first} {last}"),
            None => name.to_owned(),
        };
        let authors =
            self.field("author").map(|authors| authors.split(" and ").map(first_names_first).join(", ") + ": ");
        let place = ["journal", "booktitle", "school", "howpublished"].into_iter().find_map(|name| self.field(name));
        let kind = if self.kind == "mastersthesis" { "Master's thesis, " } else { "" };
        let volume = self.field("volume").map_or_else(String::new, |volume| format!(" {volume}"));
        let pages =
            self.field("pages").map_or_else(String::new, |pages| format!(", p. {}", pages.replace("--", " to ")));
        let address = self.field("doi").map(|doi| format!("https://doi.org/{doi}"));
        let address = address.or_else(|| self.field("url").map(str::to_owned));
        let address = address.map_or_else(String::new, |address| format!(", {address}"));
        let note = self.field("note").map_or_else(String::new, |note| format!(" {note}."));
        let (title, year) = (self.title(), self.year());
        let authors = authors.unwrap_or_default();
        format!("{authors}{title}. {kind}{}{volume}{pages}, {year}{address}.{note}", place.unwrap_or_default())
    }
}

/// Returns the sources of a document, the document itself first.
pub fn sources(document: &str) -> impl Iterator<Item = &'static Source> + use<'_> {
    SOURCES.iter().filter(move |source| source.document == document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_told_as_bibtex_and_as_a_sentence() {
        let swan = sources("swan").next().unwrap();
        assert_eq!(
            swan.bibtex(),
            "@inproceedings{swan,\n  author = {Ahn, Gahng-Seop and Campbell, Andrew T. and Veres, Andras and Sun, Li-Hsiang},\n  \
             title = {{SWAN: Service Differentiation in Stateless Wireless Ad Hoc Networks}},\n  booktitle = {Proceedings of \
             IEEE INFOCOM 2002},\n  year = {2002},\n  doi = {10.1109/INFCOM.2002.1019290},\n}\n"
        );
        assert_eq!(
            swan.cited(),
            "Gahng-Seop Ahn, Andrew T. Campbell, Andras Veres, Li-Hsiang Sun: SWAN: Service Differentiation in Stateless \
             Wireless Ad Hoc Networks. Proceedings of IEEE INFOCOM 2002, 2002, https://doi.org/10.1109/INFCOM.2002.1019290."
        );
        let thesis = sources("bqm").next().unwrap().cited();
        assert!(thesis.contains("Master's thesis, Auburn University, 2006, https://etd.auburn.edu"), "{thesis}");
    }

    #[test]
    fn each_page_and_the_citation_file_name_the_source() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let citation = read("CITATION.cff");
        for document in ["adth", "bqm", "buffer-sizing", "kaust", "swan"] {
            assert!(sources(document).next().is_some(), "{document}");
            let page = read(&format!("docs/reproductions/{document}.md")).replace('\n', " ");
            for source in sources(document) {
                assert!(
                    page.contains(source.title()) && page.contains(source.year()),
                    "{document}: {}",
                    source.title()
                );
                assert!(citation.contains(source.title()), "CITATION.cff: {}", source.title());
            }
        }
    }
}
