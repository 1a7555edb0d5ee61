//! Why claims do not hold: sections of the pages on reproductions, found by the claims that their headings name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where the pages lie, in the folder of a scenario or in one around it.
const HOME: &str = "docs/reproductions";

/// What is written about a claim.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Explanation {
    /// The page and the heading: `docs/reproductions/adth.md`, "adth-s1a.2: the FIFO's largest delay".
    pub page: String,
    /// The section's heading.
    pub heading: String,
    /// Its paragraphs, without tables and programs.
    pub text: String,
}

/// The explanations of these claims, as far as there are any.
pub(super) fn of<'c>(folder: &Path, claims: impl Iterator<Item = &'c str>) -> BTreeMap<String, Explanation> {
    let wanted: Vec<&str> = claims.collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let folder = fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let Ok(folder) = folder else { return BTreeMap::new() };
    let pages = folder.ancestors().map(|above| above.join(HOME)).find(|pages| pages.is_dir());
    let entries = pages.and_then(|pages| fs::read_dir(pages).ok()).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    files.sort();
    let mut found = BTreeMap::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let page = format!("{HOME}/{}", file.file_name().unwrap_or_default().to_string_lossy());
        for (heading, body) in sections(&text) {
            for id in named(heading).into_iter().filter(|id| wanted.contains(&id.as_str())) {
                let explanation =
                    Explanation { page: page.clone(), heading: heading.to_owned(), text: paragraphs(body) };
                found.entry(id).or_insert(explanation);
            }
        }
    }
    found
}

/// Every heading with what stands below it, up to the next.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split("\n#").skip(1);
    parts
        .filter_map(|part| part.trim_start_matches('#').split_once('\n'))
        .map(|(heading, body)| (heading.trim(), body))
        .collect()
}

/// The claims that a heading names: `buf-fig5.1, buf-fig6.1 and .2: ...` names three.
fn named(heading: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for word in heading.split([' ', ',', ':', ';', '(', ')', '`']) {
        // A number, and perhaps a letter for one of several claims about one statement.
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_id = |id: &str| {
            id.rsplit_once('.').is_some_and(|(_, number)| {
                is_number(number.strip_suffix(|letter: char| letter.is_ascii_lowercase()).unwrap_or(number))
            })
        };
        if word.starts_with('.') && is_id(word) {
            let experiment =
                ids.last().and_then(|last| last.rsplit_once('.')).map(|(experiment, _)| experiment.to_owned());
            ids.extend(experiment.map(|experiment| experiment + word));
        } else if is_id(word) && word.contains('-') {
            ids.push(word.to_owned());
        }
    }
    ids
}

/// Markdown as plain paragraphs: its tables and programs stay on the page.
fn paragraphs(body: &str) -> String {
    let prose = |part: &&str| !part.is_empty() && !part.starts_with(['|', '`', '!']);
    let parts = body.split("\n\n").map(str::trim).filter(prose);
    let plain = |part: &str| {
        let joined = part.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        without_links(&joined.replace("**", ""))
    };
    parts.map(plain).collect::<Vec<_>>().join("\n\n")
}

/// `[text](address)` is only the text.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        plain.push_str(before);
        let named = link.split_once("](").and_then(|(name, after)| Some((name, after.split_once(')')?.1)));
        // A bracket that begins no link.
        let (name, after) = named.unwrap_or(("[", link));
        plain.push_str(name);
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_name_claims() {
        assert_eq!(named("adth-s1a.2: the largest delay, 3.4 s instead of 7 s"), ["adth-s1a.2"]);
        assert_eq!(named("buf-fig5.1, buf-fig6.1 and .2: one download"), ["buf-fig5.1", "buf-fig6.1", "buf-fig6.2"]);
        assert_eq!(named("swan-fig16.2 and .3a: over several hops"), ["swan-fig16.2", "swan-fig16.3a"]);
        assert_eq!(named("What differs, e.g. this, and why"), [""; 0]);
    }

    #[test]
    fn the_section_of_a_claim_is_found_from_a_folder_below() {
        let folder = tempfile::tempdir().unwrap();
        let (pages, scenarios) = (folder.path().join(HOME), folder.path().join("scenarios/a"));
        fs::create_dir_all(&pages).unwrap();
        fs::create_dir_all(&scenarios).unwrap();
        let page = "# Page\n\n## Why\n\n### a-x.1 and .3: less\n\nFrames are **slow**\n([more](other.md)).\n\n| a | b |\n\nAnd so on.\n\n### a-y.1: more\n\nNo.\n";
        fs::write(pages.join("a.md"), page).unwrap();
        let found = of(&scenarios, ["a-x.3", "a-x.2", "a-y.1"].into_iter());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a-x.3", "a-y.1"]);
        assert_eq!(found["a-x.3"].text, "Frames are slow (more).\n\nAnd so on.");
        assert_eq!(
            (found["a-y.1"].page.as_str(), found["a-y.1"].heading.as_str()),
            ("docs/reproductions/a.md", "a-y.1: more")
        );
        assert!(of(Path::new("/nowhere"), ["a-x.3"].into_iter()).is_empty());
    }
}
