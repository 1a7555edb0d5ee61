//! Claims an attachment point (root or class): restores what a killed agent left, reads the queue, installs Sluice's.

use crate::device::former::{Former, Obstacle};
use crate::device::lock::FileLock;
use crate::device::looks::Looks;
use crate::device::state::{Kept, State};
use crate::device::wish::Place;
use crate::error::{Error, Unforced};
use crate::kernel::rtnetlink::{Link, Route};

/// Locks an attachment point and reads its present queue. First restores what a killed agent left. Refuses a queue that
/// limits the link's rate or that could not be restored later, unless `replace` is set.
pub(crate) fn claim(
    place: &Place,
    route: &mut Route,
    looks: &Looks,
    link: &Link,
    replace: bool,
) -> Result<(Former, State), Error> {
    let locked = State::lock(&place.state_folder, &place.device, place.parent)?;
    claim_locked(locked, route, looks, link, place.parent, replace)
}

/// Like [`claim`], but keeps a discipline of `kind` that a killed agent left if it `serves`, and then returns true. The
/// queue before that discipline is still the one to restore.
#[cfg(feature = "bpf")]
pub(crate) fn claim_or_keep(
    place: &Place,
    route: &mut Route,
    looks: &Looks,
    link: &Link,
    replace: bool,
    kind: &str,
    serves: impl Fn(&Former) -> bool,
) -> Result<(Former, State, bool), Error> {
    let (state, left) = State::lock(&place.state_folder, &place.device, place.parent)?;
    let here = route.qdisc(link.index, place.parent)?;
    match left {
        Some(kept) if kept.former.is_replaced_by(here.as_ref(), link, kind) && serves(&kept.former) => {
            Ok((kept.former, state, true))
        }
        left => {
            let (former, state) = claim_locked((state, left), route, looks, link, place.parent, replace)?;
            Ok((former, state, false))
        }
    }
}

fn claim_locked(
    (state, left): (State, Option<Kept>),
    route: &mut Route,
    looks: &Looks,
    link: &Link,
    parent: u32,
    replace: bool,
) -> Result<(Former, State), Error> {
    let mut link = link.clone();
    if let Some(left) = left {
        put_back(&state, &left.former, route)?;
        link = route.link(&link.name)?;
    }
    let (mut former, obstacle) = Former::read(route, &link, parent, &looks.users(link.index)?)?;
    match obstacle {
        Some(obstacle) if !replace => {
            state.forget()?;
            return Err(Unforced::Former { name: link.name, obstacle: obstacle.why() }.into());
        }
        // The kernel's default queue will return instead.
        Some(Obstacle::Lost(_)) => former.give_up(),
        Some(Obstacle::Shapes(_)) | None => {}
    }
    Ok((former, state))
}

/// Records the former queue in a file, then installs Sluice's discipline of this kind.
pub(crate) fn make_way(
    former: &Former,
    mut state: State,
    route: &mut Route,
    kind: &str,
    options: Option<Vec<u8>>,
) -> Result<State, Error> {
    state.keep(former)?;
    if let Err(error) = route.replace(&former.replacement(kind, options)) {
        state.forget()?;
        return Err(error);
    }
    Ok(state)
}

/// Restores what a killed agent left, unless another program has installed a queue at the same point since.
pub(crate) fn put_back(state: &State, former: &Former, route: &mut Route) -> Result<(), Error> {
    match state.put_back(former, route) {
        Ok(()) | Err(Error::Replaced { .. }) => {}
        failed => return failed,
    }
    if let Some(phy) = former.phy() {
        FileLock::forget(state.folder(), phy);
    }
    Ok(())
}
