//! Rate control over links of every quality, compared with the best fixed mode.
//!
//! These bounds were set before the first run. Minstrel-HT samples with a tenth of its frames and learns within some tenths of a
//! second: it reaches 85 % of the best fixed mode's goodput. AARF, whose probes become rare, is at most 2 % below ARF. ARF probes
//! with one frame in eleven, so where a faster mode never works it has at most 99 % of the best mode.

use crate::networks::run;

/// Returns the goodput in bit/s of one saturated station at a transmit power. The SNR in dB is 7 more than the power in dBm over
/// 20 MHz. 802.11ac and ax have EDCA with A-MPDUs.
fn goodput(standard: &str, power: f64, settings: &str, algorithm: &str) -> f64 {
    let access = if standard.len() > "802.11n".len() { "edca" } else { "dcf" };
    let text = format!(
        "duration = \"3 s\"\nwarmup = \"1 s\"\n[radio]\nstandard = \"{standard}\"\n{settings}\ntx_power = \"{power} dBm\"\n\
         propagation = \"free-space\"\nreceive_threshold = \"-95 dBm\"\n[radio.errors]\nmodel = \"nist\"\n\
         [mac]\naccess = \"{access}\"\nrate_control.algorithm = \"{algorithm}\"\n\
         [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"100 m\"\n\
         [[flow]]\nname = \"up\"\nfrom = \"n1\"\nto = \"n0\"\ntraffic = {{ kind = \"saturated\", packet = \"1000 B\" }}\n"
    );
    run(&text, 1).totals.goodput_bps
}

fn best_fixed(power: f64) -> f64 {
    (0..8).map(|mcs| goodput("802.11n", power, &format!("mcs = {mcs}"), "fixed")).fold(0.0, f64::max)
}

#[test]
fn minstrel_comes_near_the_best_fixed_mode_at_every_quality() {
    for power in [-1.0, 2.0, 5.0, 8.0, 11.0, 14.0, 17.0, 20.0] {
        let (best, found) = (best_fixed(power), goodput("802.11n", power, "", "minstrel-ht"));
        assert!(best > 0.0, "a link that nothing crosses tells nothing");
        assert!(found >= 0.85 * best, "{power} dBm: {found} of {best}");
    }
}

#[test]
fn arf_pays_for_its_probes_and_aarf_pays_less() {
    for power in [2.0, 8.0, 11.0, 14.0] {
        let [plain, adaptive] = ["arf", "aarf"].map(|algorithm| goodput("802.11n", power, "", algorithm));
        let best = best_fixed(power);
        assert!(plain <= 0.99 * best, "{power} dBm: {plain} of {best}");
        assert!(adaptive >= 0.98 * plain, "{power} dBm: ARF {plain}, AARF {adaptive}");
    }
}

#[test]
fn every_standard_and_group_of_modes_is_controlled() {
    let cases = [
        ("802.11b", ""),
        ("802.11g", ""),
        ("802.11a", ""),
        ("802.11n", "mcs = 15\nchannel_width = \"40 MHz\"\nguard_interval = \"short\""),
    ];
    for (standard, settings) in cases {
        for algorithm in ["arf", "aarf", "minstrel-ht"] {
            let fixed = goodput(standard, 30.0, settings, "fixed");
            let found = goodput(standard, 30.0, settings, algorithm);
            assert!(found > 0.8 * fixed, "{standard} {algorithm}: {found}, {fixed} at the fastest");
        }
    }
}

/// The best of the fast modes of each width, at a power at which all of them work.
#[test]
fn minstrel_comes_near_the_best_mode_of_the_widest_channel() {
    for (standard, last) in [("802.11ac", 9), ("802.11ax", 11)] {
        let of = |mcs: &str, algorithm: &str| {
            goodput(standard, 50.0, &format!("channel_width = \"160 MHz\"\nstreams = 2\n{mcs}"), algorithm)
        };
        let best = (last - 2..=last).map(|mcs| of(&format!("mcs = {mcs}"), "fixed")).fold(0.0, f64::max);
        let found = of("", "minstrel-ht");
        assert!(found >= 0.95 * best, "{standard}: {found} of {best}");
    }
}
