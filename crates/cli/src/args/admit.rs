//! The arguments of `sluice admit`.

use clap::{Args as Group, ValueEnum};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::num::NonZeroU16;
use std::path::PathBuf;
use units::{Duration, Positive, Rate};

/// Ask the path to a destination whether it can carry a real-time flow, then run a command whose packets are real time.
#[derive(Debug, Group)]
pub(crate) struct Admit {
    /// The rate of the flow, with UDP and IP headers: "200 kb/s".
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate: Rate,
    /// The destination of the flow. If it has a port, only requests to regulate that name this port apply to the flow.
    #[arg(long, value_name = "ADDR[:PORT]", value_parser = destination)]
    pub(crate) to: (Ipv4Addr, u16),
    /// The action if the flow is refused, at the start or later. stop: the command does not start, or gets SIGTERM.
    /// best-effort: the command runs without real-time service.
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub(crate) refused: Refused,
    /// The longest wait for an answer.
    #[arg(long, value_name = "TIME", default_value = "500 ms", value_parser = patience)]
    pub(crate) patience: Positive<Duration>,
    /// The number of times that a probe without an answer is repeated.
    #[arg(long, value_name = "N", default_value = "2")]
    pub(crate) retries: u32,
    /// The longest random wait before a probe that follows a request to regulate: 7 s for SWAN-1, 0 s for SWAN-2.
    #[arg(long, value_name = "TIME", default_value = "0 s")]
    pub(crate) stagger: Duration,
    /// The time for which the flow counts as newly admitted.
    #[arg(long, value_name = "TIME", default_value = "10 s")]
    pub(crate) new_for: Duration,
    /// The folder in which the agent of this machine listens.
    #[arg(long, value_name = "DIR", default_value = linux::STATE_FOLDER)]
    pub(crate) state: PathBuf,
    /// Write each step to standard error, as one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The action when a command's flow is refused.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Refused {
    Stop,
    BestEffort,
}

fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error| format!("{error}"))?;
    if rate.as_bps() == 0 { Err("the rate must be above zero".into()) } else { Ok(rate) }
}

fn patience(text: &str) -> Result<Positive<Duration>, String> {
    let time: Duration = text.parse().map_err(|error| format!("{error}"))?;
    Positive::<Duration>::new(time).ok_or_else(|| "the time must be above zero".into())
}

fn destination(text: &str) -> Result<(Ipv4Addr, u16), String> {
    let wrong = || format!("{text:?} is not an IPv4 address, such as 10.0.0.7 or 10.0.0.7:5004");
    let (address, port) = match text.split_once(':') {
        Some((address, port)) => (address, port.parse::<NonZeroU16>().map_err(|_| wrong())?.get()),
        None => (text, 0),
    };
    let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
    if address.is_unspecified() || address.is_multicast() || address.is_broadcast() {
        return Err(format!("{address} is not a unicast address"));
    }
    Ok((address, port))
}
