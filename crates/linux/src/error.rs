//! Errors of live use.
#![expect(missing_docs, reason = "the messages say what the fields are")]

use control::{Invalid, Lacking, Limit, Name};
use queue::DisciplineName;
use std::io;
use std::path::PathBuf;
use units::Duration;

/// Reasons why an action on an interface or an agent fails. Each message says what the user can do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no interface \"{name}\", only {known}")]
    NoInterface { name: String, known: String },
    #[error("there is no class {class} at {name}, which has {known}")]
    NoClass { name: String, class: String, known: String },
    #[error("{name:?} cannot be the name of an interface")]
    NoName { name: String },
    #[error("{name} is gone")]
    Gone { name: String },
    #[error("{name} is called {new} now")]
    Renamed { name: String, new: String },
    #[error("another program replaced Sluice's queue of {name} by {found}")]
    Replaced { name: String, found: String },
    #[error("the former queue of {name} could not be restored; {name} has {found} now")]
    NotBack { name: String, found: String },
    #[error(
        "the former queue is back, but parts of Sluice's queue discipline stay in the kernel until `sluice detach` or \
         the next agent removes them: {source}"
    )]
    Remains { source: Box<Error> },
    #[error(transparent)]
    Unfit(#[from] Unfit),
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error(transparent)]
    Taken(#[from] Taken),
    #[error(transparent)]
    Unforced(#[from] Unforced),
    #[error("{} {why}", path.display())]
    Distrusted { path: PathBuf, why: &'static str },
    #[error("the answer of the agent at {} is not a status ({why}): {said}", socket.display())]
    NoStatus { socket: PathBuf, why: serde_json::Error, said: String },
    #[error("the program at {} sends too much to be a status", socket.display())]
    EndlessStatus { socket: PathBuf },
    #[error("not permitted to {what}, which needs {needs}: run the command with sudo")]
    NotPermitted { what: String, needs: &'static str },
    #[error("cannot {what}: {source}")]
    Kernel { what: String, source: io::Error },
}

impl Error {
    /// Makes an error from the system's failure to do `what`.
    pub(crate) fn kernel<E: Into<io::Error>>(what: &str) -> impl Fn(E) -> Self + Copy {
        |source| Self::Kernel { what: what.into(), source: source.into() }
    }

    /// Makes an error from the system's refusal to do `what`, perhaps because the privilege `needs` is missing.
    pub(crate) fn refused<E: Into<io::Error>>(what: &str, needs: &'static str) -> impl Fn(E) -> Self + Copy {
        move |source| match source.into() {
            source if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::NotPermitted { what: what.into(), needs }
            }
            source => Self::Kernel { what: what.into(), source },
        }
    }
}

/// Requests that the chosen kind of queue does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("{} has no limit that a live controller can set; use drop-tail or drop-head", discipline.as_str())]
    Discipline { discipline: DisciplineName },
    #[error("{who_counts} packets: give a limit in packets")]
    LimitInBytes { who_counts: &'static str },
    #[error(
        "{kind} cannot hold a limit of {limit}; give pfifo a number of packets, and bfifo a size such as \"64 kB\""
    )]
    LimitInUnit { kind: &'static str, limit: Limit },
    #[error("limit {limit} exceeds the maximum of {room} packets of a live queue; set limit = {room} or less")]
    Room { room: u32, limit: Limit },
    #[error("only Sluice's own discipline has service classes: use --backend bpf without --dry-run")]
    Classes,
    #[error("biased has one queue and discards by priority alone: leave out --classes, real_time and purge")]
    Biased,
    #[error(
        "mac80211's scheduler has its own control law and limit: leave out --controller, --set, --classes and --notes \
         (the table queue, classes, notes); --target-delay (target_delay) works with it"
    )]
    Knobs,
    #[error(
        "{device}: without a controller a target delay sets only the knobs of mac80211, which a dry run does not show: \
         name a controller that has a target delay"
    )]
    Target { device: String },
    #[error(
        "{device} has no stations that take turns, so there is no round to shorten: leave out --bulk-delay \
         (bulk_delay in agent.toml), or give it without a controller where mac80211 holds the packets"
    )]
    Bulk { device: String },
    #[error("{why}")]
    Class { why: &'static str },
    #[error("no queue of kind {kind} has the handle {:x}:", handle >> 16)]
    Handle { handle: u32, kind: &'static str },
    #[error("{device}: {invalid}")]
    Parameters { device: String, invalid: Invalid },
    #[error(
        "{device}: {controller} would be called every {interval}; the longest interval of a live queue is {longest}"
    )]
    Interval { device: String, controller: Name, interval: Duration, longest: Duration },
    #[error("{controller} {}", lacks(lacking, kind))]
    Controller { controller: Name, kind: &'static str, lacking: Lacking },
    #[error(
        "{controller} needs the notes of neighbours' agents: exchange them by --notes (notes = true); a dry run cannot \
         exchange them"
    )]
    Notes { controller: Name },
    #[error("no host at {device} is known to answer pings: name addresses by --ping")]
    Silent { device: String },
    #[error("the controller sets a {order}, which {kind} cannot apply")]
    Order { kind: &'static str, order: &'static str },
}

/// Features that the kernel, the build or the interface lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("this kernel has no Wi-Fi (nl80211): load cfg80211")]
    NoWifi,
    #[error("{name} is not a Wi-Fi interface")]
    NotWifi { name: String },
    #[error("mac80211 queues no packets of {name}: the driver queues them, or their limit cannot be read")]
    NoTxq { name: String },
    #[error("this build of Sluice has no BPF discipline: `make live` builds one with it")]
    BuildWithoutBpf,
    #[error("the kernel has no type information (BTF): it was built without CONFIG_DEBUG_INFO_BTF")]
    KernelWithoutTypes,
    #[error("the kernel has no BPF queueing disciplines: it is older than 6.16 or built without CONFIG_NET_SCH_BPF")]
    KernelWithoutBpfQdiscs,
}

/// Resources that another agent or another program holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Taken {
    #[error("{device} is already governed{}: run `{detach}` first", by(*process))]
    Governed { device: String, process: Option<u32>, detach: String },
    #[error("{device} is being attached at this moment; try again")]
    Attaching { device: String },
    #[error("{device} is governed at {there}, not at {here}: run `{detach}`")]
    Elsewhere { device: String, here: String, there: String, detach: String },
    #[error("process {process}, which governs {device}, was told to end and did not end within {waited}")]
    Stays { process: u32, device: String, waited: Duration },
    #[error("interfaces of phy{number} share one limit, and an agent already governs another interface of this phy")]
    Phy { number: u32 },
    #[error("the queueing discipline serves at most {most} interfaces")]
    Slots { most: u32 },
    #[error(
        "limit {limit} exceeds the maximum of {room} packets of the loaded discipline: set a smaller hard limit, or stop all \
         agents so that it is unloaded"
    )]
    Room { room: u32, limit: Limit },
    #[error("the loaded BPF queueing discipline has another version than this build: stop the agent that loaded it")]
    Version,
    #[error("another program holds the lock on {0}; `lsof {0}` names the program", path.display())]
    Lock { path: PathBuf },
    #[error("{device} is on trial already")]
    Trial { device: String },
    #[error("an agent listens already at {}", socket.display())]
    Socket { socket: PathBuf },
}

/// Actions that need `--force` or `--replace`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unforced {
    #[error("{why}. --force (force = true) governs this queue anyway")]
    Idle { why: String },
    #[error(
        "{name} cannot have turns ({why}), no controller is named, and a fixed limit alone brings no gain. Name a \
         controller (--controller ebdp for TCP, adth for streams with a deadline). --force (force = true) sets a fixed limit"
    )]
    Policy { name: String, why: String },
    #[error("Sluice does not replace the queue of {name}: {obstacle}. --replace (replace = true) replaces it")]
    Former { name: String, obstacle: String },
}

/// Returns, for example, `needs the queueing delay, which pfifo cannot measure`.
fn lacks(lacking: &Lacking, kind: &str) -> String {
    match lacking {
        Lacking::Reading(what) => format!("needs the {what}, which {kind} cannot measure"),
        Lacking::Setting(what) => format!("sets a {what}, which {kind} cannot apply"),
    }
}

/// Returns, for example, ` (process 7)`; empty if the process is unknown.
fn by(process: Option<u32>) -> String {
    process.map_or_else(String::new, |process| format!(" (process {process})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_from_what_is_known() {
        let lacks = |lacking| Unfit::Controller { controller: Name::Adth, kind: "pfifo", lacking }.to_string();
        assert_eq!(lacks(Lacking::Reading("service time")), "adth needs the service time, which pfifo cannot measure");
        assert_eq!(lacks(Lacking::Setting("sending rate")), "adth sets a sending rate, which pfifo cannot apply");
        let governed = |process| {
            let (device, detach) = ("eth0".into(), "sluice detach eth0".into());
            Error::from(Taken::Governed { device, process, detach }).to_string()
        };
        assert_eq!(governed(None), "eth0 is already governed: run `sluice detach eth0` first");
        assert_eq!(governed(Some(7)), "eth0 is already governed (process 7): run `sluice detach eth0` first");
        let handle = Unfit::Handle { handle: 0x51ce_0000, kind: "sluice" };
        assert_eq!(handle.to_string(), "no queue of kind sluice has the handle 51ce:");
        let locked = Taken::Lock { path: "/sys/fs/bpf".into() }.to_string();
        assert_eq!(locked, "another program holds the lock on /sys/fs/bpf; `lsof /sys/fs/bpf` names the program");
        let (process, device, waited) = (7, "eth0".into(), Duration::from_secs(3));
        assert_eq!(
            Taken::Stays { process, device, waited }.to_string(),
            "process 7, which governs eth0, was told to end and did not end within 3 s"
        );
    }
}
