//! Tests of whole pages, made from artificial studies.

use super::html;
use super::lines::picture;
use super::picture::{Data, Line, Picture, Tracks};
use crate::study::{self, Cell, Chart, Compare, Labels, Study, Table, Together};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) mod sample;

const STUB: &str = "window.vegaEmbed = () => {};";

fn page(studies: &[Study]) -> String {
    html(studies, STUB, None)
}

/// Returns the data that the page's script reads.
fn embedded(page: &str) -> Value {
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let json = &page[start..start + page[start..].find("</script>").unwrap()];
    serde_json::from_str(json).unwrap()
}

fn draw(study: &Study, chart: &Chart) -> (Result<Picture, String>, Data) {
    let mut data = Data::default();
    let picture = picture(0, study, chart, "chart".to_owned(), &mut data, &mut Tracks::default());
    (picture, data)
}

#[test]
fn warnings_that_differ_in_numbers_alone_are_one() {
    let mut run = sample::targets().runs.remove(0);
    let told = ["b at n0 hangs on 4 %", "b at n1 hangs on 7 %", "c at ap", "b at n0 hangs on 4 %"];
    run.outcome.warnings = told.map(str::to_owned).into();
    assert_eq!(crate::study::warnings(&[run]), ["b at n0 hangs on 4 % (1 more like this)", "c at ap"]);
}

#[test]
fn hostile_texts_stay_texts() {
    let page = page(&sample::studies());
    assert!(!page.contains("<img"), "markup from a title");
    assert!(!page.contains("<b>axis") && !page.contains("<i>one") && !page.contains("<u>loss"));
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp; &quot;quotes&quot;"));
    // The head has the icon, style and policy. The only scripts are the data, the library and the page's own.
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script").count(), 3);
}

#[test]
fn the_page_names_nothing_to_fetch() {
    let page = page(&sample::studies());
    for reference in ["http:", "https:", "src=\"", "url(", "@import", "<iframe"] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn claims_have_value_interval_source_and_verdict() {
    let page = page(&[sample::targets()]);
    let row = |id: &str| {
        let start = page.find(&format!(">{id} · ")).unwrap();
        let start = page[..start].rfind("<tbody").unwrap();
        &page[start..start + page[start..].find("</tbody>").unwrap()]
    };
    let first = row("sample-targets.1");
    assert!(first.contains("no packet arrives after its deadline"));
    assert!(first.contains("ADTH section 4.2.1"));
    assert!(first.contains("<span class=\"value\">0.0059 %</span> <span class=\"interval\">0 % to 0.013 %</span>"));
    assert!(first.contains("&lt;= 0.1 %") && first.contains("</span>holds</span>"));
    let second = row("sample-targets.2");
    assert!(second.contains("above 7 s <span") && second.contains("</span>differs</span>"));
    let third = row("sample-targets.3");
    assert!(third.contains("no number") && !third.contains(" to 3"), "one seed has no interval");
}

#[test]
fn several_studies_begin_with_an_answer_each() {
    let page = page(&sample::studies());
    assert!(page.contains("<h1>Sluice: 3 experiments</h1>"));
    assert!(page.contains("</span>2 hold</button>") && page.contains("</span>1 differs</button>"));
    for n in 0..3 {
        assert!(page.contains(&format!("href=\"#study-{n}\"")) && page.contains(&format!("id=\"study-{n}\"")));
    }
    let contents = &page[..page.find("</nav>").unwrap()];
    assert_eq!(contents.matches("<p class=\"answer\">").count(), 3 + 1, "one of the three has two sentences");
    assert!(
        contents.contains("ADTH-DF keeps the deadline") && contents.contains("(3 seeds per case), no claims."),
        "{contents}"
    );
}

#[test]
fn a_page_begins_with_the_answer_and_the_chart_that_shows_it() {
    let page = page(&[sample::targets()]);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    let order = [
        at("<strong>0.0059 %</strong> of its packets are late"),
        at("Largest one-way delay over the target"),
        at("<h2>Claims</h2>"),
        at("data-verdicts=\"differs\""),
        at("<details class=\"rest\"><summary>2 claims that hold</summary>"),
        at("data-verdicts=\"holds\""),
        at("<h2>More charts</h2>"),
        at("One-way delay over time"),
        at("<h2>What was run</h2>"),
        at("Made-up numbers in the shapes"),
    ];
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn a_study_without_an_answer_begins_with_counts_and_its_first_chart() {
    let mut study = sample::targets();
    study.answer.says = vec!["It takes {99}.".to_owned()];
    study.charts.iter_mut().for_each(|chart| chart.first = false);
    let page = page(&[study]);
    assert!(page.contains("<p class=\"answer\">2 of 3 claims hold; 1 differs.</p>\n<p>Made-up numbers"));
}

#[test]
fn statements_of_others_are_counted_apart() {
    let mut study = sample::targets();
    study.claims[2].statement = Some(study::Origin::Ours);
    let page = page(&[study]);
    let button = "<button type=\"button\" class=\"tag holds\" aria-pressed=\"false\" data-verdict=\"holds\" data-origin=\"ours\">";
    assert!(page.contains("<p class=\"tally\">2 claims of the document: ") && page.contains(button), "{page}");
    assert!(page.contains("<p class=\"tally\">1 claim of our own: ") && page.contains(" · our own statement</span>"));
}

#[test]
fn lines_over_time_have_names_colours_and_rules() {
    let study = sample::targets();
    let (picture, data) = draw(&study, &study.charts[0]);
    let picture = picture.unwrap();
    let titles: Vec<_> = picture.panels.iter().map(|panel| panel.title.as_deref().unwrap()).collect();
    assert_eq!(titles, ["target 200 ms", "target 1 s"]);
    let looks: Vec<_> = picture.legend.iter().map(|s| (s.name.as_str(), s.colour, s.dash)).collect();
    assert_eq!(
        looks,
        [
            ("forward, FIFO-DF", 0, 0),
            ("reverse, FIFO-DF", 0, 1),
            ("forward, ADTH-DF", 1, 0),
            ("reverse, ADTH-DF", 1, 1)
        ]
    );
    let rules: Vec<_> = picture.panels[0].rules.iter().map(|rule| (rule.name.as_str(), rule.at)).collect();
    assert_eq!(rules, [("deadline 400 ms", Some(0.4))]);
    assert_eq!(picture.y.title, "one-way delay (s)");
    assert_eq!(data.series.len(), 8);
    let reverse = &data.series[picture.panels[0].lines[1].series.unwrap()];
    assert_eq!(reverse.values[249], None, "nothing is received before 25 s");
    assert!(reverse.values[250].is_some());
}

#[test]
fn points_over_an_axis_have_intervals_and_the_deadline_follows_the_target() {
    let study = sample::targets();
    let chart = study.charts.iter().find(|chart| chart.x == "target").unwrap();
    let (picture, _) = draw(&study, chart);
    let picture = picture.unwrap();
    let scale = picture.x.as_ref().unwrap();
    assert_eq!(scale.at, [0.2, 0.4, 0.6, 0.8, 1.0]);
    let line = &picture.panels[0].lines[0];
    assert_eq!(picture.legend[line.key].name, "forward");
    assert_eq!(line.points.len(), 5);
    for (place, [mean, low, high]) in &line.points {
        let values: Vec<f64> = study
            .runs
            .iter()
            .filter(|run| run.case["scheme"] == "ADTH-DF" && run.case["target"] == study.axes[1].labels[*place])
            .map(|run| run.outcome.flows[0].delay_s.max)
            .collect();
        assert_eq!(values.len(), 3);
        assert!((mean - values.iter().sum::<f64>() / 3.0).abs() < 1e-12);
        assert!(low < mean && mean < high);
    }
    let along: Vec<f64> = picture.panels[0].rules[0].along.iter().map(|(_, value)| *value).collect();
    assert_eq!(along, [0.4, 0.8, 1.2, 1.6, 2.0]);
}

#[test]
fn a_claim_that_differs_says_why() {
    let mut study = sample::targets();
    for claim in &mut study.claims {
        claim.why = Some(if claim.verdict.fails() { "Frames <are> slow." } else { "Nobody asks." }.to_owned());
    }
    let page = page(&[study]);
    assert!(page.contains("<strong>Why:</strong> Frames &lt;are&gt; slow."));
    assert!(!page.contains("Nobody asks."));
}

#[test]
fn every_series_is_stored_once() {
    let study = sample::targets();
    let data = embedded(&page(&[study]));
    // Two charts show the same 8 delays. Others show limit and backlog, 3 nodal delays, and the goodput of 2 flows in 5
    // cases. Then there are the distributions of 2 flows in 4 cases, and of 2 flows in 2 cases.
    assert_eq!(data["series"].as_array().unwrap().len(), 8 + 2 + 3 + 10 + 8 + 4);
    assert_eq!(data["pictures"].as_array().unwrap().len(), 8);
}

#[test]
fn distributions_rise_from_nobody_to_all_and_their_tails_fall() {
    let study = sample::targets();
    let of = |log| study.charts.iter().find(|chart| chart.x == "cdf" && chart.log == log).unwrap();
    let (picture, data) = draw(&study, of(false));
    let picture = picture.unwrap();
    assert_eq!(picture.panels.len(), 2);
    let drawn =
        |line: &Line| -> Vec<f64> { data.series[line.series.unwrap()].values.iter().flatten().copied().collect() };
    for line in picture.panels.iter().flat_map(|panel| &panel.lines) {
        let shares = drawn(line);
        assert!(
            shares.len() == 500 && shares[0] < 0.01 && shares[499] > 0.99,
            "{}: {shares:?}",
            picture.legend[line.key].name
        );
        assert!(shares.is_sorted(), "{}: {shares:?}", picture.legend[line.key].name);
    }
    assert!(picture.panels[0].rules.iter().any(|rule| rule.name == "deadline 400 ms"));
    assert!(picture.notes[0].contains("Quantiles averaged over 3 seeds"), "{:?}", picture.notes);
    assert!((picture.y.factor - 100.0).abs() < 1e-9, "the title is in per cent");
    let (tails, data) = draw(&study, of(true));
    let tails = tails.unwrap();
    let shares = &data.series[tails.panels[0].lines[0].series.unwrap()].values;
    assert!(shares.iter().is_sorted_by(|a, b| a >= b), "{shares:?}");
    assert!(tails.y.log && tails.y.domain[0] > 0.0);
}

#[test]
fn every_chart_stands_on_the_page_without_its_script() {
    let mut study = sample::targets();
    study.charts.push(Chart { log: true, ..study.charts[0].clone() });
    let html = page(&[study]);
    let panels: Vec<&str> = html.split("<div class=\"plot\"").skip(1).collect();
    assert!(panels.len() > 3, "{}", panels.len());
    for panel in panels {
        let svg = &panel[panel.find("<svg").expect("a picture")..panel.find("</svg>").expect("its end")];
        // Colours need no style, which strict policies forbid.
        assert!(svg.contains(" stroke=\"#") && svg.contains("</text>") && !svg.contains("style="), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    assert!(html.contains("<line x1=\"1\" x2=\"25\" y1=\"5\" y2=\"5\" class=\"stroke-0 dash-0\" stroke=\"#0072b2\"/>"));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let study = sample::targets();
    let refused = |chart: Chart| draw(&study, &chart).0.unwrap_err();
    let time = study.charts[0].clone();
    assert!(
        refused(Chart { y: vec!["flows.sideways.delay_max_s".to_owned()], ..time.clone() }).contains("no values of")
    );
    assert!(refused(Chart { x: "hops".to_owned(), ..time.clone() }).contains("does not vary “hops”"));
    let nowhere = [("scheme".to_owned(), study::Labels::One("PIE".to_owned()))].into();
    assert!(refused(Chart { cases: nowhere, ..time.clone() }).contains("No run"));
    let mut bare = study.clone();
    bare.runs.iter_mut().for_each(|run| run.outcome.series = None);
    assert!(draw(&bare, &time).0.unwrap_err().contains("recorded no series"));
    assert!(page(&[bare]).contains("<p class=\"empty\">These runs recorded no series over time"));
}

#[test]
fn units_suit_the_values() {
    let study = sample::targets();
    let y = |n: usize| draw(&study, &study.charts[n]).0.unwrap().y;
    assert_eq!((y(3).title.as_str(), y(3).factor), ("nodal delay (ms)", 1e3));
    assert_eq!((y(4).title.as_str(), y(4).factor), ("goodput (Mb/s)", 1e-6));
    assert!(y(1).log && y(1).domain[0] > 0.0);
}

#[test]
fn a_label_has_one_colour_in_all_charts() {
    let study = sample::targets();
    let adth = Chart {
        cases: [("scheme".to_owned(), study::Labels::One("ADTH-DF".to_owned()))].into(),
        ..study.charts[0].clone()
    };
    let colours: Vec<_> = draw(&study, &adth).0.unwrap().legend.iter().map(|style| style.colour).collect();
    assert_eq!(colours, [1, 1], "as in the chart with both schemes");
}

#[test]
fn a_logarithmic_axis_ends_at_the_smallest_mean_and_leaves_out_zeros() {
    let mut study = sample::targets();
    for run in &mut study.runs {
        // The interval at the first target reaches below zero; the second target has no value.
        run.outcome.totals.loss_ratio = match run.case["target"].as_str() {
            "200 ms" => [0.001, 0.0, 0.002][usize::try_from(run.seed - 1).unwrap()],
            "400 ms" => 0.0,
            _ => 0.01,
        };
    }
    let chart = Chart {
        x: "target".to_owned(),
        y: vec!["totals.loss_ratio".to_owned()],
        y_title: "loss ratio".to_owned(),
        log: true,
        deadline: false,
        panels: None,
        cases: [("scheme".to_owned(), study::Labels::One("ADTH-DF".to_owned()))].into(),
        ..study.charts[0].clone()
    };
    let picture = draw(&study, &chart).0.unwrap();
    assert!(picture.panels[0].lines[0].points[0].1[1] < 0.0);
    assert!((picture.y.domain[0] - 0.001).abs() < 1e-12);
    assert!(picture.notes.iter().any(|note| note.contains("logarithmic")));
}

/// Goodputs of both flows together, compared with those of the best target.
fn efficiency() -> (Together, BTreeMap<String, Labels>) {
    (Together::Sum, [("target".to_owned(), Labels::One("*".to_owned()))].into())
}

#[test]
fn a_chart_can_show_each_case_beside_the_best() {
    let study = sample::targets();
    let (together, against) = efficiency();
    let chart = Chart {
        x: "target".to_owned(),
        y: vec!["flows.*.goodput_bps".to_owned()],
        y_title: "efficiency (%)".to_owned(),
        together: Some(together),
        against,
        compare: Compare::Ratio,
        deadline: false,
        panels: None,
        x_scale: study::Spacing::Log,
        ..study.charts[0].clone()
    };
    let picture = draw(&study, &Chart { cases: BTreeMap::new(), ..chart }).0.unwrap();
    assert!(picture.x.as_ref().unwrap().log && (picture.y.factor - 100.0).abs() < 1e-12);
    let names: Vec<_> = picture.legend.iter().map(|style| style.name.as_str()).collect();
    assert_eq!(names, ["FIFO-DF", "ADTH-DF"]);
    let line = &picture.panels[0].lines[1];
    assert_eq!(line.points.len(), 5);
    let sum = |label: &str, seed: u64| -> f64 {
        let wanted =
            |run: &&study::Run| run.seed == seed && run.case["scheme"] == "ADTH-DF" && run.case["target"] == label;
        let run = study.runs.iter().find(wanted).unwrap();
        run.outcome.flows.iter().map(|flow| flow.goodput_bps).sum()
    };
    let labels = &study.axes[1].labels;
    for (place, [mean, ..]) in &line.points {
        let of_seed = |seed| {
            let most = labels.iter().map(|label| sum(label, seed)).fold(0.0, f64::max);
            sum(&labels[*place], seed) / most
        };
        assert!((mean - (1..=3).map(of_seed).sum::<f64>() / 3.0).abs() < 1e-12);
    }
}

#[test]
fn a_chart_shows_arithmetic_on_results_as_a_claim_would() {
    let study = sample::targets();
    let lines = |measure: &str| {
        let chart = study.charts.iter().find(|chart| chart.x == "target").unwrap();
        let y = vec![measure.to_owned()];
        let y_title = "of a flow (b/s)".to_owned();
        let chart = Chart { y, y_title, deadline: false, target: false, ..chart.clone() };
        let picture = draw(&study, &chart).0.unwrap();
        let (lines, legend) = (picture.panels.into_iter().flat_map(|panel| panel.lines), picture.legend);
        lines.map(|line| (legend[line.key].name.clone(), line.points)).collect::<Vec<_>>()
    };
    let (plain, half) = (lines("flows.*.goodput_bps"), lines("flows.*.goodput_bps / 2"));
    assert_eq!((plain.len(), half.len()), (2, 2));
    for ((name, points), (of, halves)) in plain.iter().zip(&half) {
        assert_eq!((name, points.len()), (of, halves.len()));
        assert!(
            points.iter().zip(halves).all(|((_, whole), (_, half))| (whole[0] / 2.0 - half[0]).abs() < 1e-9 * whole[0])
        );
    }
    let sum = lines("sum(flows.*.goodput_bps)");
    assert_eq!(sum.len(), 1);
    for (number, (_, [sum, ..])) in sum[0].1.iter().enumerate() {
        let of_flows: f64 = plain.iter().map(|(_, points)| points[number].1[0]).sum();
        assert!((sum - of_flows).abs() < 1e-6 * sum);
    }
}

#[test]
fn a_table_has_a_row_a_label_and_its_figures_side_by_side() {
    let mut study = sample::targets();
    let (together, against) = efficiency();
    let measure = "flows.*.goodput_bps".to_owned();
    let cell = Cell {
        title: "efficiency (%)".to_owned(),
        measure,
        together: Some(together),
        against,
        compare: Compare::Ratio,
    };
    let delay = Cell {
        title: "largest delay (s)".to_owned(),
        measure: "flows.*.delay_s.max".to_owned(),
        together: Some(Together::Max),
        against: BTreeMap::new(),
        ..cell.clone()
    };
    let only = Labels::Any(vec!["200 ms".to_owned(), "1 s".to_owned()]);
    study.tables = vec![Table {
        title: "All in one".to_owned(),
        about: String::new(),
        report_only: false,
        rows: "scheme".to_owned(),
        columns: vec!["target".to_owned()],
        cases: [("target".to_owned(), only)].into(),
        cell: vec![cell, delay],
    }];
    let text = crate::tables::asked(&study, &study.tables[0], 100);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "All in one: efficiency (%) / largest delay (s)");
    assert!(lines[1].starts_with("scheme") && lines[1].contains("200 ms") && lines[1].ends_with("1 s"), "{text}");
    assert!(!lines[1].contains("400 ms") && lines.len() == 5, "{text}");
    let longest = |label: &str, seed: u64| -> f64 {
        let wanted =
            |run: &&study::Run| run.seed == seed && run.case["scheme"] == "FIFO-DF" && run.case["target"] == label;
        let run = study.runs.iter().find(wanted).unwrap();
        run.outcome.flows.iter().map(|flow| flow.delay_s.max).fold(0.0, f64::max)
    };
    let mean = (1..=3).map(|seed| longest("1 s", seed)).sum::<f64>() / 3.0;
    let shown: f64 = lines[3].rsplit(" / ").next().unwrap().parse().unwrap();
    assert!((shown / mean - 1.0).abs() < 0.005, "{text}");
    let narrow = crate::tables::asked(&study, &study.tables[0], 24);
    assert!(narrow.lines().skip(1).all(|line| line.chars().count() <= 24), "{narrow}");
    assert_eq!(narrow.matches("\nscheme ").count(), 2, "it goes on below: {narrow}");
    let json = crate::tables::json(&study);
    let row = &json[0]["rows"][0];
    assert_eq!((&row["row"], &row["cells"][1]["column"]["target"]), (&Value::from("FIFO-DF"), &Value::from("1 s")));
    assert!((row["cells"][1]["values"][1]["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{json}");
    let page = page(&[study]);
    assert!(page.contains("colspan=\"2\">200 ms</th>") && page.contains(">efficiency (%)</th>"));
}

#[test]
fn commands_replay_a_run() {
    let page = page(&sample::studies());
    assert!(page.contains("<code>sluice reproduce &#39;my scenarios/sample-targets.toml&#39; --quick</code>"));
    assert!(page.contains(
        "sluice run &#39;my scenarios/sample-targets.toml&#39; --seed 1 --set &#39;queue.scheme=&quot;ADTH-DF&quot;&#39; \
         --set &#39;queue.target=&quot;1 s&quot;&#39;"
    ));
    // The word it's, in single quotes of the shell.
    assert!(page.contains("title=&quot;it&#39;\\&#39;&#39;s&quot;&#39;"));
}

/// Makes a chart over results, and a study with these delays, goodputs and losses, each with two seeds.
fn over_results(cases: &[(&str, f64, f64, f64)]) -> (Study, Chart) {
    let mut study = sample::studies().remove(0);
    let run = study.runs[0].clone();
    study.axes = vec![study::Axis { name: "scheme".into(), labels: cases.iter().map(|(l, ..)| (*l).into()).collect() }];
    study.seeds = vec![1, 2];
    let runs = cases.iter().flat_map(|(label, delay, goodput, loss)| {
        [0.9, 1.1].map(|part| {
            let mut run = run.clone();
            run.case = BTreeMap::from([("scheme".to_owned(), (*label).to_owned())]);
            run.outcome.flows.truncate(1);
            run.outcome.flows[0].delay_s.p99 = delay * part;
            run.outcome.flows[0].loss_ratio = *loss;
            run.outcome.totals.goodput_bps = goodput * part;
            run
        })
    });
    study.runs = runs.collect();
    let text = "title = \"t\"\nx = \"flows.*.delay_s.p99\"\nx_title = \"p99 (s)\"\ny = [\"totals.goodput_bps\"]\n\
                y_title = \"goodput (bit/s)\"\ncolour = \"scheme\"\nfront = { x = \"below\", y = \"above\", \
                of = \"flows.*.loss_ratio\", when = \"<= 2 %\" }";
    (study, crate::scenario::parse("chart", text.as_bytes()).unwrap())
}

#[test]
fn cases_over_a_result_are_points_with_intervals_and_some_are_on_the_front() {
    let cases =
        [("slow", 0.2, 5e6, 0.0), ("fast", 0.03, 5e6, 0.0), ("lossy", 0.01, 9e6, 0.5), ("thin", 0.02, 1e6, 0.0)];
    let (study, chart) = over_results(&cases);
    let (picture, _) = draw(&study, &chart);
    let picture = picture.unwrap();
    let scatter = picture.panels[0].scatter.as_ref().unwrap();
    assert_eq!(scatter.front.as_deref(), Some("On the front: fast; thin."));
    assert_eq!((scatter.x.title.as_str(), scatter.y.title.as_str()), ("p99 (ms)", "goodput (Mb/s)"));
    assert_eq!(scatter.points.iter().map(|point| point.full).collect::<Vec<_>>(), [true, true, false, true]);
    let [mean, low, high] = scatter.points[1].x;
    assert!((mean - 0.03).abs() < 1e-9 && low < mean && mean < high, "{low} {mean} {high}");
    let page = page(&[Study { charts: vec![chart], ..study }]);
    assert!(page.contains("<p class=\"note\">On the front: fast; thin.</p>"), "{page}");
    assert!(
        page.contains("<th scope=\"row\">lossy</th>") && page.contains("because flows.*.loss_ratio is not &lt;= 2 %")
    );
}
