//! The `[queue]` table: its defaults, its controllers' tables, what it refuses, and disciplines that are registered.

use crate::piece::{Piece, build, piece, put};
use control::{Controller as _, Count, Limit, Name};
use proptest::prelude::*;
use queue::own::{PerPacket, Verdict};
use queue::{DisciplineName, Purge, Queue, Settings, register};
use units::{Bytes, Duration, Instant};

fn read(toml: &str) -> Result<Settings, String> {
    toml::from_str(toml).map_err(|error| error.to_string())
}

#[test]
fn an_empty_table_is_a_plain_queue_of_1000() {
    let settings = read("").unwrap();
    assert_eq!(settings, Settings::default());
    let (fifo, controller): (Queue<Piece>, _) = settings.build(0).unwrap();
    assert_eq!(fifo.limit(), Limit::Packets(1_000));
    assert_eq!((controller.name(), controller.needs().interval), (Name::None, Duration::MAX));
}

#[test]
fn a_discipline_is_read_by_the_name_that_it_says() {
    for &discipline in DisciplineName::ALL {
        let read = read(&format!("discipline = \"{}\"", discipline.as_str())).unwrap();
        assert_eq!(read.discipline, discipline);
    }
}

#[test]
fn a_full_table_is_read_and_written() {
    let toml = "discipline = \"drop-head\"\nlimit = \"64 kB\"\npurge = \"tail\"\ncontroller = \"adth\"\n\n\
                [adth]\ntarget_delay = \"400 ms\"\nphi_max = 2.0\n";
    let settings = read(toml).unwrap();
    assert_eq!(settings.discipline, DisciplineName::DropHead);
    assert_eq!(settings.limit, Limit::Bytes(Bytes::new(64_000)));
    assert_eq!(settings.purge, Some(Purge::Tail));
    let (_, controller) = settings.build::<Piece>(0).unwrap();
    assert_eq!((controller.name(), controller.needs().interval), (Name::Adth, Duration::from_millis(200)));
    assert_eq!(controller.target_delay(), Some(Duration::from_millis(400)));
    assert_eq!(read(&toml::to_string(&settings).unwrap()).unwrap(), settings);
}

#[test]
fn packets_are_purged_where_the_discipline_drops() {
    let (mut fifo, _) = read("discipline = \"drop-head\"").unwrap().build(0).unwrap();
    let mut dropped = Vec::new();
    put(&mut fifo, 0, 0, 1..=3);
    fifo.set_limit(Instant::ZERO, Limit::Packets(1), &mut |packet| dropped.push(packet));
    assert_eq!(dropped, [1, 2].map(|number| piece(0, number)));
}

#[test]
fn what_cannot_be_used_is_refused_at_its_line() {
    for (toml, line, message) in [
        ("\nlimit = 0", 2, "the limit is 0 packets: it must be above zero"),
        ("limit = 1000001", 1, "the limit is 1000001 packets: it must be at most 1000000 packets"),
        ("limit = \"64\"", 1, "a number of packets is written without quotes; a size has a unit, as \"64 kB\""),
        ("\n\ncontroler = \"adth\"", 3, "unknown field `controler`"),
        ("controller = \"codel\"", 1, "unknown variant `codel`, expected "),
        ("[adth]\n\ntarget_delay = \"0 s\"", 3, "\"0 s\" is zero; expected a duration above zero"),
        ("[adth]\nphi_min = nan", 2, "expected a number above zero"),
        ("[adth]\ntarget_delay = 5", 2, "5 has no unit; write a duration as text with a unit: \"250 us\""),
    ] {
        let error = read(toml).unwrap_err();
        assert!(error.contains(message), "{toml}: {error}");
        assert!(error.contains(&format!("line {line}, ")), "{toml}: {error}");
    }
    assert_eq!(read("limit = 1000000").unwrap().limit, Limit::Packets(1_000_000), "the most that there is room for");
}

#[test]
fn a_controller_says_with_which_limit_a_queue_begins() {
    for controller in ["alt", "astar"] {
        let toml = format!("controller = \"{controller}\"\n[alt]\ninitial = 50\n[astar.alt]\ninitial = 50");
        let (queue, _) = read(&toml).unwrap().build::<Piece>(0).unwrap();
        assert_eq!(queue.limit(), Limit::Packets(50));
        assert_eq!(queue.limit_level(Instant::ZERO).max, 50, "the hard limit has never held");
    }
}

#[test]
fn settings_made_by_hand_are_checked_as_well() {
    let zero = Settings { limit: Limit::Packets(0), ..Settings::default() };
    assert_eq!(zero.build::<Piece>(0).unwrap_err().to_string(), "limit must be above zero");
    let crossed = read("controller = \"adth\"\n[adth]\nphi_min = 3.0").unwrap();
    assert_eq!(crossed.build::<Piece>(0).unwrap_err().to_string(), "adth.phi_min must not be above phi_max");
    let unused = read("[adth]\nphi_min = 3.0").unwrap();
    assert!(unused.build::<Piece>(0).is_ok(), "parameters of a controller that is not chosen are left alone");
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_lists_every_controller() {
    let schema = schemars::schema_for!(Settings);
    let properties = schema.get("properties").unwrap();
    for name in Name::ALL.iter().filter(|name| **name != Name::None) {
        assert!(properties.get(name.as_str()).is_some(), "{name}");
    }
    assert_eq!(properties["limit"]["default"], 1_000);
}

#[test]
fn what_a_discipline_cannot_be_run_with_is_refused_at_its_line() {
    for (keys, value, message) in [
        (
            "codel.target codel.interval fq_codel.target fq_codel.interval dualpi2.target fq_cobalt.rtt pie.qdelay_ref \
             red.target_delay red.interval",
            "\"0 s\"",
            "\"0 s\" is zero; expected a duration above zero",
        ),
        ("fq_codel.quantum", "\"255 B\"", "\"255 B\" is out of range; it must be at least 256 B"),
        ("fq_codel.flows", "0", "0 is out of range; it must be from 1 to 65536"),
        ("fq_codel.flows", "65537", "65537 is out of range; it must be from 1 to 65536"),
        ("fq_codel.drop_batch", "0", "expected a nonzero u32"),
        ("dualpi2.tupdate pie.t_update", "\"999 us\"", "\"999 us\" is out of range; it must be at least 1 ms"),
        ("dualpi2.alpha pie.alpha red.min_th", "0.0", "expected a number above zero"),
        ("dualpi2.beta", "nan", "expected a number above zero"),
        ("pie.beta red.min_th red.max_th", "inf", "expected a number above zero"),
        ("dualpi2.coupling_factor", "0", "0 is out of range; it must be from 1 to 255"),
        ("dualpi2.coupling_factor", "256", "256 is out of range; it must be from 1 to 255"),
        ("dualpi2.step_thresh", "1", "1 has no unit; write a duration as text with a unit: \"250 us\""),
        ("dualpi2.classic_protection pie.mark_ecnth", "1.01", "expected a number from 0 to 1"),
        ("pie.mark_ecnth", "-0.01", "expected a number from 0 to 1"),
        ("dualpi2.k", "2", "unknown field `k`, expected one of `target`"),
        ("fq_cobalt.flows", "9", "unknown field `flows`, expected `rtt`"),
        ("red.bandwidth", "\"0 b/s\"", "\"0 b/s\" is zero; expected a rate above zero"),
        ("red.mean_pktsize", "\"0 B\"", "\"0 B\" is zero; expected a size above zero"),
        ("red.w_q red.max_p", "0.0", "expected a number above zero and at most 1"),
        ("red.w_q red.max_p", "1.01", "expected a number above zero and at most 1"),
    ] {
        for key in keys.split(' ') {
            let error = read(&format!("\n\n{key} = {value}")).unwrap_err();
            assert!(error.contains(message) && error.contains("line 3, "), "{key}: {error}");
        }
    }
    for fine in [
        "fq_codel = { quantum = \"256 B\", flows = 65536 }",
        "pie = { t_update = \"1 ms\", mark_ecnth = 1.0 }",
        "pie = { mark_ecnth = 0 }",
        "red = { w_q = 1.0, max_p = 1 }",
    ] {
        assert!(read(fine).is_ok(), "{fine}");
    }
}

#[test]
fn thresholds_of_red_that_are_crossed_are_refused_by_their_key() {
    let refusal = |thresholds: &str| {
        let settings = read(&format!("discipline = \"red\"\n[red]\n{thresholds}")).unwrap();
        settings.build::<Piece>(0).err().map(|invalid| invalid.to_string())
    };
    assert_eq!(refusal("min_th = 5.0\nmax_th = 5.1"), None);
    // Three times 1e308 is more than an `f64` holds.
    for crossed in ["min_th = 5.0\nmax_th = 5.0", "min_th = 1e308"] {
        assert_eq!(refusal(crossed).as_deref(), Some("red.max_th must be above min_th"), "{crossed}");
    }
}

/// Drop-head, which no longer removes a packet after this number of departures.
#[derive(Debug)]
struct Head(Vec<u64>, u32);

impl PerPacket for Head {
    fn enqueue(&mut self, _: Instant, packet: u64, _: Bytes, _: u64, _: Count, fits: bool) -> Verdict {
        if !fits {
            return Verdict::Drop(self.0.remove(0));
        }
        self.0.push(packet);
        Verdict::Pass(packet)
    }

    fn dequeue(&mut self, _: Instant, _: Count) -> Verdict {
        self.1 = self.1.saturating_sub(1);
        Verdict::Pass(if self.1 == 0 { self.0[0] } else { self.0.remove(0) })
    }
}

proptest! {
    /// Holds too where the network discards packets, whose numbers come back later, and where the limit falls.
    #[test]
    fn a_drop_head_of_ones_own_is_drop_head(steps in prop::collection::vec((0_u8..6, 0_u32..4), 1..60), good in 1_u32..40) {
        register("head", move |_, _| Ok(Box::new(Head(Vec::new(), good)))).expect("a new name");
        let mut queues: [Queue<Piece>; 2] = ["head", "drop-head"].map(|name| build(&format!("discipline = \"{name}\"\nlimit = 3")));
        for (number, (what, size)) in (1..).zip(steps) {
            let [ours, theirs] = queues.each_mut().map(|queue| {
                let mut gone = Vec::new();
                let mut dropped = |packet| gone.push(packet);
                match what {
                    0..3 => queue.enqueue(Instant::ZERO, piece(0, number), &mut dropped),
                    3 => return (queue.take(Instant::ZERO, 0, &mut dropped), gone),
                    4 => queue.set_limit(Instant::ZERO, Limit::Packets(size), &mut dropped),
                    _ => queue.discard_where(Instant::ZERO, &mut |packet| packet.number % 4 == size, &mut dropped),
                }
                (None, gone)
            });
            if let Some(why) = queues[0].fault() {
                prop_assert!(why.starts_with("the discipline `head`: `"));
                prop_assert!(queues[0].is_empty() && ours.0.is_none());
                return Ok(());
            }
            prop_assert_eq!(ours, theirs);
        }
    }
}
