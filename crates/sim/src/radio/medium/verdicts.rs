//! Outcomes of frames under error models and fading, where node 1 sends to node 0 and others interfere.

use super::{Medium, Signal};
use crate::config::{
    Capture, ChannelWidth, ErrorModel, Errors, ExtendedRange, Fading, FadingModel, GuardInterval, Preamble, Radio,
    Standard,
};
use crate::radio::channel::Channel;
use crate::radio::mode::{DsssRate, Mode, OfdmRate};
use crate::radio::propagation::Link;
use crate::radio::{Format, Judge, Links, Mimo, Mpdu, Reception, Shape, errors};
use proptest::prelude::*;
use units::{Bytes, Decibels, Duration, Instant};

const DATA: Mode = Mode::Ofdm(OfdmRate::M24);
/// 1000 B at 24 Mb/s last 84 symbols after 20 us of header.
const PAYLOAD: u64 = 336;
/// A millionth of a microwatt: -90 dBm.
const PICOWATT: u64 = 1_000_000;

/// Returns a power this many decibels above another, in attowatts.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float-to-integer cast saturates")]
fn above(power: f64, db: f64) -> u64 {
    (power * Decibels::new(db).as_ratio()) as u64
}

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn radio() -> Radio {
    let errors = Errors { model: Some(ErrorModel::None), ..Errors::default() };
    Radio { standard: Standard::A, errors, ..Radio::default() }
}

fn nist() -> Radio {
    Radio { errors: Errors { model: Some(ErrorModel::Nist), ..Errors::default() }, ..radio() }
}

/// Node 0 hears node `i` with `powers[i]` and decodes from -82 dBm on; its carrier sense is at half of that power.
fn medium(radio: &Radio, powers: &[u64]) -> Medium<u32> {
    medium_by(Capture::FirstFrame, radio, powers)
}

fn medium_by(order: Capture, radio: &Radio, powers: &[u64]) -> Medium<u32> {
    let names: Vec<String> = (0..powers.len()).map(|index| format!("n{index}")).collect();
    let channel = Channel::new(radio, &names, 5).expect("a channel");
    let receive = 6 * PICOWATT;
    let link = |&power: &u64| {
        let decodable = power >= receive;
        vec![Link { to: 0, delay: Duration::from_nanos(1), power, decodable }]
    };
    let capture = channel.capture_threshold().as_ratio();
    let reception = Reception { carrier_sense: receive / 2, receive, capture, order };
    let judge = Judge::new(&channel, &reception, &names, Vec::new(), 5);
    Medium::new(Links::fixed(powers.iter().map(link).collect(), reception), judge)
}

fn shape(micros: u64, aggregate: bool) -> Shape {
    let duration = Duration::from_micros(micros);
    let (psdu, answers, width) = (Bytes::new(1000), Shape::NOBODY, ChannelWidth::Mhz20);
    Shape { mode: DATA, psdu, duration, aggregate, control: false, answers, width, limited: false }
}

/// Returns four MPDUs of 250 B.
fn quarters() -> Vec<Mpdu> {
    (0..4).map(|index| Mpdu { start: Bytes::new(250 * index), length: Bytes::new(250) }).collect()
}

/// Node 1 sends at `micros`, and node 2 from `others.0` to `others.1` after that. Returns the MPDUs that node 0 gets
/// from node 1.
fn get(medium: &mut Medium<u32>, micros: u64, others: Option<(u64, u64)>, mpdus: &[Mpdu]) -> Option<u64> {
    let (wanted, _) = medium.start(1, 1, at(micros), shape(20 + PAYLOAD, !mpdus.is_empty()));
    medium.front_at(wanted, 0, at(micros));
    let other = others.map(|(from, to)| {
        let (other, _) = medium.start(2, 2, at(micros + from), shape(to - from, false));
        medium.front_at(other, 0, at(micros + from));
        medium.end(other);
        medium.tail_at(other, 0, at(micros + to), &[]);
        other
    });
    medium.end(wanted);
    let heard = medium.tail_at(wanted, 0, at(micros + 20 + PAYLOAD), mpdus);
    medium.clear(wanted);
    if let Some(other) = other {
        medium.clear(other);
    }
    assert_eq!((medium.receivers.of[0].energy, medium.receivers.powers[0].len()), (0, 0));
    match heard.what {
        Signal::Good { whole: true } => Some((1 << mpdus.len().max(1)) - 1),
        Signal::Good { whole: false } => Some(medium.intact(false).words()[0]),
        Signal::Bad { header_read: true } => Some(0),
        Signal::Bad { header_read: false } | Signal::Noise | Signal::Nothing | Signal::Foreign => None,
    }
}

#[test]
fn a_collision_spoils_only_the_mpdus_that_it_meets() {
    for radio in [radio(), nist()] {
        let mut medium = medium(&radio, &[0, 10_000 * PICOWATT, 9_000 * PICOWATT]);
        let mut now = 0;
        let mut meets = |from, to| {
            now += 10_000;
            get(&mut medium, now, Some((from, to)), &quarters())
        };
        // Each MPDU lasts 84 us behind the header.
        assert_eq!(meets(120, 180), Some(0b1101));
        assert_eq!(meets(30, 40), Some(0b1110));
        assert_eq!(meets(100, 110), Some(0b1100));
        assert_eq!(meets(300, 356), Some(0b0111));
        assert_eq!(meets(16, 20), None, "in the header");
    }
}

#[test]
fn a_single_frame_is_lost_whole() {
    let mut medium = medium(&radio(), &[0, 10_000 * PICOWATT, 9_000 * PICOWATT]);
    assert_eq!(get(&mut medium, 0, Some((120, 180)), &[]), Some(0));
    assert_eq!(get(&mut medium, 1_000, None, &[]), Some(1));
}

#[test]
fn what_disturbs_the_end_of_an_aggregate_is_not_held_against_a_later_frame() {
    let errors = Errors { model: Some(ErrorModel::Fixed), packet_error_ratio: Some(1e-9), ..Errors::default() };
    let mut medium = medium(&Radio { errors, ..radio() }, &[0, 10_000 * PICOWATT, 9_000 * PICOWATT]);
    let end = 20 + PAYLOAD;
    let (wanted, _) = medium.start(1, 1, at(0), shape(end, true));
    medium.front_at(wanted, 0, at(0));
    let (other, _) = medium.start(2, 2, at(300), shape(500, false));
    medium.front_at(other, 0, at(300));
    medium.end(wanted);
    medium.tail_at(wanted, 0, at(end), &quarters());
    medium.clear(wanted);
    medium.end(other);
    medium.tail_at(other, 0, at(800), &[]);
    medium.clear(other);
    assert_eq!(get(&mut medium, 1_000, None, &[]), Some(1));
}

#[test]
fn fixed_errors_are_as_frequent_as_asked_for() {
    let share = |errors: Errors, mpdus: &[Mpdu]| {
        let radio = Radio { errors: Errors { model: Some(ErrorModel::Fixed), ..errors }, ..radio() };
        let mut medium = medium(&radio, &[0, 10_000 * PICOWATT]);
        let got: u32 = (0..5_000)
            .map(|turn| get(&mut medium, 1_000 * turn, None, mpdus).expect("headers are read").count_ones())
            .sum();
        f64::from(got) / 5_000.0 / mpdus.len().max(1) as f64
    };
    // Four standard deviations of a share among 5,000, or 20,000.
    let near = |found: f64, expected: f64, n: f64| {
        let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / n);
        assert!((found - expected).abs() < tolerance, "{found}, expected {expected}");
    };
    let packets = Errors { packet_error_ratio: Some(0.2), ..Errors::default() };
    near(share(packets.clone(), &[]), 0.8, 5e3);
    near(share(packets, &quarters()), 0.8, 2e4);
    let bits = Errors { bit_error_ratio: Some(1e-4), ..Errors::default() };
    near(share(bits.clone(), &[]), libm::pow(1.0 - 1e-4, 8000.0), 5e3);
    near(share(bits, &quarters()), libm::pow(1.0 - 1e-4, 2000.0), 2e4);
}

#[test]
fn frames_survive_noise_as_often_as_the_formula_says() {
    let radio = nist();
    let errors::Errors::Snr(model) = errors::Errors::new(&radio).expect("a model") else { panic!("by SNR") };
    for db in [12.6, 13.0, 13.4] {
        let power = above(model.noise(DATA), db);
        let mut medium = medium(&radio, &[0, power]);
        let got = (0..5_000).filter(|&turn| get(&mut medium, 1_000 * turn, None, &[]) == Some(1)).count();
        let expected = model.success(DATA, power as f64 / model.noise(DATA), 8000.0);
        let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / 5e3);
        assert!((got as f64 / 5e3 - expected).abs() < tolerance, "{db} dB: {got} of 5000, expected {expected}");
    }
}

#[test]
fn interference_counts_for_as_long_as_it_lasts() {
    let radio = nist();
    let errors::Errors::Snr(model) = errors::Errors::new(&radio).expect("a model") else { panic!("by SNR") };
    // 20 dB of signal to interference would suffice; the 12.8 dB for a quarter of the frame decide.
    let interference = 1_000 * PICOWATT;
    let power = above(interference as f64, 12.8);
    let mut medium = medium(&radio, &[0, power, interference]);
    let got = (0..5_000).filter(|&turn| get(&mut medium, 1_000 * turn, Some((104, 188)), &[]) == Some(1)).count();
    let sinr = power as f64 / (interference as f64 + model.noise(DATA));
    let expected = model.success(DATA, sinr, 2000.0);
    assert!(expected > 0.2 && expected < 0.9, "{expected} tells little");
    let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / 5e3);
    assert!((got as f64 / 5e3 - expected).abs() < tolerance, "{got} of 5000, expected {expected}");
}

/// 27.3.11: their legacy training has 3 dB more power. The threshold is 6 pW, for carrier sense 3 pW.
#[test]
fn frames_of_extended_range_are_found_at_half_the_power() {
    let usual = Mimo::new(Format::He, 0, 1, ChannelWidth::Mhz20, GuardInterval::Long).expect("a mode");
    let extended = usual.extended(ExtendedRange::All).expect("MCS 0");
    let (good, noise) = (Signal::Good { whole: true }, Signal::Noise);
    let expected = [(6, good, good), (5, noise, good), (3, noise, good), (2, Signal::Nothing, Signal::Nothing)];
    for radio in [radio(), nist()] {
        for (power, without, with) in expected {
            for (mode, expected) in [(usual, without), (extended, with)] {
                let mut medium = medium(&radio, &[0, power * PICOWATT]);
                medium.extend_range();
                let (of, _) = medium.start(1, 1, at(0), Shape { mode: Mode::Mimo(mode), ..shape(990, false) });
                medium.front_at(of, 0, at(0));
                medium.end(of);
                assert_eq!(medium.tail_at(of, 0, at(990), &[]).what, expected, "{power} pW, {mode:?}");
            }
        }
    }
}

/// A receiver with half the noise receives as much as another at twice the power.
#[test]
fn a_receiver_has_its_own_noise() {
    let radio = nist();
    let errors::Errors::Snr(model) = errors::Errors::new(&radio).expect("a model") else { panic!("by SNR") };
    let power = above(model.noise(DATA), 13.0);
    for (noise, received) in [(vec![0.5, 1.0], 16.01), (vec![1.0, 0.5], 13.0), (vec![2.0, 1.0], 9.99)] {
        let mut medium = medium(&radio, &[0, power]);
        medium.hear_noise(noise);
        let got = (0..5_000).filter(|&turn| get(&mut medium, 1_000 * turn, None, &[]) == Some(1)).count();
        let expected = model.success(DATA, above(model.noise(DATA), received) as f64 / model.noise(DATA), 8000.0);
        let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / 5e3) + 1e-3;
        assert!((got as f64 / 5e3 - expected).abs() < tolerance, "{received} dB: {got} of 5000, expected {expected}");
    }
}

/// What a station hears of frames of each format, alone and with an error model: 802.11b hears a signal, 802.11g a
/// preamble that states the duration of what it cannot read.
#[test]
fn an_old_station_decodes_what_it_knows() {
    let ht = Mimo::new(Format::Ht, 0, 1, ChannelWidth::Mhz20, GuardInterval::Long).expect("a mode");
    let modes = [Mode::Dsss { rate: DsssRate::K1000, preamble: Preamble::Long }, DATA, Mode::Mimo(ht)];
    let (good, header, noise) = (Signal::Good { whole: true }, Signal::Bad { header_read: true }, Signal::Noise);
    let expected = [
        (Standard::B, [good, noise, noise]),
        (Standard::A, [noise, good, header]),
        (Standard::G, [good, good, header]),
        (Standard::N, [good, good, good]),
    ];
    for (radio, order) in [(radio(), Capture::FirstFrame), (nist(), Capture::StrongestPreamble)] {
        for (standard, expected) in expected {
            for (mode, expected) in modes.into_iter().zip(expected) {
                let mut medium = medium_by(order, &radio, &[0, 10_000 * PICOWATT]);
                medium.tell_apart(vec![standard, Standard::Ax]);
                let (of, _) = medium.start(1, 1, at(0), Shape { mode, ..shape(990, false) });
                assert!(medium.front_at(of, 0, at(0)), "it is busy, whatever it knows");
                medium.end(of);
                assert_eq!(medium.tail_at(of, 0, at(990), &[]).what, expected, "{standard:?}, {mode:?}");
            }
        }
    }
}

#[test]
fn rayleigh_fading_loses_what_falls_below_the_threshold() {
    let fading = Fading { model: FadingModel::Rayleigh, ..Fading::default() };
    // The mean is twice the threshold: 1 - exp(-1/2) of the frames are too weak. Below it, exp(-1/mean) are strong enough.
    for (mean, expected) in [(12, libm::exp(-0.5)), (3, libm::exp(-2.0))] {
        let mut medium = medium(&Radio { fading: fading.clone(), ..radio() }, &[0, mean * PICOWATT]);
        let got = (0..5_000).filter(|&turn| get(&mut medium, 1_000 * turn, None, &[]) == Some(1)).count();
        let tolerance = 4.0 * libm::sqrt(expected * (1.0 - expected) / 5e3);
        assert!((got as f64 / 5e3 - expected).abs() < tolerance, "{got} of 5000, expected {expected}");
    }
}

proptest! {
    /// The fast path gives the same results as the plain path, random draws included.
    #[test]
    fn both_paths_through_a_receiver_give_the_same(
        order in prop::sample::select(vec![Capture::FirstFrame, Capture::StrongestPreamble, Capture::AnySignal]),
        model in prop::sample::select(vec![ErrorModel::None, ErrorModel::Nist, ErrorModel::Fixed]),
        power in 3_u64..60,
        other in 1_u64..40,
        frames in prop::collection::vec((prop::option::of((1_u64..300, 301_u64..900)), any::<bool>()), 1..60),
    ) {
        let packet_error_ratio = (model == ErrorModel::Fixed).then_some(0.3);
        let errors = Errors { model: Some(model), packet_error_ratio, ..Errors::default() };
        let radio = Radio { errors, ..radio() };
        let mut fast = medium_by(order, &radio, &[0, power * PICOWATT, other * PICOWATT]);
        let mut plain = medium_by(order, &radio, &[0, power * PICOWATT, other * PICOWATT]);
        prop_assert!(std::mem::take(&mut plain.receivers.fast));
        for ((others, aggregate), turn) in frames.into_iter().zip(0..) {
            let mpdus = if aggregate { quarters() } else { Vec::new() };
            let [by_fast, by_plain] =
                [&mut fast, &mut plain].map(|medium| get(medium, 1_000 * turn, others, &mpdus));
            prop_assert_eq!(by_fast, by_plain);
        }
        let of = |medium: &Medium<u32>| {
            let margins = medium.margins().0[0];
            (medium.busy_time(0, at(100_000)), margins.verdicts, margins.near, margins.nearest)
        };
        prop_assert_eq!(of(&fast), of(&plain));
    }
}
