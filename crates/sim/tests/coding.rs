//! Forward error correction over links at the edge of a mode: LDPC of HE, and of HT and VHT if both stations have it.

use crate::networks::run;

/// Goodput, in Mb/s, of a saturated link without contention at this SNR over 20 MHz. At 5.18 GHz 100 m cost 86.7 dB, and the
/// noise is -94.0 dBm. Aggregates have up to 65535 B, as in ns-3, whose best effort has no TXOP limit.
fn goodput(standard: &str, mcs: u8, snr: f64, radio: &str, rest: &str) -> f64 {
    let text = format!(
        "duration = \"1200 ms\"\nwarmup = \"200 ms\"\n[radio]\nstandard = \"{standard}\"\nmcs = {mcs}\n\
         tx_power = \"{} dBm\"\npropagation = \"free-space\"\nreceive_threshold = \"-95 dBm\"\n{radio}\n\
         [mac]\naccess = \"edca\"\naggregation = {{ ampdu = \"65535 B\" }}\nedca.best_effort.txop_limit = \"0 s\"\n{rest}\n\
         [nodes]\ncount = 2\nplacement = \"chain\"\nspacing = \"100 m\"\n\
         [[flow]]\nname = \"up\"\nfrom = \"n1\"\nto = \"n0\"\ntraffic = {{ kind = \"saturated\", packet = \"1472 B\" }}\n",
        snr - 7.235
    );
    run(&text, 1).totals.goodput_bps / 1e6
}

/// ns-3.44 with its table-based model and LDPC carries 94 Mb/s.
#[test]
fn mcs_8_carries_what_ns_3_carries_at_25_db() {
    let found = goodput("802.11ax", 8, 25.0, "", "");
    assert!((found - 94.0).abs() < 2.0, "{found} Mb/s");
    let plain = goodput("802.11ax", 8, 25.0, "coding = \"bcc\"", "");
    assert!(plain < 1.0, "{plain} Mb/s with the convolutional code");
}

/// Each MCS carries nearly all 1 dB above the tenth, and nearly nothing 1.5 dB below. No preamble is found below 4 dB.
#[test]
fn each_mcs_has_its_edge() {
    for (mcs, tenth) in (0..).zip([4.0, 4.0, 4.8, 7.9, 10.9, 15.1, 16.5, 18.0, 21.7, 23.5, 26.8, 28.9]) {
        let [below, above, clean] = [-1.5, 1.0, 20.0].map(|more| goodput("802.11ax", mcs, tenth + more, "", ""));
        println!("MCS {mcs}: {below:.2}, {above:.2}, {clean:.2} Mb/s");
        assert!(below < 0.02 * clean && above > 0.97 * clean, "MCS {mcs}: {below}, {above} of {clean}");
    }
}

#[test]
fn stations_of_ht_and_vht_have_ldpc_where_both_announce_it() {
    for standard in ["802.11n", "802.11ac"] {
        let of = |radio: &str, rest: &str| goodput(standard, 5, 17.0, radio, rest);
        let (usual, all) = (of("", ""), of("coding = \"ldpc\"", ""));
        let one = of("", "[[node]]\nname = \"n1\"\ncoding = \"ldpc\"");
        let both = of("", "[[node]]\nname = \"n0\"\ncoding = \"ldpc\"\n[[node]]\nname = \"n1\"\ncoding = \"ldpc\"");
        println!("{standard}: {usual:.2}, {one:.2}, {both:.2}, {all:.2} Mb/s");
        assert!(usual < 1.0 && one < 1.0, "{standard}: {usual} and {one} Mb/s");
        assert!(all > 40.0 && (both - all).abs() < 1.0, "{standard}: {both} and {all} Mb/s");
    }
}

/// A part of the channel has its share of the noise.
#[test]
fn parts_of_the_channel_have_the_same_edge() {
    let of = |snr: f64, code: &str| {
        let radio = format!("coding = \"{code}\"");
        let rest = "ofdma = \"both\"\n[[node]]\nname = \"n0\"\nrole = \"access-point\"\n\
                    [[node]]\nname = \"far\"\nposition = [\"-100 m\", \"0 m\"]";
        goodput("802.11ax", 8, snr, &radio, rest)
    };
    let (ldpc, bcc) = (of(25.0, "ldpc"), of(25.0, "bcc"));
    assert!(ldpc > 50.0 && bcc < 1.0, "{ldpc} and {bcc} Mb/s");
}

#[test]
fn rate_control_finds_the_modes_that_ldpc_opens() {
    let control = "rate_control.algorithm = \"minstrel-ht\"";
    let found = goodput("802.11ax", 11, 25.0, "", control);
    let plain = (0..12).map(|mcs| goodput("802.11ax", mcs, 25.0, "coding = \"bcc\"", "")).fold(0.0, f64::max);
    assert!(found > 1.05 * plain && plain > 60.0, "{found} Mb/s, {plain} with the convolutional code");
    let best = (0..12).map(|mcs| goodput("802.11ax", mcs, 25.0, "", "")).fold(0.0, f64::max);
    assert!(found > 0.85 * best, "{found} of {best} Mb/s");
}
