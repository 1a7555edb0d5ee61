//! Stations of 802.11ax that send side by side if their access point asks.

use crate::networks::{refuses, run};
use crate::ofdma::sent;
use sim::results::{MultiUser, Outcome};
use sim::trace::{Asks, Frame, Kind};
use units::{Duration, Instant};

/// An access point over 80 MHz, MCS 11, two streams, with this traffic of `stations` stations at 3 m.
fn cell(stations: usize, mac: &str, flows: &str) -> String {
    format!(
        "duration = \"1100 ms\"\nwarmup = \"200 ms\"\n\
         [radio]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nstreams = 2\nmcs = 11\n\
         [mac]\nofdma = \"both\"\n{mac}\n[queue]\nlimit = 3000\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\nqueues = \"per-station\"\n\
         [[node]]\nname = \"s\"\ncount = {stations}\nposition = [\"3 m\", \"0 m\"]\n{flows}"
    )
}

/// The same with this limit of TXOPs; without a limit a TXOP is one exchange, with frames of 4 ms.
fn limited(text: &str, txop: &str) -> String {
    text.replace("[queue]", &format!("[mac.edca.best_effort]\ntxop_limit = \"{txop}\"\n[queue]"))
}

/// Returns the goodput of the flows whose names begin with `name`.
fn goodput(outcome: &Outcome, name: &str) -> f64 {
    outcome.flows.iter().filter(|flow| flow.name.starts_with(name)).map(|flow| flow.goodput_bps).sum()
}

const UP: &str = "[[flow]]\nname = \"up\"\nfrom = \"s*\"\nto = \"ap\"\n\
                  traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
const DOWN: &str = "[[flow]]\nname = \"down\"\nfrom = \"ap\"\nto = \"s*\"\n\
                    traffic = { kind = \"saturated\", packet = \"1000 B\" }\n";
const DOWNLOADS: &str = "[[flow]]\nname = \"tcp\"\nfrom = \"ap\"\nto = \"s*\"\ntransport = \"tcp\"\n\
                         traffic = { kind = \"greedy\" }\n";
/// Stations that do not contend between their answers.
const MANAGED: &str = "mu_edca = { timer = \"1 s\" }";

fn asked(outcome: &Outcome) -> MultiUser {
    outcome.nodes[0].mac.triggered.expect("frames of several stations")
}

/// An exchange with two stations. The trigger has 28 + 2 * 6 B at 6 Mb/s: 20 + 15 * 4 us. The parts last as long as frames may,
/// as more than 64 KB wait: 4 ms. 484 tones, two streams, MCS 11, 1.6 us: 7800 bits a symbol of 14.4 us, of which 273 follow the
/// preamble of 56 us: 266171 B, more than 248 MPDUs of 1072 B have. The multi-STA BlockAck, for which bitmaps of 34 B are
/// reserved, has 22 + 2 * 2 B at 24 Mb/s.
#[test]
fn an_exchange_lasts_what_the_standard_says() {
    let ns = Duration::from_nanos;
    let sent = sent(&limited(&cell(2, MANAGED, UP), "0 s"), 3, Duration::from_millis(50));
    let begin = sent.iter().position(|(_, frame)| matches!(frame.kind, Kind::Trigger { .. })).expect("a trigger");
    let after = |before: (Instant, Duration)| before.0 + before.1 + ns(16_000);
    let (start, trigger) = &sent[begin];
    assert_eq!((trigger.kind, trigger.length), (Kind::Trigger { asks: Asks::Data, users: 2 }, ns(80_000)));
    for (at, part) in &sent[begin + 1..begin + 3] {
        // They are 10 ns apart.
        assert!(at.since(after((*start, trigger.length))) < ns(30), "{at:?}");
        assert_eq!((part.kind, part.length, part.mpdus.len()), (Kind::Data, ns(4_000_000), 248));
    }
    let (at, answer) = &sent[begin + 3];
    let parts = after((*start, trigger.length)) + ns(4_000_000);
    assert!(at.since(parts) < ns(16_050) && parts + ns(16_000) <= *at, "{at:?}");
    let lasts = |bytes: u64| ns(20_000 + 4_000 * (22 + 8 * bytes).div_ceil(96));
    let whole = Kind::MultiBlockAck { stations: 2, whole: 2, long: true };
    assert_eq!((answer.kind, answer.length), (whole, lasts(22 + 2 * 2)));
    assert_eq!(trigger.reserves, ns(16_000 + 4_000_000 + 16_000) + lasts(22 + 2 * 36));
}

/// Every tenth MPDU is lost. A part with some hundred is hardly ever whole; one with a single MPDU mostly is. Others get bitmaps.
#[test]
fn who_sent_more_than_has_arrived_is_told_by_a_bitmap() {
    let lossy = |flows: &str| {
        let errors = "errors = { model = \"fixed\", packet_error_ratio = 0.1 }\n[mac]\n";
        sent(&limited(&cell(2, MANAGED, flows), "0 s").replacen("[mac]\n", errors, 1), 3, Duration::from_millis(50))
    };
    let answers = |flows: &str| {
        let of = |(_, frame): (_, Frame)| match frame.kind {
            Kind::MultiBlockAck { stations, whole, long: true } => Some((stations, whole, frame.length)),
            _ => None,
        };
        lossy(flows).into_iter().filter_map(of).collect::<Vec<_>>()
    };
    // The first exchange is left out: a station may have had a single packet in it.
    let all = answers(UP).split_off(1);
    assert!(!all.is_empty() && all.iter().all(|&(_, whole, _)| whole == 0), "{all:?}");
    let some = answers(&UP.replace("kind = \"saturated\"", "kind = \"poisson\", rate = \"40 Mb/s\""));
    assert!(some.iter().any(|&(_, whole, _)| whole > 0), "{some:?}");
    for (stations, whole, length) in all.into_iter().chain(some) {
        let bits = 22 + 8 * (22 + 2 * u64::from(stations) + 34 * u64::from(stations - whole));
        assert_eq!(length, Duration::from_nanos(20_000 + 4_000 * bits.div_ceil(96)));
    }
}

/// Stations always have packets and do not contend: every exchange is AIFS, a mean back-off of 7.5 slots, the trigger, 4 ms and
/// the BlockAck. The tolerance of 1 % is for the statistics of 200 back-offs.
#[test]
fn a_saturated_cell_carries_what_the_closed_form_says() {
    for (stations, subcarriers) in [(2_u64, 468_u64), (4, 234), (8, 102), (16, 48), (37, 24)] {
        let bits = subcarriers * 2 * 100 / 12;
        let room = ((4_000_000 - 56_000) / 14_400 * bits - 22) / 8;
        let mpdus = ((room + 2) / 1_072).min(256);
        let trigger = 20_000 + 4_000 * (22 + 8 * (28 + 6 * stations)).div_ceil(24);
        // No station contends before the time that is reserved for bitmaps is over.
        let response = 20_000 + 4_000 * (22 + 8 * (22 + 36 * stations)).div_ceil(96);
        let cycle = 43_000 + 67_500 + trigger + 16_000 + 4_000_000 + 16_000 + response;
        let expected = (stations * mpdus * 8_000) as f64 * 1e9 / cycle as f64;
        let text = cell(usize::try_from(stations).expect("few"), MANAGED, UP);
        let outcome = run(&limited(&text, "0 s"), 1);
        let off = outcome.totals.goodput_bps / expected - 1.0;
        let MultiUser { ppdus, psdus, padding_ratio, .. } = asked(&outcome);
        println!("{stations}: {expected:.4e} b/s, {off:+.4}; {ppdus} PPDUs, {psdus} parts, padding {padding_ratio:.3}");
        assert!(off.abs() < 0.01, "{stations}: {off}");
        // Less than an MPDU of each part is padding.
        assert!(padding_ratio < 1.1 / mpdus as f64, "{padding_ratio}");
        // Of 37 stations one may not have been asked yet.
        assert!(outcome.totals.jain_index > 0.95, "{stations}: {}", outcome.totals.jain_index);
    }
}

/// Both directions get equal airtime if stations do not contend, whatever is left of a TXOP after an exchange.
#[test]
fn downlink_and_uplink_take_turns() {
    for txop in ["2528 us", "4224 us", "4416 us", "4608 us", "6 ms", "0 s"] {
        let outcome = run(&limited(&cell(4, MANAGED, &format!("{UP}{DOWN}")), txop), 1);
        let ratio = goodput(&outcome, "up") / goodput(&outcome, "down");
        assert!((ratio.ln()).abs() < 1.3_f64.ln(), "{txop}: {ratio}");
    }
    // Stations that contend as well have more turns.
    let outcome = run(&limited(&cell(4, "", &format!("{UP}{DOWN}")), "0 s"), 1);
    assert!(goodput(&outcome, "down") > 1e8 && goodput(&outcome, "up") > 1e8, "{:?}", outcome.totals);
}

/// With the schema's defaults: what has a backlog moves within 100 ms, whatever others do. TCP backs off, and beside 20
/// stations, which all contend until each was asked, an access point has few turns: there it is 800 ms. (If their uploads begin
/// after a second, 12 to 20 of 20 downlink flows stand still in the next 100 ms; without uploads none does; seeds 1 to 3.)
/// In one queue for all, TCP connections have not been traced.
#[test]
fn what_has_a_backlog_moves() {
    let seldom =
        UP.replace("kind = \"saturated\"", "kind = \"cbr\", rate = \"5 Mb/s\"").replace("\"up\"", "\"seldom\"");
    let uploads = DOWNLOADS.replace("\"ap\"", "\"x\"").replace("\"s*\"", "\"ap\"").replace("\"x\"", "\"s*\"");
    let uploads = uploads.replace("\"tcp\"\nfrom", "\"tcpup\"\nfrom");
    let first = UP.replace("\"s*\"", "\"s1\"");
    let stops = format!("{}stop = \"250 ms\"\n", UP.replace("\"s*\"", "\"s2\"").replace("\"up\"", "\"stops\""));
    let mixes = [
        format!("{UP}{DOWN}"),
        format!("{seldom}{DOWN}"),
        seldom,
        DOWNLOADS.to_owned(),
        format!("{DOWNLOADS}{uploads}"),
        format!("{first}{stops}"),
        format!("{first}{DOWNLOADS}"),
    ];
    let managed = [
        "",
        "mu_edca = { timer = \"8 ms\" }",
        "mu_edca = { timer = \"2088.96 ms\" }",
        "mu_edca = { timer = \"2 s\", aifsn = 15 }",
    ];
    let queues = ["per-station", "mac80211", "turns", "one"];
    let mut case = 0;
    for (mix, flows) in mixes.iter().enumerate() {
        for mac in managed {
            let (stations, queue) = ([2, 3, 8, 20][(case + mix) % 4], queues[case % 4]);
            case += 1;
            let text = cell(stations, mac, flows).replace("per-station", queue) + "[record]\nseries = \"100 ms\"\n";
            let outcome = run(&text, 1);
            for flow in &outcome.series.as_ref().expect("recorded").flows {
                let many = if flow.name.starts_with("tcp") || stations == 20 { 8 } else { 1 };
                let least = flow.goodput_bps[2..10].chunks(many).map(|chunk| chunk.iter().sum::<f64>());
                let least = least.fold(f64::MAX, f64::min);
                let excused = flow.name.starts_with("stops") || queue == "one" && flow.name.starts_with("tcp");
                assert!(least > 0.0 || excused, "{stations} {queue} {mac} {flow:?}");
            }
        }
    }
}

/// Two downloads with the longest timer of MU EDCA, with each of five seeds. Stations that could not be asked because the rest of
/// a TXOP was short are asked in the next one. (Once they got 1 Mb/s together.)
#[test]
fn what_a_txop_has_no_time_for_is_asked_in_the_next() {
    let text = cell(2, "mu_edca = { timer = \"2088.96 ms\" }", DOWNLOADS);
    for seed in 1..=5 {
        let sum = run(&text, seed).totals.goodput_bps;
        assert!(sum > 6.4e8, "{seed}: {sum}");
    }
    let busy = DOWN.replace("\"saturated\"", "\"poisson\", rate = \"100 Mb/s\"");
    let outcome = run(&cell(4, "mu_edca = { timer = \"2 s\" }", &format!("{busy}{UP}")), 2);
    let up = outcome.flows.iter().filter(|flow| flow.name.starts_with("up")).map(|flow| flow.goodput_bps / 1e6);
    assert!(up.clone().all(|up| up > 75.0), "{:?}", up.collect::<Vec<_>>());
}

/// Stations that have sent all that they had, and may not contend, are polled: 160 Mb/s arrive within milliseconds. They got 41.
#[test]
fn stations_that_may_not_contend_are_polled() {
    let up = UP.replace("kind = \"saturated\"", "kind = \"cbr\", rate = \"20 Mb/s\"") + "phase_jitter = \"400 us\"\n";
    for txop in ["0 s", "2528 us"] {
        let outcome = run(&limited(&cell(8, "mu_edca = { timer = \"2088 ms\" }", &up), txop), 1);
        let delay = outcome.flows.iter().map(|flow| flow.delay_s.mean).sum::<f64>() / 8.0;
        assert!(outcome.totals.goodput_bps > 1.55e8 && delay < 0.01, "{txop}: {delay} {:?}", outcome.totals);
        // Within such TXOPs they empty their queues, report no backlog and are never asked. The run is as without, and warns of it.
        assert_eq!(outcome.warnings.iter().any(|told| told.starts_with("mac.ofdma: no ")), txop != "0 s");
    }
    // If no station has packets, there is a poll every 32 ms.
    let sent = sent(&cell(2, MANAGED, &UP.replace("}\n", "}\nstop = \"10 ms\"\n")), 3, Duration::from_millis(50));
    let polls = sent.iter().filter(|(_, frame)| matches!(frame.kind, Kind::Trigger { .. })).count();
    assert!(polls <= 2, "{polls} polls in 30 ms");
}

/// A station that may not contend is asked even if no other has packets; and one of another width beside others that do.
#[test]
fn nobody_waits_for_company() {
    let only = UP.replace("\"s*\"", "\"s1\"");
    let stops = format!("{}stop = \"150 ms\"\n", UP.replace("\"s*\"", "\"s2\"").replace("\"up\"", "\"stops\""));
    let outcome = run(&cell(2, MANAGED, &format!("{only}{stops}")), 1);
    assert!(goodput(&outcome, "up") > 7e8, "{:?}", outcome.totals);
    let narrow = "[[node]]\nname = \"n\"\ncount = 3\nchannel_width = \"20 MHz\"\nposition = [\"0 m\", \"3 m\"]\n";
    let narrow = narrow.to_owned() + &UP.replace("\"s*\"", "\"n*\"").replace("\"up\"", "\"narrow\"");
    let outcome = run(&cell(2, MANAGED, &format!("{UP}{narrow}")), 1);
    let least = outcome.flows.iter().map(|flow| flow.goodput_bps).fold(f64::MAX, f64::min);
    assert!(least > 1e7, "{:?}", outcome.flows.iter().map(|flow| flow.goodput_bps).collect::<Vec<_>>());
}

/// Downloads: stations are polled after each frame to them, and their TCP acknowledgements go together.
#[test]
fn acknowledgements_of_downloads_are_asked_for() {
    let sent = sent(&cell(2, MANAGED, DOWNLOADS), 3, Duration::from_millis(50));
    let polls = sent.iter().position(|(_, frame)| matches!(frame.kind, Kind::Trigger { asks: Asks::Backlog, .. }));
    let kinds: Vec<Kind> = sent[polls.expect("a poll")..].iter().take(6).map(|(_, frame)| frame.kind).collect();
    assert!(matches!(kinds[1..3], [Kind::QueueSize { .. }, Kind::QueueSize { .. }]), "{kinds:?}");
    assert!(matches!(kinds[3], Kind::Trigger { asks: Asks::Data, users: 2 }), "{kinds:?}");
    assert!(matches!(kinds[4..6], [Kind::Data, Kind::Data]), "{kinds:?}");
    let (both, alone) = (cell(8, MANAGED, DOWNLOADS), cell(8, "", DOWNLOADS).replace("both", "downlink"));
    let [both, alone] = [both, alone].map(|text| run(&limited(&text, "0 s"), 1));
    let [more, less] = [&both, &alone].map(|outcome| outcome.totals.goodput_bps);
    println!("{more:.4e} {less:.4e} b/s, padding {}", asked(&both).padding_ratio);
    assert!(more > less, "{more} {less}");
}

/// What is lost is sent again. Duplicates are recognised, and no station is stuck.
#[test]
fn losses_are_made_up() {
    let errors = "[radio.errors]\nmodel = \"fixed\"\npacket_error_ratio = 0.2\n";
    for missed in ["retransmit", "request"] {
        let mac = format!("{MANAGED}\naggregation = {{ missed_block_ack = \"{missed}\" }}");
        let outcome = run(&(cell(4, &mac, UP) + errors), 1);
        let sum = |of: fn(&sim::results::Mac) -> Option<u64>| -> u64 {
            outcome.nodes[1..].iter().map(|node| of(&node.mac).expect("MPDUs")).sum()
        };
        let ratio = sum(|mac| mac.lost_mpdus) as f64 / sum(|mac| mac.mpdus) as f64;
        assert!((ratio - 0.2).abs() < 0.02, "{missed}: {ratio}");
        assert!(outcome.totals.jain_index > 0.98 && outcome.totals.goodput_bps > 4e8, "{:?}", outcome.totals);
    }
}

/// Meanwhile MU EDCA's parameters apply: stations contend never or seldom.
#[test]
fn answers_set_the_contention_that_follows() {
    let own = |mac: &str| {
        let outcome = run(&cell(4, mac, UP), 1);
        let all: u64 = outcome.nodes[1..].iter().map(|node| node.mac.attempts).sum();
        (all - asked(&outcome).psdus, outcome.totals.goodput_bps)
    };
    let (free, _) = own("");
    let (rare, _) = own("mu_edca = { timer = \"100 ms\", aifsn = 15, cw_min = 1023, cw_max = 1023 }");
    let (none, _) = own(MANAGED);
    println!("{free} {rare} {none}");
    assert!(none == 0 && free > 5 * rare.max(1), "{free} {rare} {none}");
}

#[test]
fn what_contradicts_it_is_refused() {
    let good = cell(2, MANAGED, UP);
    for (text, path, why) in [
        (good.replace("\"both\"", "\"downlink\""), "mac.mu_edca", "`ofdma = \"both\"`"),
        (good.replace("1 s", "3 s"), "mac.mu_edca.timer", "2088.96 ms"),
        (good.replace("1 s", "0 s"), "mac.mu_edca.timer", "above zero"),
        (good.replace("\"1 s\"", "\"1 s\", aifsn = 1"), "mac.mu_edca.aifsn", "2 to 15"),
        (good.replace("\"1 s\"", "\"1 s\", aifsn = 2, cw_min = 63, cw_max = 31"), "mac.mu_edca.cw_max", "below"),
        (cell(1, "", UP), "mac.ofdma", "one station"),
    ] {
        refuses(&text, path, why);
    }
}
