//! A report in which readers can repeat the experiments with other values.

use super::text::json_in_script;
use serde::Serialize;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const SCRIPT: &str = include_str!("trial.js");

/// The page that simulates, for a report.
#[derive(Clone, Debug, Serialize)]
pub struct Simulator {
    page: String,
    set: Vec<String>,
    quick: bool,
}

impl Simulator {
    /// Takes the simulator's page (from `make page`), and the settings and `--quick` of the report's runs.
    ///
    /// # Errors
    /// The text is not the simulator's page of this version; the error says why.
    pub fn new(page: String, set: Vec<String>, quick: bool) -> Result<Self, String> {
        let made = page.split_once("name=\"generator\" content=\"Sluice ").and_then(|(_, rest)| rest.split_once('"'));
        match made {
            Some((VERSION, _)) => Ok(Self { page, set, quick }),
            Some((version, _)) => {
                Err(format!("it is of Sluice {version}, not {VERSION}; `make page` builds a new one"))
            }
            None => Err("it is not the page that simulates, which `make page` builds".to_owned()),
        }
    }

    /// Returns the simulator's page as data, and the script that runs experiments with it.
    pub(super) fn scripts(&self) -> String {
        let json = serde_json::to_string(self).expect("texts always have a JSON form");
        format!(
            "<script type=\"application/json\" id=\"simulator\">{}</script>\n<script>\n{SCRIPT}</script>\n",
            json_in_script(&json)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_of_this_version_is_taken() {
        let page = |version: &str| format!("<meta name=\"generator\" content=\"Sluice {version}\">");
        let simulator = Simulator::new(page(VERSION), vec!["queue.limit=5".to_owned()], true).expect("the page");
        let scripts = simulator.scripts();
        assert!(
            scripts.contains("\\u003cmeta name=") && scripts.contains("\"set\":[\"queue.limit=5\"],\"quick\":true")
        );
        assert_eq!(scripts.matches("</script").count(), 2, "the page cannot end its script");
        let refused = |page: &str| Simulator::new(page.to_owned(), Vec::new(), false).expect_err("no such page");
        assert!(refused(&page("0.0.1")).contains("of Sluice 0.0.1"));
        assert!(refused("<p>Hello</p>").contains("make page"));
    }
}
