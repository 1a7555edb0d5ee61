//! The knobs of mac80211's scheduler on the kernel's own airtime queue limits: an access point and its stations, by
//! hostapd, with the modules that `tests/live/wifi.py` makes.

use super::chain::at;
use super::kills::Moments;
use super::program::{Program, nothing_is_left, queue, run, said, until, until_said};
use super::radios::{access_point, join_at, unload, with_aql};
use super::slow_link::SlowLink;
use super::stress::setting;
use super::{now, pause_until, shell};
use linux::STATE_FOLDER;
use units::Duration;

/// Default number of kills; `KILLS` sets another.
const KILLS: u64 = 1_000;
/// Bytes per second of the driver that pushes back.
const LINK: u64 = 125_000;
/// Seed of the moments of kills; any will do.
const SEED: u64 = 20_261_126;
const HOSTAPD: &str = "ssid=knobs\nhw_mode=g\nchannel=1\nieee80211n=1\nwmm_enabled=1\n";
/// The default of mac80211, and what attached agents make of it.
const BEFORE: &str =
    "AC AQL limit low AQL limit high VO 5000 12000 VI 5000 12000 BE 5000 12000 BK 5000 12000 MC 50000; 24000";
const SET: &str =
    "AC AQL limit low AQL limit high VO 5000 12000 VI 5000 12000 BE 2500 5000 BK 2500 5000 MC 50000; 12000";

/// Makes an access point and stations, each a radio with AQL: wlan0, wlan1 and so on.
fn cell(radios: usize) {
    with_aql(&format!("radios={radios}"));
    access_point(HOSTAPD);
    (1..radios).for_each(join);
    wait_for_stations(radios - 1);
}

fn wait_for_stations(count: usize) {
    until(&format!("{count} stations"), || weights().len() == count);
}

fn end() {
    end_access_point();
    unload();
}

fn end_access_point() {
    shell("kill $(pidof hostapd)");
    until("the access point's end", || shell("pidof hostapd || true").is_empty());
}

fn join(station: usize) {
    shell(&format!("ip link set wlan{station} up"));
    join_at(0, station, "knobs 2412");
}

/// Returns the words of a file. A shell would cost more than what is tested.
fn words(file: &str) -> String {
    std::fs::read_to_string(file).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the limits of airtime, in one line.
fn aql() -> String {
    let phy = format!("/sys/kernel/debug/ieee80211/{}", words("/sys/class/net/wlan0/phy80211/name"));
    format!("{}; {}", words(&format!("{phy}/aql_txq_limit")), words(&format!("{phy}/aql_threshold")))
}

/// Returns the limit of packets.
fn limit() -> u32 {
    let shown = shell(&format!("iw phy {} get txq", words("/sys/class/net/wlan0/phy80211/name")));
    let limit =
        shown.lines().find_map(|line| line.to_lowercase().split_once("packet limit:").map(|(_, of)| of.trim().into()));
    limit.and_then(|of: String| of.split_whitespace().next()?.parse().ok()).unwrap()
}

/// Returns the airtime weights of the stations.
fn weights() -> Vec<u32> {
    let dump = shell("iw dev wlan0 station dump");
    let values = dump.lines().filter_map(|line| line.trim().strip_prefix("airtime weight:"));
    values.map(|value| value.trim().parse().unwrap()).collect()
}

/// Checks that every setting is what it was before an agent came.
fn all_is_as_before(stations: usize) {
    assert_eq!((aql().as_str(), limit(), weights()), (BEFORE, 8_192, vec![256; stations]));
    let Ok(left) = std::fs::read_dir(STATE_FOLDER) else { return };
    let left: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Attaches with these options, and waits until everything is set.
fn attached(options: &str, stations: usize) -> Program {
    let program = Program::start(format!("attach wlan0 --backend knobs {options}").trim());
    // What a killed agent left looks the same.
    until("the knobs", || said().contains("Ctrl-C restores") && aql() == SET);
    assert_eq!(weights(), vec![256; stations]);
    program
}

#[test]
#[ignore = "needs the guest"]
fn each_knob_is_set_and_comes_back_however_the_agent_ends() {
    cell(4);
    all_is_as_before(3);
    for (signal, options) in [("TERM", ""), ("INT", "--target-delay 20ms"), ("HUP", "--target-delay 100ms")] {
        let program = attached(options, 3);
        assert!(said().contains("grade 1, the knobs of a stock kernel"), "{}", said());
        let status = shell("/tmp/sluice status; /tmp/sluice status --json");
        let target = if options.contains("20ms") { "\"target_delay_s\":0.02," } else { "\"target_delay_s\":0.1," };
        for part in ["knobs (grade 1)", "\"grade\":1", target] {
            assert!(status.contains(part), "{part}: {status}");
        }
        // It has given up the right to write files against their mode.
        assert!(program.held().contains(&format!("CapEff:\t{:016x}", 1_u64 << 12)), "{}", program.held());
        program.signal(signal);
        assert_eq!(program.end(), Some(0), "{}", said());
        all_is_as_before(3);
    }
    let doctor = shell("/tmp/sluice doctor wlan0");
    assert!(doctor.contains("grade 1 (settings of mac80211's scheduler"), "{doctor}");

    // One that is killed leaves all of it; `detach` or the next one restores it.
    attached("", 3).kill();
    assert_eq!(aql(), SET);
    let detached = shell("/tmp/sluice detach wlan0");
    assert_eq!(detached, "wlan0 has the former settings of mac80211's scheduler back\n");
    all_is_as_before(3);
    attached("", 3).kill();
    let next = attached("", 3);
    next.stop();
    all_is_as_before(3);
    let running = attached("", 3);
    assert_eq!(shell("/tmp/sluice detach wlan0"), detached);
    assert_eq!(running.end(), Some(0), "{}", said());
    all_is_as_before(3);
    end();
}

/// The settings are the phy's, and the file that records them has the interface's name.
#[test]
#[ignore = "needs the guest"]
fn what_a_killed_agent_left_comes_back_after_the_interface_was_renamed() {
    with_aql("radios=1");
    shell("ip link set wlan0 up");
    for backend in ["knobs", "txq --controller adth"] {
        for how in ["detach uno".into(), format!("attach uno --backend {backend}")] {
            let program = Program::start(&format!("attach wlan0 --backend {backend}"));
            until_said("Ctrl-C restores", 1);
            program.kill();
            assert!(limit() != 8_192 || aql() == SET, "{backend}: {}", aql());
            shell("ip link set wlan0 name uno");
            let next = Program::start(&how);
            if how.starts_with("detach") {
                assert_eq!(next.end(), Some(0), "{}", said());
            } else {
                until_said("Ctrl-C restores", 1);
                next.stop();
            }
            shell("ip link set uno name wlan0");
            all_is_as_before(0);
        }
    }
    unload();
}

/// An interface of another network namespace has the access point's name.
#[test]
#[ignore = "needs the guest"]
fn the_stations_of_an_interface_are_not_shown_as_those_of_its_namesake_elsewhere() {
    cell(3);
    shell("ip netns add n1; iw phy $(cat /sys/class/net/wlan2/phy80211/name) set netns name n1");
    at(1, "ip link set wlan2 name wlan0; ip link set wlan0 up");
    at(1, "/tmp/sluice attach wlan0 --backend txq --controller adth 2> /tmp/elsewhere > /tmp/elsewhere &");
    let (status, json) = (|| shell("/tmp/sluice status"), || shell("/tmp/sluice status --json"));
    until("the agent elsewhere", || shell("/tmp/sluice status || true").contains("wlan0 in n1"));
    let station = words("/sys/class/net/wlan1/address");
    assert!(!status().contains(&station) && !json().contains(&station), "{}", status());
    let program = attached("", 1);
    for shown in [status(), json()] {
        assert!(shown.matches(&station).count() == 1 && shown.matches("wlan0").count() > 1, "{shown}");
    }
    program.stop();
    at(1, "/tmp/sluice detach wlan0");
    end();
}

/// Most instructions a second with forty stations, of the agent and of the kernel for it. An optimised agent takes 2.2
/// million, 0.45 % of a router of 500 MHz; that of these tests is not optimised, and takes 12.
const MOST_INSTRUCTIONS: u64 = 15_000_000;

#[test]
#[ignore = "needs the guest"]
fn an_agent_with_forty_stations_costs_a_router_little() {
    cell(41);
    let program = attached("", 40);
    // First it learns of the stations.
    pause_until(now() + Duration::from_secs(2));
    let before = program.ran();
    let span = Duration::from_secs(20);
    pause_until(now() + span);
    // The guest's clock: an instruction takes 2 ns.
    let instructions = (program.ran() - before).as_nanos() / 2 * 1_000_000_000 / span.as_nanos();
    println!("{instructions} instructions a second, the kernel's for it included");
    assert!((1..MOST_INSTRUCTIONS).contains(&instructions));
    program.stop();
    end();
}

#[test]
#[ignore = "needs the guest"]
fn stations_that_come_and_go_and_an_access_point_that_begins_anew_are_followed() {
    cell(4);
    let program = attached("", 3);
    shell("iw dev wlan1 disconnect");
    wait_for_stations(2);
    join(1);
    wait_for_stations(3);
    end_access_point();
    access_point(HOSTAPD);
    (1..4).for_each(join);
    wait_for_stations(3);
    assert_eq!(aql(), SET);
    program.stop();
    all_is_as_before(3);
    end();
}

/// What the kernel does with a station whose limits somebody has set: it keeps them, in both directions.
#[test]
#[ignore = "needs the guest"]
fn a_station_with_limits_of_its_own_keeps_them_and_settings_of_others_stay() {
    cell(3);
    let own = shell("echo /sys/kernel/debug/ieee80211/*/netdev:wlan0/stations/$(cat /sys/class/net/wlan1/address)/aql");
    let shown = || shell(&format!("grep limit {}", own.trim()));
    shell(&format!("echo limit 2 1000 2000 > {}", own.trim()));
    let other = || {
        shell("grep limit /sys/kernel/debug/ieee80211/*/netdev:wlan0/stations/$(cat /sys/class/net/wlan2/address)/aql")
    };
    let program = attached("", 2);
    assert!(shown().contains("BE: 1000/2000 BK: 2500/5000"), "{}", shown());
    assert!(other().contains("BE: 2500/5000 BK: 2500/5000"), "{}", other());
    // Another program changes one of the limits: that one stays.
    shell("echo 3 1 2 > /sys/kernel/debug/ieee80211/$(cat /sys/class/net/wlan0/phy80211/name)/aql_txq_limit");
    program.stop();
    assert!(aql().contains("BE 5000 12000 BK 1 2"), "{}", aql());
    assert!(shown().contains("BE: 1000/2000"), "{}", shown());
    assert!(other().contains("BE: 5000/12000"), "{}", other());
    // The limit of packets, too, stays, and ends the agent; it says so, and restores the others.
    let program = Program::start("attach wlan0 --backend knobs");
    until("the threshold", || aql().ends_with("12000"));
    shell("iw phy $(cat /sys/class/net/wlan0/phy80211/name) set txq limit 777");
    assert_eq!(program.end(), Some(3), "{}", said());
    assert!(said().contains("of 777 packets"), "{}", said());
    assert!(aql().ends_with("24000") && weights() == [256; 2] && limit() == 777, "{}", aql());
    end();
}

#[test]
#[ignore = "needs the guest"]
fn what_cannot_be_set_is_said() {
    cell(2);
    let says = |words: &str| {
        let program = Program::start("attach wlan0 --backend knobs");
        until_said(words, 1);
        // Long enough for the first interval.
        pause_until(now() + Duration::from_millis(500));
        program.stop();
        assert_eq!(limit(), 8_192);
        let doctor = shell("/tmp/sluice doctor wlan0");
        assert!(doctor.contains(words), "{doctor}");
    };
    shell("umount /sys/kernel/debug");
    says("airtime queue limits (AQL) stay as they are: mac80211 shows no file aql_txq_limit");
    shell("mount -t debugfs -o ro debugfs /sys/kernel/debug");
    assert_eq!(run("attach wlan0 --backend knobs"), Some(2));
    assert!(said().contains("cannot write /sys/kernel/debug/ieee80211/phy"), "{}", said());
    assert_eq!(limit(), 8_192);
    shell("mount -o remount,rw /sys/kernel/debug");
    for (options, words) in [
        ("--controller adth --backend knobs", "mac80211's scheduler has its own control law and limit"),
        ("--backend txq --target-delay 9ms", "the controller none has no target delay"),
        ("--parent 1:10 --backend knobs", "no class 1:10"),
        ("--controller adth --bulk-delay 9ms", "wlan0 has no stations that take turns"),
    ] {
        assert_eq!(run(&format!("attach wlan0 {options}")), Some(2), "{}", said());
        assert!(said().contains(words), "{options}: {}", said());
    }
    all_is_as_before(1);
    end();
    // The kernel's own modules.
    shell("modprobe mac80211_hwsim radios=2");
    access_point(HOSTAPD);
    join(1);
    says("the driver has no airtime queue limits (AQL): Sluice sets only the packet limit of all queues");
    end_access_point();
    shell("modprobe -r mac80211_hwsim");
}

/// Kills agents of these words at random moments, of which half lie before everything is set. After every other kill the next
/// agent finds what is left; else, and after the last, `detach` puts it back.
fn kill_many(words: &str, kills: u64, start: impl Fn() -> Program, is_set: impl Fn() -> bool, is_back: impl Fn()) {
    let begun = now();
    start().kill();
    let span = now().since(begun) * 2;
    let (mut moments, mut set) = (Moments(SEED), 0_u64);
    for kill in 0..kills {
        let program = Program::start(words);
        pause_until(now() + moments.below(span));
        program.kill();
        set += u64::from(is_set());
        if (kills - kill) % 2 == 1 {
            let interface = words.split(' ').nth(1).unwrap();
            assert_eq!(run(&format!("detach {interface}")), Some(0), "{}", said());
            is_back();
        }
    }
    println!("{words}: {kills} kills within {} ms; after {set} all was ours", span.as_nanos() / 1_000_000);
    assert!(set > 0);
    let last = start();
    last.stop();
    is_back();
}

#[test]
#[ignore = "needs the guest"]
fn after_a_kill_at_any_moment_every_knob_comes_back() {
    cell(3);
    let kills = setting("KILLS", KILLS);
    kill_many("attach wlan0 --backend knobs", kills, || attached("", 2), || aql() == SET, || all_is_as_before(2));
    end();
}

/// Grade 2, on mac80211.
#[test]
#[ignore = "needs the guest"]
fn after_a_kill_of_turns_at_any_moment_the_former_queue_comes_back() {
    cell(2);
    kill_turns("wlan0", || all_is_as_before(1));
    end();
}

/// Grade 3, on a driver that pushes back.
#[test]
#[ignore = "needs the guest"]
fn after_a_kill_of_turns_without_stations_the_former_queue_comes_back() {
    let link = SlowLink::new(LINK);
    kill_turns("sl0", || ());
    // An agent of another queue unloads what the killed one left in BPF.
    Program::attached("attach sl0", "sl0").kill();
    let next = Program::start("attach sl0 --backend fifo");
    until_said("Ctrl-C restores", 1);
    next.stop();
    nothing_is_left();
    link.end();
}

fn kill_turns(interface: &str, is_as_before: impl Fn()) {
    let before = queue(interface);
    let is_back = || {
        assert_eq!(queue(interface), before);
        nothing_is_left();
        is_as_before();
    };
    let words = format!("attach {interface}");
    let start = || Program::attached(&words, interface);
    // Each loads the discipline, which takes seconds.
    let kills = (setting("KILLS", KILLS) / 20).max(1);
    kill_many(&words, kills, start, || queue(interface).contains("sluice"), is_back);
}
