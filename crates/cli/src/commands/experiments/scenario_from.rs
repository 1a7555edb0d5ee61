use super::replay::read;
use super::targets;
use crate::args;
use crate::console::{complain, print};
use crate::failure::Failure;
use experiment::scenario::{Scenario, Wishes};
use lab::store::write_whole;
use lab::{interface, recorded, site};

pub(super) fn scenario_from(args: &args::ScenarioFrom) -> Result<(), Failure> {
    let name = args.source.display();
    let unusable = |why: &dyn std::fmt::Display| Failure::wrong(format!("cannot make a scenario from {name}: {why}"));
    // A file that is not text is refused below.
    let text = std::fs::read_to_string(&args.source).unwrap_or_default();
    let text = text.trim_start_matches('\u{feff}');
    if interface::is_interface(text) {
        let seen = interface::read(text, args.interface.as_deref()).map_err(|why| unusable(&why))?;
        let of = seen.name.as_deref().unwrap_or("an interface");
        let about = format!("Made from iw's output for {of}, in {name}.");
        return finish(args, &copied(&seen, &about).map_err(|why| unusable(&why))?);
    }
    if args.interface.is_some() {
        return Err(unusable(&"--interface chooses in output of iw, and this is none"));
    }
    if site::is_site(text) {
        return finish(args, &site::scenario(text, &format!("Made from {name}.")).map_err(|why| unusable(&why))?);
    }
    #[cfg(target_os = "linux")]
    if let Some(air) = of_this_machine(&args.source)? {
        let about = format!("Made from what the kernel reports of {name}: {}.", air.network().unwrap_or_default());
        return finish(args, &copied(&seen(&name.to_string(), &air), &about).map_err(|why| unusable(&why))?);
    }
    if !args.source.exists() {
        return Err(Failure::wrong(format!(
            "cannot read {name}: neither a file nor a Wi-Fi interface of this machine has this name"
        )));
    }
    if args.source.is_file() && !text.trim_start().starts_with('{') {
        return Err(unusable(
            &"it is no recording, output of iw with interfaces, CSV with columns x and y or lat and lon, or GeoJSON \
              FeatureCollection in UTF-8",
        ));
    }
    let recording = read(&args.source)?;
    let text = recorded::scenario(&recording, &name.to_string()).map_err(|why| unusable(&why))?;
    finish(args, &text)
}

/// Returns the scenario of an interface. Reports on standard error how many stations the scenario leaves out.
fn copied(seen: &interface::Interface, about: &str) -> Result<String, &'static str> {
    let scenario = interface::scenario(seen, about)?;
    let (count, all) = (seen.left_out(), seen.stations.len());
    if count > 0 {
        complain(format_args!(
            "note: {count} of {all} stations are left out: idle, without an MCS or a rate of 802.11a, b or g"
        ));
    }
    Ok(scenario)
}

/// Writes the scenario if it can be run: a source may have values that no network can have.
fn finish(args: &args::ScenarioFrom, text: &str) -> Result<(), Failure> {
    let checked = Scenario::read("the scenario", "made", text.as_bytes(), &(), &Wishes::default());
    checked.map_err(|why| Failure::wrong(format!("cannot make a scenario from {}: {why}", args.source.display())))?;
    match &args.out {
        None => print(text),
        Some(out) => {
            targets::keep(&args.source, out)?;
            Ok(write_whole(out, text.as_bytes())?)
        }
    }
}

/// Reads the Wi-Fi interface of this name; `None` if no interface has this name, or if a file has it.
#[cfg(target_os = "linux")]
fn of_this_machine(source: &std::path::Path) -> Result<Option<linux::telemetry::stations::Stations>, Failure> {
    let is_interface = |name: &&str| std::path::Path::new("/sys/class/net").join(name).join("phy80211").exists();
    match source.to_str().filter(is_interface) {
        Some(name) if !source.exists() => Ok(linux::telemetry::stations::look(name)?),
        _ => Ok(None),
    }
}

#[cfg(target_os = "linux")]
fn seen(name: &str, air: &linux::telemetry::stations::Stations) -> interface::Interface {
    interface::Interface::of_radio(Some(name), &serde_json::json!(air))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use linux::kernel::nl80211::{Channel, Format, Interface, Mode, Role, Survey};
    use linux::telemetry::stations::{Station, Stations};
    use units::Duration;

    fn mode(format: Format, mcs: u8, streams: u8, width: u32, guard: u64) -> Mode {
        Mode { format, mcs: Some(mcs), streams: Some(streams), width, guard: Some(Duration::from_nanos(guard)) }
    }

    /// Makes the description that iw prints of the interface.
    #[test]
    fn an_interface_is_what_iw_says_of_it() {
        let station = |number: u8, sent: Mode, received: Option<Mode>| Station {
            address: format!("02:00:00:00:00:{number:02x}"),
            sent_at: Err(String::new()),
            sent_as: Ok(sent),
            received_at: Err(String::new()),
            received_as: received.ok_or_else(String::new),
            sent_for: Err(String::new()),
            received_for: Err(String::new()),
            aql: Err(String::new()),
            counts: [("sent_bytes", None); 6],
        };
        let channel = Channel { frequency: 5_180, width: Some(80), centres: [Some(5_210), None] };
        let air = Stations {
            phy: "phy0".into(),
            has_airtime_reports: false,
            has_aql: false,
            interface: Interface { phy: 0, role: Role::AccessPoint, channel: Some(channel), power: Some(2_000) },
            newest: Format::He,
            channel: Survey::default(),
            aql: Err(String::new()),
            stations: vec![
                station(1, mode(Format::He, 11, 2, 80, 1_600), Some(mode(Format::He, 9, 2, 80, 1_600))),
                station(2, mode(Format::Vht, 7, 2, 80, 400), Some(Mode { width: 20, ..Mode::default() })),
                station(3, mode(Format::Ht, 11, 2, 40, 800), None),
                // The modulation is 4096-QAM, over 320 MHz.
                station(4, mode(Format::Eht, 13, 1, 320, 3_200), None),
                station(5, mode(Format::Vht, 1, 1, 10, 800), None),
            ],
        };
        let iw = "Interface wlan0\n\ttype AP\n\tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\
            Station 02:00:00:00:00:01 (on wlan0)\n\ttx bitrate:\t1 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 1 HE-DCM 0\n\
            \trx bitrate:\t1 MBit/s 80MHz HE-MCS 9 HE-NSS 2 HE-GI 1 HE-DCM 0\n\
            Station 02:00:00:00:00:02 (on wlan0)\n\ttx bitrate:\t1 MBit/s VHT-MCS 7 80MHz short GI VHT-NSS 2\n\
            \trx bitrate:\t6.0 MBit/s\n\
            Station 02:00:00:00:00:03 (on wlan0)\n\ttx bitrate:\t1 MBit/s MCS 11 40MHz\n\
            Station 02:00:00:00:00:04 (on wlan0)\n\ttx bitrate:\t1 MBit/s 320MHz EHT-MCS 13 EHT-NSS 1 EHT-GI 2\n\
            Station 02:00:00:00:00:05 (on wlan0)\n";
        assert_eq!(seen("wlan0", &air), interface::read(iw, None).unwrap());
        let text = interface::scenario(&seen("wlan0", &air), "About.").unwrap();
        assert!(text.contains("guard_interval = \"1.6 us\"\nfrequency = \"5180 MHz\""), "{text}");
    }
}
