//! SWAN's models: test vectors worked out from the corrected equations, what the misprint in (4) would cost, and what must
//! hold for all parameters.

use proptest::prelude::*;
use theory::Error;
use theory::swan::{Attempts, Channel, Class, MAX_DEVICES, Outcome, Target, busy_of_each, equilibrium, mac_delay};
use units::Duration;

/// `W` = 32, `m` = 5: the round numbers of the vectors.
const CHANNEL: Channel = Channel {
    cw_min: 31,
    cw_max: 1023,
    slot: Duration::from_micros(20),
    success: Duration::from_micros(1600),
    collision: Duration::from_micros(1400),
};

/// Solves `n_1` and `n_2` devices that are busy for `busy` of the time.
fn solved([n_1, n_2]: [u32; 2], busy: [f64; 2]) -> Outcome {
    let classes = [Class { devices: n_1, busy: busy[0] }, Class { devices: n_2, busy: busy[1] }];
    mac_delay(&CHANNEL, classes).expect("it is in range")
}

#[track_caller]
fn to_digits(found: f64, expected: f64, digits: i32) {
    assert!((found - expected).abs() <= 0.5 * 10_f64.powi(-digits), "{found} is not {expected}");
}

/// (`n_1`, `n_2`), (`p_on,1`, `p_on,2`), `tau`, `p`, `P_tr`, `P_s`, `S`, `D_mac` in ms.
type Vector = ([u32; 2], [f64; 2], [f64; 2], [f64; 2], f64, f64, f64, f64);

const VECTORS: [Vector; 3] = [
    ([4, 8], [0.2, 0.8], [0.040_371, 0.042_283], [0.258_894, 0.239_141], 0.264_878, 0.867_683, 532.63, 13.518),
    ([4, 32], [0.5, 0.9], [0.020_255, 0.020_636], [0.467_637, 0.463_056], 0.473_028, 0.720_198, 459.80, 66.985),
    ([4, 8], [1.0, 1.0], [0.034_340, 0.034_340], [0.319_130, 0.319_130], 0.342_511, 0.819_176, 511.27, 23.471),
];

#[test]
fn the_mac_delay_is_that_of_the_vectors() {
    for (devices, busy, tau, p, transmission, success, packets, delay_ms) in VECTORS {
        let outcome = solved(devices, busy);
        for (i, attempts) in outcome.attempts.into_iter().enumerate() {
            let attempts = attempts.expect("both classes are there");
            to_digits(attempts.tau, tau[i], 6);
            to_digits(attempts.collision_probability, p[i], 6);
        }
        to_digits(outcome.transmission_probability, transmission, 6);
        to_digits(outcome.success_probability, success, 6);
        to_digits(outcome.packets_per_second, packets, 2);
        to_digits(outcome.mac_delay_s * 1e3, delay_ms, 3);
    }
}

/// The device sends in 2/33 of its slots. A packet takes 1.6 ms and, on average, 15.5 slots: 1.91 ms.
#[test]
fn a_device_alone_waits_for_its_back_off_only() {
    let outcome = solved([1, 0], [1.0, 1.0]);
    let Attempts { tau, collision_probability } = outcome.attempts[0].unwrap();
    to_digits(tau, 0.060_606, 6);
    assert!(collision_probability.abs() < 1e-12 && outcome.attempts[1].is_none());
    to_digits(outcome.transmission_probability, 0.060_606, 6);
    assert!((outcome.success_probability - 1.0).abs() < 1e-12);
    to_digits(outcome.packets_per_second, 523.56, 2);
    to_digits(outcome.mac_delay_s * 1e3, 1.910, 3);
    assert_eq!(solved([0, 1], [0.0, 1.0]).attempts[1], outcome.attempts[0]);
}

/// 802.11b at 11 Mb/s with long preambles and answers at 1 Mb/s, packets of 512 B, all devices always busy: what the set-up of
/// the document's simulations can carry. A collision is followed by an EIFS; with RTS only the RTS collides.
#[test]
fn a_saturated_channel_carries_what_the_set_up_allows() {
    let basic = Channel { success: Duration::from_micros(975), collision: Duration::from_micros(975), ..CHANNEL };
    let rts = Channel { success: Duration::from_micros(1651), collision: Duration::from_micros(402), ..CHANNEL };
    for (channel, devices, megabits) in [(basic, 8, 3.44), (basic, 19, 3.15), (rts, 8, 2.31), (rts, 19, 2.27)] {
        let outcome = mac_delay(&channel, [Class { devices, busy: 1.0 }, Class { devices: 0, busy: 0.0 }]).unwrap();
        to_digits(outcome.packets_per_second * 4096.0 / 1e6, megabits, 2);
    }
}

/// As printed, (4) has `tau_1` in the term of class 2 (S2).
#[test]
fn the_misprint_in_4_makes_the_delay_four_per_cent_too_long() {
    let outcome = solved([4, 8], [0.2, 0.8]);
    let [tau_1, tau_2] = outcome.attempts.map(|attempts| attempts.unwrap().tau);
    let (x_1, x_2) = (0.2 * tau_1, 0.8 * tau_2);
    let printed = 4.0 * x_1 * (1.0 - x_1).powi(3) * (1.0 - x_2).powi(8)
        + 8.0 * 0.8 * tau_1 * (1.0 - x_1).powi(4) * (1.0 - x_2).powi(7);
    let transmission = outcome.transmission_probability;
    let success = printed / transmission;
    to_digits(success, 0.832_533, 6);
    let slot = (1.0 - transmission) * 20e-6 + transmission * (success * 1.6e-3 + (1.0 - success) * 1.4e-3);
    to_digits(success * transmission / slot, 513.27, 2);
    let delay = 7.2 / (success * transmission / slot);
    to_digits(delay * 1e3, 14.028, 3);
    to_digits(delay / outcome.mac_delay_s - 1.0, 0.038, 3);
}

/// Compared with (1) as it is printed, and with its limit where that is 0/0.
#[test]
fn tau_is_the_printed_closed_form() {
    for devices in [2, 4, 8, 30, 120] {
        let Attempts { tau, collision_probability: p } = solved([devices, 0], [0.9, 0.0]).attempts[0].unwrap();
        let printed = 2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * 33.0 + p * 32.0 * (1.0 - (2.0 * p).powi(5)));
        assert!((tau / printed - 1.0).abs() < 1e-9, "{devices} devices: {tau} beside {printed}");
    }
    // With m = 0 it is 2/(W + 1) at every p.
    let fixed = Channel { cw_max: 31, ..CHANNEL };
    let outcome = mac_delay(&fixed, [Class { devices: 20, busy: 1.0 }, Class { devices: 0, busy: 0.0 }]).unwrap();
    to_digits(outcome.attempts[0].unwrap().tau, 2.0 / 33.0, 12);
}

/// The target of four devices that each send 200 kb/s in packets of 512 B.
fn video(mac_delay: Duration) -> Target {
    Target { devices: 4, packets_per_second: 200e3 / 4096.0, mac_delay }
}

#[test]
fn best_effort_may_be_busy_as_long_as_the_vectors_say() {
    let short = equilibrium(&CHANNEL, &video(Duration::from_millis(3))).unwrap();
    to_digits(short.busy_real_time, 0.14648, 5);
    to_digits(short.backlogged, 0.9248, 4);
    for (devices, busy) in [(8, 0.1156), (16, 0.0578), (32, 0.0289)] {
        to_digits(short.busy(devices), busy, 4);
    }
    let long = equilibrium(&CHANNEL, &video(Duration::from_millis(5))).unwrap();
    to_digits(long.busy_real_time, 0.24414, 5);
    to_digits(long.backlogged, 1.6179, 4);
    to_digits(long.tau[0], 0.052_378, 6);
    to_digits(long.tau[1], 0.055_275, 6);
    to_digits(long.collision_probability[0], 0.122_435, 6);
    to_digits(long.collision_probability[1], 0.082_968, 6);
    // Less than one busy device on average is not a state that the method could represent.
    assert!(!short.is_valid() && long.is_valid());
}

/// Given what Model B found, Model A gives class 1 its target: with `n̄_2` devices always busy, and with (2) for all.
#[test]
fn the_target_is_kept_at_what_was_found() {
    let target = video(Duration::from_millis(8));
    // Little's law for class 1: busy devices over their successes, n_1 x_1 (1 - p_1) a slot.
    let real_time_delay = |devices: u32, busy: f64| {
        let outcome = solved([4, devices], [0.008 * target.packets_per_second, busy]);
        let [one, two] = outcome.attempts.map(|attempts| attempts.unwrap());
        let rate = |n: f64, on: f64, of: Attempts| n * on * of.tau * (1.0 - of.collision_probability);
        let busy_1 = 0.008 * target.packets_per_second;
        let (video, best_effort) = (rate(4.0, busy_1, one), rate(devices.into(), busy, two));
        4.0 * busy_1 / (outcome.packets_per_second * video / (video + best_effort))
    };
    for devices in [8, 16, 32] {
        let busy = busy_of_each(&CHANNEL, &target, devices).unwrap();
        to_digits(real_time_delay(devices, busy), 0.008, 9);
    }
    // Two devices that are always busy give a delay; with it as its target, Model B finds the two again.
    let (mut low, mut high) = (0.0_f64, 0.02);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let found =
            equilibrium(&CHANNEL, &video(Duration::from_secs_f64(middle))).map_or(0.0, |found| found.backlogged);
        (low, high) = if found < 2.0 { (middle, high) } else { (low, middle) };
    }
    let outcome = solved([4, 2], [low * target.packets_per_second, 1.0]);
    let two = equilibrium(&CHANNEL, &video(Duration::from_secs_f64(low))).unwrap();
    to_digits(two.backlogged, 2.0, 4);
    for (i, attempts) in outcome.attempts.into_iter().enumerate() {
        to_digits(two.tau[i], attempts.unwrap().tau, 5);
        to_digits(two.collision_probability[i], attempts.unwrap().collision_probability, 5);
    }
}

/// (2) in place of (8): a busy device competes with the busy part of `n_2 - 1` others, not with `n̄_2 - 1`. Its windows
/// grow, and class 1 keeps its delay with more of them busy, the more so the more devices there are.
#[test]
fn by_2_in_place_of_8_best_effort_may_be_busier() {
    let target = video(Duration::from_millis(5));
    let by_mean = equilibrium(&CHANNEL, &target).unwrap();
    let ratio = |devices| busy_of_each(&CHANNEL, &target, devices).unwrap() / by_mean.busy(devices);
    assert!(1.0 < ratio(2) && ratio(2) < ratio(8) && ratio(8) < ratio(32), "{}, {}", ratio(2), ratio(8));
    // At the limit of many devices the number of busy ones is Poisson, and a device meets all of its mean.
    assert!(ratio(32) < ratio(900) && ratio(900) < 1.12, "{}, {}", ratio(32), ratio(900));
}

/// The mean slot of (5) counts a device's own transmissions only in the part of the time in which it is busy; a packet
/// of its own sees them in full.
#[test]
fn with_few_busy_devices_the_delay_is_shorter_than_a_packet_takes() {
    // (20 us + 0.01 * 0.0606 * 1580 us) / 0.0606 = 345.8 us, where 15.5 slots and 1.6 ms are 1.91 ms.
    let seldom = solved([1, 0], [0.01, 0.0]).mac_delay_s;
    to_digits(seldom * 1e6, 345.8, 1);
    assert!(seldom < CHANNEL.success.as_secs_f64());
}

/// Row fig6.3 of the claims, for the part that the model states.
#[test]
fn the_delay_grows_with_the_time_that_best_effort_is_busy() {
    for devices in [8, 16, 32] {
        let delay = |percent: u32| solved([4, devices], [0.2, f64::from(percent) / 100.0]).mac_delay_s;
        for percent in 1..100 {
            assert!(delay(percent) < delay(percent + 1), "{devices} devices at {percent} %");
        }
    }
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let class = |devices, busy| Class { devices, busy };
    let refused = |classes| mac_delay(&CHANNEL, classes).unwrap_err();
    assert_eq!(refused([class(0, 1.0), class(0, 1.0)]), Error::Stations);
    assert_eq!(refused([class(u32::MAX, 1.0), class(u32::MAX, 1.0)]), Error::Stations);
    assert_eq!(refused([class(1, f64::NAN), class(1, 1.0)]), Error::Probability);
    assert_eq!(refused([class(1, 0.5), class(1, 1.1)]), Error::Probability);
    assert_eq!(refused([class(1, 0.5), class(1, -0.1)]), Error::Probability);
    assert_eq!(refused([class(4, 0.0), class(8, 0.0)]), Error::Idle);
    assert_eq!(refused([class(0, 1.0), class(8, 0.0)]), Error::Idle);
    let narrow = Channel { cw_max: 30, ..CHANNEL };
    let timeless = Channel { slot: Duration::ZERO, ..CHANNEL };
    let one = [class(1, 1.0), class(0, 0.0)];
    assert_eq!(mac_delay(&narrow, one), Err(Error::Windows));
    assert_eq!(mac_delay(&timeless, one), Err(Error::Times));

    let target = video(Duration::from_millis(5));
    let aimed = |target| equilibrium(&CHANNEL, &target).unwrap_err();
    assert_eq!(equilibrium(&narrow, &target), Err(Error::Windows));
    assert_eq!(busy_of_each(&timeless, &target, 8), Err(Error::Times));
    assert_eq!(aimed(Target { devices: 0, ..target }), Error::Stations);
    assert_eq!(aimed(Target { devices: MAX_DEVICES + 1, ..target }), Error::Stations);
    assert_eq!(aimed(Target { packets_per_second: 0.0, ..target }), Error::Arrivals);
    assert_eq!(aimed(Target { packets_per_second: f64::INFINITY, ..target }), Error::Arrivals);
    // A device sends a packet each 20.5 ms.
    assert_eq!(aimed(video(Duration::from_millis(21))), Error::Probability);
    // The mean back-off and a slot alone are 16.5 slots, 0.33 ms.
    assert_eq!(aimed(video(Duration::from_micros(300))), Error::Target);
    assert_eq!(busy_of_each(&CHANNEL, &video(Duration::from_micros(300)), 8), Err(Error::Target));
    assert_eq!(busy_of_each(&CHANNEL, &target, 0), Err(Error::Stations));
    assert_eq!(busy_of_each(&CHANNEL, &target, MAX_DEVICES), Err(Error::Stations));
    // Not even a thousand busy devices cause this delay, so two of them never do.
    let patient = Target { devices: 1, packets_per_second: 0.001, mac_delay: Duration::from_secs(900) };
    assert_eq!(aimed(patient), Error::Target);
    assert_eq!(busy_of_each(&CHANNEL, &patient, 2), Ok(1.0));
    assert!(Error::Target.to_string().contains("target delay"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn probabilities_are_probabilities_and_more_devices_wait_longer(
        n_1 in 1_u32..60, n_2 in 0_u32..60, busy_1 in 0.001_f64..=1.0, busy_2 in 0.0_f64..=1.0,
    ) {
        let outcome = solved([n_1, n_2], [busy_1, busy_2]);
        let of_classes = outcome.attempts.iter().flatten().flat_map(|of| [of.tau, of.collision_probability]);
        let of_slots = [outcome.transmission_probability, outcome.success_probability];
        for probability in of_classes.chain(of_slots) {
            prop_assert!((0.0..=1.0).contains(&probability), "{outcome:?}");
        }
        prop_assert!(outcome.packets_per_second > 0.0 && outcome.mac_delay_s.is_finite());
        // They are (1) and (2): each of the others silent, p_i = 1 - (1 - P_tr)/(1 - x_i).
        for (of, busy) in outcome.attempts.iter().zip([busy_1, busy_2]) {
            if let Some(Attempts { tau, collision_probability }) = of {
                let silent = (1.0 - outcome.transmission_probability) / (1.0 - busy * tau);
                prop_assert!((1.0 - silent - collision_probability).abs() < 1e-9, "{outcome:?}");
            }
        }
        for more in [solved([n_1 + 1, n_2], [busy_1, busy_2]), solved([n_1, n_2 + 1], [busy_1, busy_2])] {
            let p = |outcome: &Outcome| outcome.attempts[0].unwrap().collision_probability;
            prop_assert!(p(&more) >= p(&outcome) - 1e-12, "{outcome:?}, {more:?}");
            prop_assert!(more.transmission_probability >= outcome.transmission_probability - 1e-12);
        }
        let more = solved([n_1, n_2 + 1], [busy_1, busy_2.max(0.01)]);
        prop_assert!(more.mac_delay_s >= solved([n_1, n_2], [busy_1, busy_2.max(0.01)]).mac_delay_s);
    }

    /// While class 1 is far from filling the channel alone, some 530 packets a second: near that, a longer target means more of
    /// its own devices busy, and less room beside them.
    #[test]
    fn a_longer_target_leaves_best_effort_more_time_and_each_of_more_devices_less(
        n_1 in 1_u32..10, of_class in 9.0_f64..350.0, delay in 0.002_f64..0.015, n_2 in 1_u32..50,
    ) {
        let packets_per_second = of_class / f64::from(n_1);
        let target = |delay| Target { devices: n_1, packets_per_second, mac_delay: Duration::from_secs_f64(delay) };
        match (equilibrium(&CHANNEL, &target(delay)), equilibrium(&CHANNEL, &target(delay * 1.05))) {
            (Ok(found), Ok(longer)) => {
                prop_assert!(longer.backlogged > found.backlogged);
                prop_assert!(found.collision_probability.iter().all(|p| (0.0..=1.0).contains(p)));
                prop_assert!(found.busy(n_2) <= 1.0 && found.busy(n_2 + 1) <= found.busy(n_2));
                let each = busy_of_each(&CHANNEL, &target(delay), n_2).unwrap();
                prop_assert!((0.0..=1.0).contains(&each));
                prop_assert!(busy_of_each(&CHANNEL, &target(delay), n_2 + 1).unwrap() <= each + 1e-12);
            }
            // Devices that miss the shorter target even alone may meet the longer one.
            (Err(error), _) => prop_assert!(matches!(error, Error::Target | Error::Probability), "{}", error),
            (Ok(_), Err(Error::Probability)) => (),
            (Ok(found), Err(error)) => prop_assert!(false, "{:?}, then {}", found, error),
        }
    }

    #[test]
    fn no_input_panics(
        windows: (u32, u32), slot: u64, success: u64, collision: u64, n: (u32, u32), busy: (f64, f64), rate: f64, delay: u64,
    ) {
        let [slot, success, collision, delay] = [slot, success, collision, delay].map(Duration::from_nanos);
        // Most draws are refused by the first check; the windows of these are not.
        for (cw_min, cw_max) in [windows, (1, 65_535)] {
            for slot in [slot, Duration::from_nanos(1)] {
                let channel = Channel { cw_min, cw_max, slot, success, collision };
                let classes = [Class { devices: n.0, busy: busy.0 }, Class { devices: n.1, busy: busy.1 }];
                let _ = mac_delay(&channel, classes);
                let target = Target { devices: n.0, packets_per_second: rate, mac_delay: delay };
                let _ = (equilibrium(&channel, &target), busy_of_each(&channel, &target, n.1));
            }
        }
    }
}

#[test]
fn extreme_channels_settle() {
    for (cw_min, cw_max) in [(1, 1), (1, 65_535), (65_535, 65_535)] {
        for (success, collision) in [(1, 60_000_000_000), (60_000_000_000, 1), (1, 1)] {
            let channel = Channel {
                cw_min,
                cw_max,
                slot: Duration::from_nanos(1),
                success: Duration::from_nanos(success),
                collision: Duration::from_nanos(collision),
            };
            for (n_1, n_2, busy) in [(1, 0, 1e-9), (1, 999, 1.0), (999, 1, 1e-9), (500, 500, 1.0)] {
                let classes = [Class { devices: n_1, busy }, Class { devices: n_2, busy: 1.0 }];
                let outcome = mac_delay(&channel, classes).unwrap();
                assert!((0.0..=1.0).contains(&outcome.transmission_probability), "{outcome:?}");
                assert!((0.0..=1.0).contains(&outcome.success_probability), "{outcome:?}");
                assert!(outcome.mac_delay_s > 0.0, "{outcome:?}");
            }
        }
    }
}
