//! The map of a site. It shows each access point's airtime and latency, without a script.

use super::figure;
use super::text::{Escaped, number};
use crate::study::{Run, Study};
use sim::results::CellTotals;
use std::fmt::{self, Write as _};

/// Minimum number of access points for a map; maximum number of access points with names; maximum number of cases.
const FEW: usize = 4;
const MOST_NAMED: usize = 40;
const MOST_CASES: usize = 4;
/// Width of the map, its margin and the largest radius of an access point, in pixels.
const WIDTH: f64 = 640.0;
const MARGIN: f64 = 30.0;
const RADIUS: f64 = 18.0;
/// Attributes of labels.
const TEXT: &str = "font-size=\"12\" fill=\"currentColor\"";
/// Classes of latency: upper bound in seconds, name and colour.
const CLASSES: [(f64, &str, &str); 4] = [
    (0.05, "below 50 ms", "#00875f"),
    (0.1, "50 to 100 ms", "#2b8ac4"),
    (0.2, "100 to 200 ms", "#b57b00"),
    (f64::INFINITY, "from 200 ms", "#d55e00"),
];

/// Writes a map and a table of the access points for each of the first cases, if enough of them have fixed positions.
pub(super) fn maps(out: &mut String, study: &Study, heading: &str) -> fmt::Result {
    if study.places.len() < FEW {
        return Ok(());
    }
    writeln!(out, "<{heading}>Access points</{heading}>\n<p>The area shows how busy the channel is, the colour the")?;
    writeln!(out, "largest 99th percentile of delay of the access point's flows.</p>")?;
    for runs in study.runs.chunk_by(|one, next| one.case == next.case).take(MOST_CASES) {
        let mut cells: Vec<CellTotals> = runs[0].outcome.totals.cells.iter().map(|cell| mean(cell, runs)).collect();
        let labels: Vec<&str> = runs[0].case.values().map(String::as_str).collect();
        writeln!(out, "<figure><figcaption><strong>{}</strong></figcaption>", Escaped(&labels.join(", ")))?;
        map(out, study, &cells)?;
        cells.sort_by(|one, other| other.delay_p99_max_s.total_cmp(&one.delay_p99_max_s));
        let rows = cells.iter().map(|cell| (cell.name.as_str(), figures(cell).into_iter()));
        let head = ["", "goodput (Mb/s)", "channel busy (%)", "largest delay p99 (ms)"];
        let head = head.map(|title| format!("<th scope=\"col\" class=\"number\">{title}</th>")).concat();
        out.push_str("<details><summary>All access points, the slowest first</summary>\n");
        figure::table(out, "Access points", &format!("<tr>{head}</tr>"), rows)?;
        out.push_str("</details>\n</figure>\n");
    }
    Ok(())
}

/// Formats goodput, share of time in which the channel is busy, and largest 99th percentile of delay.
fn figures(cell: &CellTotals) -> [String; 3] {
    [cell.goodput_bps / 1e6, cell.busy_ratio * 100.0, cell.delay_p99_max_s * 1e3].map(|it| number(it, 3))
}

/// Averages a cell over the runs of a case.
fn mean(cell: &CellTotals, runs: &[Run]) -> CellTotals {
    let of = |value: fn(&CellTotals) -> f64| {
        let all = runs.iter().flat_map(|run| &run.outcome.totals.cells).filter(|other| other.name == cell.name);
        all.map(value).sum::<f64>() / runs.len() as f64
    };
    CellTotals {
        name: cell.name.clone(),
        goodput_bps: of(|cell| cell.goodput_bps),
        delay_p99_max_s: of(|cell| cell.delay_p99_max_s),
        busy_ratio: of(|cell| cell.busy_ratio),
    }
}

fn map(out: &mut String, study: &Study, cells: &[CellTotals]) -> fmt::Result {
    let ends = |axis: usize| {
        let places = || study.places.values().map(|place| place[axis]);
        (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((west, east), (south, north)) = (ends(0), ends(1));
    let scale = (WIDTH - 2.0 * MARGIN) / (east - west).max(north - south).max(1.0);
    let height = 2.0 * MARGIN + scale * (north - south);
    writeln!(out, "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Map\" width=\"100%\">", height + 24.0)?;
    for cell in cells {
        let Some([x, y]) = study.places.get(&cell.name) else { continue };
        let (x, y) = (MARGIN + scale * (x - west), height - MARGIN - scale * (y - south));
        let class = CLASSES.iter().find(|(bound, ..)| cell.delay_p99_max_s < *bound).unwrap_or(&CLASSES[3]);
        let radius = 4.0 + (RADIUS - 4.0) * cell.busy_ratio.clamp(0.0, 1.0).sqrt();
        let (name, [rate, busy, delay]) = (Escaped(&cell.name), figures(cell));
        writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{}\" fill-opacity=\"0.75\"><title>{name}: {rate} Mb/s, \
             busy {busy} %, {delay} ms</title></circle>",
            class.2
        )?;
        if cells.len() <= MOST_NAMED {
            let y = y + RADIUS + 10.0;
            writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" {TEXT}>{name}</text>")?;
        }
    }
    for (rank, (_, name, colour)) in CLASSES.iter().enumerate() {
        let (x, y) = (MARGIN + 150.0 * rank as f64, height + 12.0);
        write!(out, "<circle cx=\"{x}\" cy=\"{y:.0}\" r=\"6\" fill=\"{colour}\"/>")?;
        writeln!(
            out,
            "<text x=\"{}\" y=\"{:.0}\" font-size=\"13\" fill=\"currentColor\">{name}</text>",
            x + 11.0,
            y + 4.0
        )?;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::results::{Outcome, Totals};

    fn study(access_points: usize) -> Study {
        let cell = |number: usize| CellTotals {
            name: format!("ap<{number}"),
            delay_p99_max_s: 0.06 * number as f64,
            busy_ratio: 0.25,
            ..CellTotals::default()
        };
        let totals = Totals { cells: (0..access_points).map(cell).collect(), ..Totals::default() };
        let run = Run { outcome: Outcome { totals, ..Outcome::default() }, ..Run::default() };
        let places = (0..access_points).map(|number| (format!("ap<{number}"), [10.0 * number as f64, 5.0])).collect();
        Study { runs: vec![run], places, ..Study::default() }
    }

    #[test]
    fn a_map_has_each_access_point_in_its_place_with_size_and_colour() {
        let mut page = String::new();
        maps(&mut page, &study(5), "h2").expect("a String takes all text");
        // 580 pixels are 40 m. A busy ratio of a quarter gives half of the radius beyond 4 pixels.
        for circle in [
            "<circle cx=\"30.0\" cy=\"30.0\" r=\"11.0\" fill=\"#00875f\"",
            "<circle cx=\"175.0\" cy=\"30.0\" r=\"11.0\" fill=\"#2b8ac4\"",
            "<circle cx=\"320.0\" cy=\"30.0\" r=\"11.0\" fill=\"#b57b00\"",
            "<circle cx=\"610.0\" cy=\"30.0\" r=\"11.0\" fill=\"#d55e00\"",
        ] {
            assert!(page.contains(circle), "{circle}: {page}");
        }
        assert!(page.contains(">ap&lt;4</text>") && page.contains("<th scope=\"row\">ap&lt;4</th>"), "{page}");
        let mut page = String::new();
        maps(&mut page, &study(FEW - 1), "h2").expect("a String takes all text");
        assert_eq!(page, "");
    }
}
