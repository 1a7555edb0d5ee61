use crate::args;
use crate::commands::decisions::line;
use crate::console::{complain, print, print_json};
use crate::failure::Failure;
use lab::forecast::{ARMS, Air, DRAWS, forecast};
use std::io::Read as _;
use units::refuse_if;

/// Largest file that is read, in bytes: an hour with a dozen stations.
const MOST: u64 = 1 << 28;

pub(super) fn run(args: &args::Forecast) -> Result<(), Failure> {
    let name = args.source.display();
    let unusable = |why: &str| Failure::wrong(format!("{name} {why}"));
    let mut text = String::new();
    match std::fs::File::open(&args.source) {
        Ok(file) => {
            let read = file.take(MOST).read_to_string(&mut text);
            let read = read.map_err(|error| unusable(&format!("cannot be read: {error}")))?;
            refuse_if!(read as u64 == MOST, Err(unusable("is longer than 256 MiB: shorten it")));
        }
        Err(error) => {
            let why = || unusable(&format!("cannot be read as a file ({error}), and no Wi-Fi interface has this name"));
            text = recorded(args)?.ok_or_else(why)?;
        }
    }
    let air = Air::read(&text).map_err(&unusable)?;
    complain(format_args!("simulating networks that fit these measurements, for at most two minutes on one core"));
    let forecast = forecast(&air, &ARMS, DRAWS).map_err(|why| unusable(&why))?;
    if args.json {
        return print_json(&line(&serde_json::json!({ "says": forecast.says(), "forecast": forecast }))?);
    }
    print(&forecast.says())
}

/// Records a Wi-Fi interface for some minutes, or until Ctrl-C. `None` if no interface has this name.
#[cfg(target_os = "linux")]
fn recorded(args: &args::Forecast) -> Result<Option<String>, Failure> {
    use linux::agent::signals::Signals;
    use linux::telemetry::air::Sampler;
    use units::Duration;
    const TELL: Duration = Duration::from_secs(30);
    // The sampler's thread must not get the signals.
    let signals = Signals::take_over()?;
    let begun = args.source.to_str().and_then(|device| Sampler::begin(device, true));
    let Some(mut sampler) = begun else { return Ok(None) };
    complain(format_args!("recording for {}; Ctrl-C forecasts from what was recorded so far", args.length));
    let (mut told, mut recorded) = (Duration::ZERO, String::new());
    // The loop also ends if the interface disappears.
    while let Some((at, line)) = sampler.wait() {
        recorded += &line;
        if at >= args.length || signals.read()?.is_some() {
            break;
        }
        if at >= told + TELL {
            told += TELL;
            complain(format_args!("{told} of {}", args.length));
        }
    }
    Ok(Some(recorded))
}

#[cfg(not(target_os = "linux"))]
fn recorded(_: &args::Forecast) -> Result<Option<String>, Failure> {
    Ok(None)
}
