//! Random homes: the number of a home says all about it, and its scenario has the same bytes on every machine.
//!
//! An access point with 1 to 25 stations, each with something to do, walls that shadow, a line to the servers that may be
//! slower than the air, and perhaps a neighbour on the channel; `parts.toml` has them. [`judge`] compares the schemes of its
//! access point.

pub mod judge;

use crate::scenario::{Refusal, Scenario, Wishes};
use crate::study::Axis;
use control::{Random, mix};
use std::fmt::Write as _;

const PARTS: &str = include_str!("homes/parts.toml");
/// Schemes of the access point: today's default, ours, today's default with the knobs of grade 1 of `turns`, and the null
/// control, whose scheduler differs by 4 us in 256: what it changes is chance.
pub const ARMS: [&str; 4] = ["mac80211", "turns", "knobs", "null"];
/// Id of the experiment of many homes, and its axis.
pub const ID: &str = "arena-homes";
const AXIS: &str = "home";
/// Ranges of the number of stations, in each as many homes.
const STATIONS: [(u8, u8); 8] = [(1, 1), (2, 2), (3, 3), (4, 5), (6, 8), (9, 12), (13, 17), (18, 25)];
/// Largest number of stations of a home with few, and smallest of one with many.
const FEW: u8 = 4;
const MANY: u8 = 9;

/// A home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Number.
    pub number: u64,
    /// Scenario file.
    pub text: String,
    /// What it may share with other homes: "heavy neighbour", "802.11ac", "film".
    pub traits: Vec<&'static str>,
}

impl Home {
    /// Draws the home of a number.
    pub fn draw(number: u64) -> Self {
        let mut draw = Draw(Random::new(mix(number)));
        let (radio, neighbour) = (draw.part("radio"), draw.part("neighbour"));
        let (own, older) = radio.body.split_once("\n#- older stations\n").unwrap_or((radio.body, ""));
        let (least, most) = *draw.pick(&STATIONS);
        let count = least + draw.0.below(most - least + 1);
        let radius = *draw.pick(&[6, 10, 15, 20]);
        let walker = if draw.0.below(100) < 15 { draw.0.below(count) } else { count };
        let category = *draw.pick(&["best-effort", "best-effort", "best-effort", "voice"]);
        let (number_told, count_told) = (number.to_string(), count.to_string());
        let [standard, film, video, rates] = [2, 3, 4, 5].map(|word| radio.words[word]);
        let of_home = [
            ("number", &*number_told),
            ("count", &*count_told),
            ("standard", standard),
            ("radio", own),
            ("rates", rates),
            ("neighbour", neighbour.words[2]),
        ];
        let home = draw.part("home");
        let mut text = draw.filled(home.body, &of_home);
        let mut traits = vec![standard, neighbour.words[2]];
        for station in 0..count {
            // Three homes of four have a download.
            let role = if station == 0 && draw.0.below(4) > 0 { parts("role").next() } else { Some(draw.part("role")) };
            let role = role.expect("there are roles");
            let name = format!("s{}", station + 1);
            let (x, y) = draw.place();
            let at = |times: i32| [x, y].map(|part| format!("{} m", f64::from(part * radius * times) / 100.0));
            let _ = write!(text, "\n[[node]]\nname = \"{name}\"\naccess_point = \"ap\"\nposition = {:?}\n", at(1));
            if station == walker {
                let leg = |time: &str, to: [String; 2]| {
                    format!("{{ time = \"{time}\", position = {to:?}, speed = \"10 m/s\" }}")
                };
                let _ = writeln!(text, "waypoints = [{}, {}]", leg("5 s", at(3)), leg("9500 ms", at(1)));
            }
            let is_pinged = role.words[2] == "download" && !text.contains("ping busy");
            let busy = is_pinged.then(|| draw.part("busy").body).unwrap_or_default();
            let of_station = [("name", &*name), ("film", film), ("video", video), ("category", category)];
            for body in [older, role.body, busy] {
                text += &draw.filled(body, &of_station);
            }
            traits.push(role.words[2]);
        }
        if !neighbour.body.is_empty() {
            for part in [draw.part("cell"), neighbour] {
                text += &draw.filled(part.body, &[]);
            }
        }
        debug_assert!(!text.contains(['$', '<', '|']), "every word is filled in, and every choice is made");
        let marks = [
            ("power_save", "sleeper"),
            ("waypoints", "walker"),
            ("\"20 Mb/s\"", "slow line"),
            ("\"50 Mb/s\"", "slow line"),
            ("rts_threshold", "RTS"),
        ];
        traits.extend(marks.iter().filter(|(mark, _)| text.contains(mark)).map(|(_, told)| *told));
        traits.extend((count <= FEW).then_some("few stations").or((count >= MANY).then_some("many stations")));
        traits.sort_unstable();
        traits.dedup();
        Self { number, text, traits }
    }
}

/// A part of homes: what its line says, and what it writes.
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

/// The draws of a home.
struct Draw(Random);

impl Draw {
    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::from(self.0.below(u8::try_from(of.len()).expect("few choices")))]
    }

    /// Draws a part of a kind by its weight.
    fn part(&mut self, kind: &str) -> Part {
        let mut left = self.0.below(100);
        let mut chosen = |part: &Part| {
            let weight = part.words[1].parse().unwrap_or(0);
            let is_here = left < weight;
            left = left.saturating_sub(weight);
            is_here
        };
        parts(kind).find(|part| chosen(part)).expect("the weights of a kind are 100 together")
    }

    /// Draws a place on a disc, in percent of its radius, and not on the access point.
    fn place(&mut self) -> (i32, i32) {
        loop {
            let [x, y] = [(); 2].map(|()| i32::from(self.0.below(201)) - 100);
            if (300..=10_000).contains(&(x * x + y * y)) {
                return (x, y);
            }
        }
    }

    /// Fills in words, and draws one of each `<a|b>`.
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

/// Makes one experiment of some homes with some of the [`ARMS`].
///
/// # Panics
/// Without a home.
///
/// # Errors
/// The fault of a home, which is one of this module.
pub fn scenario(homes: &[Home], arms: &[String], seeds: Option<usize>) -> Result<Scenario, Refusal> {
    let read = |home: &Home| {
        let name = format!("home-{}.toml", home.number);
        let mut one = Scenario::parse(&name, home.text.as_bytes(), &Wishes { seeds, ..Wishes::default() })?;
        one.cases.retain_mut(|case| {
            case.labels.insert(AXIS.to_owned(), home.number.to_string());
            arms.contains(&case.labels["scheme"])
        });
        Ok(one)
    };
    let mut all = homes.iter().map(read).collect::<Result<Vec<Scenario>, Refusal>>()?;
    let mut whole = all.remove(0);
    whole.cases.extend(all.into_iter().flat_map(|one| one.cases));
    let labels = homes.iter().map(|home| home.number.to_string()).collect();
    whole.axes.insert(0, Axis { name: AXIS.to_owned(), labels });
    whole.id = ID.to_owned();
    whole.title = format!("{} random homes, from {} on", homes.len(), homes[0].number);
    (whole.file, whole.text) = (String::new(), String::new());
    whole.alone = "# `sluice arena --homes N --write DIR` writes the homes as scenarios.\n".to_owned();
    Ok(whole)
}
