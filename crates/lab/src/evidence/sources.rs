//! The documents that are reproduced: who wrote them, and where they appeared.
//!
//! Every field was found in a public catalogue. A field that was not found is left out, and the note says so.

/// A document or the publication that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The document: `adth`.
    pub document: &'static str,
    /// Key and kind of the BibTeX entry.
    entry: (&'static str, &'static str),
    /// Fields of the entry, in order.
    fields: &'static [(&'static str, &'static str)],
}

/// The sources by document; those after a document's first one describe the same scheme.
pub const SOURCES: [Source; 7] = [
    Source {
        document: "adth",
        entry: ("adth", "misc"),
        fields: &[
            ("author", "Lim, Lee Booi"),
            ("title", "Network delay control through adaptive queue management"),
            ("howpublished", "Thesis, Loughborough University"),
            ("year", "2011"),
            (
                "url",
                "https://repository.lboro.ac.uk/articles/thesis/Network_delay_control_through_adaptive_queue_management/9407381",
            ),
            (
                "note",
                "The thesis that proposes ADTH. The paper that is reproduced was not found in a catalogue: its authors and journal are not known here",
            ),
        ],
    },
    Source {
        document: "bqm",
        entry: ("bqm", "mastersthesis"),
        fields: &[
            ("author", "Li, Xiaoming"),
            ("title", "Performance Evaluation of Biased Queue Management"),
            ("school", "Auburn University"),
            ("year", "2006"),
            ("url", "https://etd.auburn.edu/handle/10415/308"),
        ],
    },
    Source {
        document: "buffer-sizing",
        entry: ("buffer-sizing", "article"),
        fields: &[
            ("author", "Li, Tianji and Leith, Douglas and Malone, David"),
            ("title", "Buffer Sizing for 802.11-Based Networks"),
            ("journal", "IEEE/ACM Transactions on Networking"),
            ("year", "2011"),
            ("doi", "10.1109/TNET.2010.2089992"),
        ],
    },
    Source {
        document: "kaust",
        entry: ("kaust", "misc"),
        fields: &[
            ("title", "Quality of Service and Resource Optimization in Wireless Multihop Networks"),
            (
                "howpublished",
                "Slides of a talk at Electronic Devices, Materials and Systems for Sustainable Future (KAUST-NSF conference)",
            ),
            ("year", "2014"),
            ("url", "https://netlab.kaust.edu.sa/projects/by-year/2012/buffer-management-wireless-mesh-networks"),
            ("note", "The list of talks does not name the speaker"),
        ],
    },
    Source {
        document: "kaust",
        entry: ("kaust-wqm", "inproceedings"),
        fields: &[
            ("author", "Showail, Ahmad and Jamshaid, Kamran and Shihada, Basem"),
            ("title", "WQM: An Aggregation-aware Queue Management Scheme for IEEE 802.11n based Networks"),
            ("booktitle", "Proceedings of the 2014 ACM SIGCOMM Workshop on Capacity Sharing (CSWS '14)"),
            ("pages", "15--20"),
            ("year", "2014"),
        ],
    },
    Source {
        document: "kaust",
        entry: ("kaust-dnb", "article"),
        fields: &[
            ("author", "Jamshaid, K. and Shihada, B. and Showail, A. and Levis, P."),
            ("title", "Deflating Link Buffers in a Wireless Mesh Network"),
            ("journal", "Ad Hoc Networks"),
            ("volume", "16"),
            ("pages", "266--280"),
            ("year", "2014"),
        ],
    },
    Source {
        document: "swan",
        entry: ("swan", "inproceedings"),
        fields: &[
            ("author", "Ahn, Gahng-Seop and Campbell, Andrew T. and Veres, Andras and Sun, Li-Hsiang"),
            ("title", "SWAN: Service Differentiation in Stateless Wireless Ad Hoc Networks"),
            ("booktitle", "Proceedings of IEEE INFOCOM 2002"),
            ("year", "2002"),
            ("doi", "10.1109/INFCOM.2002.1019290"),
        ],
    },
];

impl Source {
    fn field(&self, name: &str) -> Option<&'static str> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| *value)
    }

    /// The title.
    pub fn title(&self) -> &'static str {
        self.field("title").unwrap_or_default()
    }

    /// The year in which it appeared.
    pub fn year(&self) -> &'static str {
        self.field("year").unwrap_or_default()
    }

    /// Writes the BibTeX entry. Capitals of a title are protected.
    pub fn bibtex(&self) -> String {
        let (key, kind) = self.entry;
        let field = |(name, value): &(&str, &str)| match *name {
            "title" => format!("  title = {{{{{value}}}}},\n"),
            name => format!("  {name} = {{{value}}},\n"),
        };
        format!("@{kind}{{{key},\n{}}}\n", self.fields.iter().map(field).collect::<String>())
    }

    /// Writes the source as one sentence: authors, title, where it appeared, year, address, and what is not known.
    pub fn cited(&self) -> String {
        let first_names_first = |name: &str| match name.split_once(", ") {
            Some((last, first)) => format!("{first} {last}"),
            None => name.to_owned(),
        };
        let authors = self
            .field("author")
            .map(|authors| authors.split(" and ").map(first_names_first).collect::<Vec<_>>().join(", ") + ": ");
        let place = ["journal", "booktitle", "school", "howpublished"].into_iter().find_map(|name| self.field(name));
        let kind = if self.entry.1 == "mastersthesis" { "Master's thesis, " } else { "" };
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

/// The sources of a document, the document itself first.
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
