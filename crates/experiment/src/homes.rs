//! Random homes. The number of a home determines all of it, and its scenario has the same bytes on every machine.
//!
//! A home has an access point with 1 to 25 stations, traffic for each station, walls that shadow, a line to the servers
//! that may be slower than Wi-Fi, and possibly a neighbour on the channel. `parts.toml` lists these parts. `judge`
//! compares the schemes of the access point.

mod judge;

pub(crate) use judge::judge;

use crate::scenario::{Refusal, Scenario, Wishes};
use crate::study::Axis;
use control::{Random, mix};

const PARTS: &str = include_str!("homes/parts.toml");
/// Schemes of the access point: today's default; `turns`; today's default with the settings of grade 1; and the null
/// control. The scheduler of the null control differs by 4 us in 256, so its effect is chance.
pub const ARMS: [&str; 4] = ["mac80211", "turns", "knobs", "null"];
/// Id of the experiment with many homes, and name of its axis.
pub const ID: &str = "arena-homes";
const AXIS: &str = "home";

/// A home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Number of the home.
    pub number: u64,
    /// Text of the scenario file.
    pub text: String,
    /// Properties that homes can share: "heavy neighbour", "802.11ac", "film".
    pub traits: Vec<&'static str>,
}

impl Home {
    /// Draws the home with this number.
    ///
    /// # Panics
    /// Never.
    pub fn draw(number: u64) -> Self {
        let mut draw = Draw { random: Random::new(mix(number)), traits: Vec::new() };
        let [radio, neighbour, stations, line, walk, home, station] =
            ["radio", "neighbour", "stations", "line", "walk", "home", "station"].map(|kind| draw.part(kind));
        let (own, older) = radio.body.split_once("\n#- older stations\n").unwrap_or((radio.body, ""));
        let [count, line] = [stations, line].map(|part| draw.filled(part.body, &[]).trim().to_owned());
        let radius = *draw.pick(&[6, 10, 15, 20]);
        let category = *draw.pick(&["best-effort", "best-effort", "best-effort", "voice"]);
        let [standard, film, video] = [2, 3, 4].map(|word| radio.words[word]);
        let (number_told, theirs) = (number.to_string(), neighbour.words[2]);
        let own = [("standard", standard), ("radio", own), ("neighbour", theirs)];
        let of_home: Vec<(&str, &str)> =
            own.into_iter().chain([("number", &*number_told), ("count", &*count), ("line", &*line)]).collect();
        let mut text = draw.filled(home.body, &of_home);
        let count: u8 = count.parse().expect("a number of stations");
        for number in 1..=count {
            // Three homes of four have a download.
            let is_download = number == 1 && draw.random.below(4) > 0;
            let role = if is_download { parts("role").next() } else { None }.unwrap_or_else(|| draw.part("role"));
            draw.traits.push(role.words[2]);
            let (x, y) = draw.place();
            let place = [x, y, 3 * x, 3 * y].map(|part| (f64::from(part * radius) / 100.0).to_string());
            let name = format!("s{number}");
            let of_station = [("name", &*name), ("film", film), ("video", video), ("category", category)];
            let of_place = ["x", "y", "farx", "fary"].into_iter().zip(place.iter().map(String::as_str));
            let words: Vec<(&str, &str)> = of_station.into_iter().chain(of_place).collect();
            let is_pinged = role.words[2] == "download" && !text.contains("ping busy");
            let walk = if number == count { walk.body } else { "" };
            let busy = if is_pinged { draw.part("busy").body } else { "" };
            text.push('\n');
            for body in [station.body, walk, older, role.body, busy].into_iter().filter(|body| !body.is_empty()) {
                text += &draw.filled(body, &words);
            }
        }
        if !neighbour.body.is_empty() {
            let cell = draw.part("cell");
            text.push('\n');
            text += &draw.filled(cell.body, &[]);
            text += &draw.filled(neighbour.body, &[]);
        }
        if text.contains("\"tcp\"") {
            let tcp = draw.part("tcp");
            text.push('\n');
            text += &draw.filled(tcp.body, &[]);
        }
        debug_assert!(!text.contains(['$', '<', '|']), "every word is filled in, and every choice is made");
        let mut traits = draw.traits;
        traits.extend(text.contains("power_save").then_some("sleeper"));
        traits.sort_unstable();
        traits.dedup();
        Self { number, text: text.replace("\n\n\n", "\n\n"), traits }
    }
}

/// A part of homes: its description and its text in the scenario.
struct Part {
    words: Vec<&'static str>,
    body: &'static str,
}

/// Returns the parts of a kind, in order.
fn parts(kind: &str) -> impl Iterator<Item = Part> {
    let part = |text: &'static str| {
        let (words, body) = text.split_once('\n').unwrap_or((text, ""));
        Part { words: words.split("; ").collect(), body }
    };
    PARTS.split("\n#: ").skip(1).map(part).filter(move |part| part.words[0] == kind)
}

/// The random draws of a home, and the traits of its parts.
struct Draw {
    random: Random,
    traits: Vec<&'static str>,
}

impl Draw {
    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::from(self.random.below(u8::try_from(of.len()).expect("few choices")))]
    }

    /// Draws a part of a kind by its weight.
    fn part(&mut self, kind: &str) -> Part {
        let mut left = self.random.below(100);
        let mut chosen = |part: &Part| {
            let weight = part.words[1].parse().unwrap_or(0);
            let is_here = left < weight;
            left = left.saturating_sub(weight);
            is_here
        };
        let part = parts(kind).find(|part| chosen(part)).expect("the weights of a kind are 100 together");
        self.traits.extend(part.words.get(2));
        part
    }

    /// Draws a position on a disc, in percent of the radius, but not that of the access point.
    fn place(&mut self) -> (i32, i32) {
        loop {
            let [x, y] = [(); 2].map(|()| i32::from(self.random.below(201)) - 100);
            if (300..=10_000).contains(&(x * x + y * y)) {
                return (x, y);
            }
        }
    }

    /// Fills in placeholders, and draws one alternative for each `<a|b>`.
    fn filled(&mut self, body: &str, words: &[(&str, &str)]) -> String {
        let body = words.iter().fold(body.to_owned(), |body, (word, value)| body.replace(&format!("${word}"), value));
        let mut parts = body.split('<');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (choices, rest) = part.split_once('>').expect("a choice ends");
            let choices: Vec<&str> = choices.split('|').collect();
            text += *self.pick::<&str>(&choices);
            text += rest;
        }
        text + "\n"
    }
}

/// Makes one experiment of these homes with these [`ARMS`].
///
/// # Panics
/// There is no home.
///
/// # Errors
/// A home's scenario has a fault, which is a bug of this module.
pub fn scenario(homes: &[Home], arms: &[String], seeds: Option<usize>) -> Result<Scenario, Refusal> {
    let read = |home: &Home| {
        let name = format!("home-{}.toml", home.number);
        let mut one = Scenario::parse(&name, home.text.as_bytes(), &Wishes { seeds, ..Wishes::default() })?;
        one.cases.retain_mut(|case| {
            case.labels.insert(AXIS.to_owned(), home.number.to_string());
            let scheme = &case.labels["scheme"];
            scheme == ARMS[0] || arms.contains(scheme)
        });
        Ok(one)
    };
    let mut all = homes.iter().map(read).collect::<Result<Vec<Scenario>, Refusal>>()?;
    let mut whole = all.remove(0);
    whole.cases.extend(all.into_iter().flat_map(|one| one.cases));
    let labels = homes.iter().map(|home| home.number.to_string()).collect();
    whole.axes.insert(0, Axis { name: AXIS.to_owned(), labels });
    ID.clone_into(&mut whole.id);
    whole.title = format!("{} random homes, from number {} on", homes.len(), homes[0].number);
    (whole.file, whole.text) = (String::new(), String::new());
    "# `sluice arena --homes N --write DIR` writes the homes as scenarios.\n".clone_into(&mut whole.alone);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::fingerprint;
    use std::collections::BTreeSet;

    fn drawn(numbers: std::ops::RangeInclusive<u64>) -> Vec<Home> {
        numbers.map(Home::draw).collect()
    }

    /// A second generator, in another language, made the same homes.
    #[test]
    fn a_number_is_the_same_home_everywhere() {
        let texts: String = drawn(1..=100).into_iter().map(|home| home.text).collect();
        assert_eq!(format!("{:032x}", fingerprint(texts.as_bytes())), "d0048adbb72d301fa3b33e620c72e378");
    }

    #[test]
    fn every_part_occurs() {
        let seen: BTreeSet<&str> = drawn(1..=60).iter().flat_map(|home| home.traits.clone()).collect();
        for kind in ["radio", "role", "neighbour", "stations", "line", "walk"] {
            let missing: Vec<&str> =
                parts(kind).filter_map(|part| part.words.get(2).copied()).filter(|what| !seen.contains(what)).collect();
            assert!(missing.is_empty(), "{missing:?}");
            assert_eq!(parts(kind).map(|part| part.words[1].parse::<u8>().unwrap()).sum::<u8>(), 100, "{kind}");
        }
        for what in ["few stations", "many stations", "walker", "sleeper", "slow line"] {
            assert!(seen.contains(what), "{what}");
        }
    }

    #[test]
    fn the_null_control_differs_by_four_microseconds_alone() {
        let homes = drawn(1..=20);
        let whole = scenario(&homes, &ARMS.map(str::to_owned), Some(2)).unwrap();
        assert_eq!(
            (whole.cases.len(), whole.seeds.len(), whole.axes[1].labels.as_slice()),
            (80, 2, &ARMS.map(str::to_owned)[..])
        );
        for cases in whole.cases.chunks(4) {
            assert!(cases[0].set.is_empty());
            let set: Vec<(&str, &str)> = cases[3].set.iter().map(|(key, value)| (&**key, &**value)).collect();
            assert_eq!(set, [("node.ap.mac80211.airtime_weight", "\"260 us\"")]);
        }
    }
}
