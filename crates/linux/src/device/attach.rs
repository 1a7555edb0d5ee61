//! Chooses the device that serves a queue, and says why no other device does.

use crate::device::contract::Device;
use crate::device::driver::{self, Idle};
use crate::device::fifo::{Fifo, Kind};
use crate::device::knobs::{self, Knobs};
use crate::device::looks::Looks;
use crate::device::observed::Observed;
use crate::device::txq::{self, Txq, is_mesh};
use crate::device::wish::{Backend, Start, Wish};
use crate::error::{Error, Unfit, Unforced};
use crate::kernel::rtnetlink::{ROOT, Route};
use units::refuse_if;

/// A queue to which the agent has attached.
pub(crate) struct Attached {
    /// Device that measures, limits and restores the queue.
    pub(crate) device: Box<dyn Device>,
    /// Remarks for the user: that no packet ever waits in the queue, and why a better device is not possible.
    pub(crate) remarks: Vec<String>,
}

/// Takes up a queue. If the wish names neither controller nor settings, [`Backend::Auto`] takes the best grade: turns
/// of stations (2) or else the knobs of mac80211's scheduler (1) where mac80211 holds the packets, turns without
/// stations (3) where the driver pushes back. With a controller or settings it tries Sluice's own discipline, then the
/// queues of mac80211 if it holds the packets, else the kernel's FIFO. Errors: there is no such interface, a privilege
/// is missing, the device has no such settings, or another agent is there. Two errors that the wish may allow: the
/// former queue could not be restored, or no packet ever waits in the queue.
pub(crate) fn attach(wish: &Wish, start: &Start, looks: &Looks) -> Result<Attached, Error> {
    let mut attached = choose(wish, start, looks)?;
    #[cfg(feature = "bpf")]
    if attached.device.keeps() == crate::device::contract::Keeps::Queues {
        // A killed agent may have left the discipline. If this fails, `sluice detach` tries again.
        let _ = crate::device::bpf::Discipline::unload_unused(std::path::Path::new(crate::device::bpf::FOLDER));
    }
    let is_of_phy = [txq::KIND, knobs::KIND].contains(&attached.device.capabilities().kind);
    if wish.place.parent == ROOT && !wish.dry_run && !is_of_phy {
        let link = Route::open()?.link(&wish.place.device)?;
        attached.remarks.extend(driver::one_for_several(&link));
    }
    let past = driver::past_queues(&wish.place.device);
    attached.remarks.extend(past.map(|found| format!("{found}; {}", driver::TO_QUEUES)));
    if let Some(segments) = wish.gso_segments {
        attached.device.limit_segments(segments.get())?;
    }
    Ok(attached)
}

fn choose(wish: &Wish, start: &Start, looks: &Looks) -> Result<Attached, Error> {
    let idle = driver::idle(&wish.place, looks)?;
    let is_root = wish.place.parent == ROOT;
    let is_free = wish.backend == Backend::Auto && wish.is_unspecific() && is_root;
    let is_held = is_free && txq::holds(&wish.place.device)?;
    if let Some(refusal) = refusal(wish, is_held, idle.is_some())? {
        return Err(refusal.into());
    }
    let own = || in_vain(idle.as_ref().filter(|idle| !idle.but_by_credit), wish);
    let fifo = |not_own: Option<String>| {
        let mut remarks = in_vain(idle.as_ref(), wish)?;
        remarks.extend(not_own);
        let device = Fifo::attach(wish, Kind::of(&wish.settings)?, start, looks)?;
        Ok(Attached { device: Box::new(device), remarks })
    };
    match wish.backend {
        _ if wish.dry_run => {
            let remarks = idle.into_iter().map(|idle| idle.why).collect();
            Ok(Attached { device: Box::new(Observed::new(&wish.place, start, looks)?), remarks })
        }
        Backend::Fifo => fifo(None),
        Backend::Bpf => own().and_then(|remarks| Ok(Attached { device: bpf(wish, start, looks)?, remarks })),
        Backend::Knobs => own().and_then(|_| knobs(wish, start)),
        Backend::Txq => own().and_then(|_| txq(wish, start, None)),
        Backend::Auto if is_held => of_mac80211(wish, start, looks),
        Backend::Auto if is_free && !wish.force && idle.is_none() => match bpf(wish, start, looks) {
            Ok(device) => Ok(Attached { device, remarks: vec![GRADE_3.into()] }),
            Err(error) => Err(Unforced::Policy { name: wish.place.device.clone(), why: error.to_string() }.into()),
        },
        Backend::Auto if !is_root && wish.is_unspecific() && !wish.force => {
            let why = "the kernel allows a BPF queue only as the root of an interface".into();
            Err(Unforced::Policy { name: wish.place.device.clone(), why }.into())
        }
        Backend::Auto => {
            let remarks = own()?;
            match bpf(wish, start, looks) {
                Ok(device) => Ok(Attached { device, remarks }),
                Err(error) if has_classes(wish) => Err(error),
                Err(error) => {
                    let not_own = Some(format!("Sluice's own BPF discipline cannot be used: {error}"));
                    let is_txq = is_root && txq::holds(&wish.place.device)?;
                    if is_txq { txq(wish, start, not_own) } else { fifo(not_own) }
                }
            }
        }
    }
}

fn has_classes(wish: &Wish) -> bool {
    wish.classes || wish.real_time.is_some()
}

/// Returns why a request contradicts itself or its interface. `is_held`: mac80211 holds the packets, and the request
/// leaves the choice of device open; `is_idle`: no packet ever waits in the queue.
fn refusal(wish: &Wish, is_held: bool, is_idle: bool) -> Result<Option<Unfit>, Error> {
    let Wish { backend, dry_run, .. } = *wish;
    let device = || wish.place.device.clone();
    let has_law = !dry_run && (is_held || backend == Backend::Knobs || wish.turns().is_some() && !is_idle);
    let has_stations = wish.bulk_delay.is_some() && has_law && txq::holds(&wish.place.device)?;
    let has_no_classes = dry_run || matches!(backend, Backend::Fifo | Backend::Txq | Backend::Knobs);
    let refusals = [
        (wish.is_biased() && (has_classes(wish) || wish.settings.purge.is_some()), Unfit::Biased),
        (has_classes(wish) && has_no_classes, Unfit::Classes),
        (wish.target_delay.is_some() && !has_law, Unfit::Target { device: device() }),
        (wish.bulk_delay.is_some() && !has_stations, Unfit::Bulk { device: device() }),
    ];
    Ok(refusals.into_iter().find(|(applies, _)| *applies).map(|(_, refusal)| refusal))
}

/// Refuses a queue in which no packet ever waits; if the request forces it, returns a remark. Also returns the remark
/// if a user's queue would be lost, because the device then refuses for that reason.
fn in_vain(idle: Option<&Idle>, wish: &Wish) -> Result<Vec<String>, Error> {
    match idle {
        Some(idle) if !wish.force && (wish.replace || !idle.is_precious) => {
            Err(Unforced::Idle { why: idle.why.clone() }.into())
        }
        idle => Ok(idle.map(|idle| idle.why.clone()).into_iter().collect()),
    }
}

const GRADE_3: &str = "grade 3, turns in Sluice's own BPF discipline without telling stations apart: the driver pushes back, and \
                       mac80211 holds none of this interface's packets";
const GRADE_2: &str = "grade 2, turns of the stations in Sluice's own BPF discipline: it holds this interface's packets, and \
                       mac80211 gets no more than it sends soon";

/// Attaches to an interface whose packets mac80211 holds: by turns of stations, or else by mac80211's scheduler with
/// the reason why turns are not possible.
fn of_mac80211(wish: &Wish, start: &Start, looks: &Looks) -> Result<Attached, Error> {
    let missing = if wish.force {
        "--force".into()
    } else if is_mesh(&wish.place.device)? {
        "a mesh point forwards inside mac80211, below every queue discipline".into()
    } else {
        match bpf(wish, start, looks) {
            Ok(device) => return Ok(Attached { device, remarks: vec![GRADE_2.into()] }),
            Err(error) => error.to_string(),
        }
    };
    let Attached { device, mut remarks } = knobs(wish, start)?;
    remarks.push(format!("grade 2 (turns in Sluice's own BPF discipline) cannot be used: {missing}"));
    Ok(Attached { device, remarks })
}

/// Attaches to mac80211's scheduler; also returns why it was chosen.
fn knobs(wish: &Wish, start: &Start) -> Result<Attached, Error> {
    refuse_if!(!wish.is_unspecific(), Err(Unfit::Knobs.into()));
    let (device, lost) = Knobs::attach(&wish.place, (wish.target_delay, wish.bulk_delay), start)?;
    let why = "grade 1, the knobs of a stock kernel: mac80211 holds this interface's packets and has a queue for each station; \
               --backend bpf with a controller puts one queue of Sluice's in front of them";
    Ok(Attached { device: Box::new(device), remarks: [why.into()].into_iter().chain(lost).collect() })
}

fn txq(wish: &Wish, start: &Start, not_own: Option<String>) -> Result<Attached, Error> {
    // mac80211 has its own order and its own choice of drops.
    Kind::of(&wish.settings)?;
    Ok(Attached { device: Box::new(Txq::attach(&wish.place, start)?), remarks: not_own.into_iter().collect() })
}

#[cfg(feature = "bpf")]
fn bpf(wish: &Wish, start: &Start, looks: &Looks) -> Result<Box<dyn Device>, Error> {
    use crate::device::bpf::{Governed, Mechanism, Order};
    let mechanism = Mechanism::of(wish)?;
    let by_station = wish.turns().is_some() && txq::holds(&wish.place.device)?;
    Ok(Box::new(Governed::attach(wish, mechanism, Order::of(wish, by_station), start, looks)?))
}

#[cfg(not(feature = "bpf"))]
fn bpf(_: &Wish, _: &Start, _: &Looks) -> Result<Box<dyn Device>, Error> {
    Err(crate::error::Unsupported::BuildWithoutBpf.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::wish::Place;
    use crate::kernel::netlink::RECEIVED;
    use crate::kernel::now;
    use control::{Limit, Measures};
    use queue::Settings;
    use std::process::Command;
    use units::Duration;

    /// Number of interfaces of the small machine; the large one has four times as many.
    const FEW: usize = 12;

    /// Makes interfaces with a shaping class in a network namespace of its own, if that needs no privilege.
    #[test]
    fn an_interface_costs_the_same_messages_whatever_their_number() {
        let inside = "for i in $(seq 48); do echo link add v$i type veth peer name p$i; echo link set v$i up; \
                      echo link set p$i up; done | ip -batch - && for i in $(seq 48); do \
                      echo qdisc add dev v$i root handle 1: htb default 10; \
                      echo class add dev v$i parent 1: classid 1:10 htb rate 5mbit; \
                      echo qdisc add dev v$i parent 1:10 handle 10: pfifo limit 77; done | tc -batch - \
                      && exec \"$0\" --ignored --exact --nocapture device::attach::tests::inner";
        let own = std::env::current_exe().unwrap();
        let output = Command::new("unshare").args(["-rn", "sh", "-c", inside]).arg(own).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if said.contains("Operation not permitted") || said.contains("Unknown device type") {
            return;
        }
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    #[ignore = "runs in a namespace"]
    fn inner() {
        let folder = tempfile::tempdir().unwrap();
        let begun = RECEIVED.get();
        let cost = |numbers: std::ops::Range<usize>, begun: &mut usize| {
            let spent = RECEIVED.get() - *begun;
            *begun += spent;
            spent.div_ceil(numbers.len())
        };
        let place = |number| Place {
            device: format!("v{number}"),
            parent: 0x1_0010,
            state_folder: folder.path().join("state"),
        };
        let take_up = |numbers: std::ops::Range<usize>, looks: &Looks| -> Vec<Attached> {
            let wish = |number| Wish { force: true, ..Wish::new(place(number), Settings::default()) };
            let (orders, every) = (Limit::Packets(9).into(), Duration::from_millis(10));
            let (measures, late_after) = (Measures::default(), None);
            let (classes, marks, hops) = (false, false, false);
            let start = Start { orders, measures, late_after, classes, marks, hops, every, at: now() };
            numbers.map(|number| attach(&wish(number), &start, looks).unwrap()).collect()
        };
        let mut begun = begun;
        let looks = Looks::open().unwrap();
        looks.users(1).unwrap();
        let list = cost(0..1, &mut begun);
        assert!(list > 3 * 48, "all queues of the machine are listed: {list}");
        let few = take_up(1..1 + FEW, &looks);
        let of_few = cost(0..FEW, &mut begun);
        let many = take_up(1 + FEW..49, &looks);
        let of_many = cost(FEW..48, &mut begun);
        assert!(of_few == of_many && of_many < 16, "attach: {of_few} and {of_many} messages");
        drop((few, many));
        let of_end = cost(0..48, &mut begun);
        assert!(of_end < 16, "restore: {of_end} messages");
        // A queue that a killed agent left is restored and attached again.
        for attached in take_up(1..49, &looks) {
            std::mem::forget(attached.device);
        }
        for file in std::fs::read_dir(folder.path().join("state")).unwrap() {
            // A file at another path has no lock.
            let path = file.unwrap().path();
            let text = std::fs::read(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        cost(0..48, &mut begun);
        drop(take_up(1..49, &looks));
        let of_both = cost(0..48, &mut begun);
        assert!(of_both < 32, "after a kill: {of_both} messages");
        let now = looks.users(crate::kernel::rtnetlink::Route::open().unwrap().link("v7").unwrap().index).unwrap();
        let now: Vec<(&str, u32)> = now.iter().map(|qdisc| (qdisc.kind.as_str(), qdisc.handle)).collect();
        assert_eq!(now, [("htb", 0x1_0000), ("pfifo", 0x10_0000)]);
        begun = RECEIVED.get();
        crate::diagnose(None, ROOT).unwrap();
        let of_doctor = cost(0..48, &mut begun);
        assert!(of_doctor < 32, "doctor: {of_doctor} messages");
    }
}
