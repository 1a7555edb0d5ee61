//! Claims an attachment point (root or class): restores what a killed agent left, reads the queue, installs Sluice's.

use crate::device::former::{Former, Obstacle};
use crate::device::lock::FileLock;
use crate::device::looks::Looks;
use crate::device::state::{Kept, State, other_name};
use crate::device::wish::{Place, Wish};
use crate::error::{Error, Unforced};
use crate::kernel::rtnetlink::{Link, Qdisc, Route};

/// Locks a place and reads its present queue. First restores what a killed agent left. If that agent's discipline still
/// `stands` on the interface, it stays, the recorded former queue will be restored later, and true is returned. Refuses
/// a queue that could not be restored later, or that limits the link's rate, unless it is to be replaced.
pub(crate) fn claim(
    wish: &Wish,
    route: &mut Route,
    looks: &Looks,
    link: &Link,
    stands: impl Fn(&Former, Option<&Qdisc>) -> bool,
) -> Result<(Former, State, bool), Error> {
    let Place { device, parent, state_folder } = &wish.place;
    let (state, left) = State::lock(state_folder, device, *parent)?;
    match left {
        Some(Kept { former, .. }) if stands(&former, route.qdisc(link.index, *parent)?.as_ref()) => {
            return Ok((former, state, true));
        }
        Some(Kept { former, .. }) => put_back(&state, &former, route)?,
        None => put_back_other(&wish.place, route, |former| former.index == link.index)?,
    }
    let link = route.link(&link.name)?;
    let (mut former, obstacle) = Former::read(route, &link, *parent, &looks.users(link.index)?)?;
    match obstacle {
        Some(obstacle) if !wish.replace => {
            state.forget()?;
            return Err(Unforced::Former { name: link.name, obstacle: obstacle.why() }.into());
        }
        // The kernel's default comes back instead.
        Some(Obstacle::Lost(_)) => former.qdisc = None,
        Some(Obstacle::Shapes(_)) | None => {}
    }
    Ok((former, state, false))
}

/// Writes the former state to a file, then installs Sluice's discipline.
pub(crate) fn make_way(former: &Former, mut state: State, route: &mut Route, new: &Qdisc) -> Result<State, Error> {
    state.keep(former)?;
    if let Err(error) = route.replace(new) {
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

/// Restores what a killed agent left under another name: of an interface before it was renamed, or of another of a phy.
pub(crate) fn put_back_other(place: &Place, route: &mut Route, is_this: impl Fn(&Former) -> bool) -> Result<(), Error> {
    let Some(other) = other_name(place, is_this)? else { return Ok(()) };
    let Some((state, left)) = State::left(&place.state_folder, &other, place.parent)? else { return Ok(()) };
    put_back(&state, &left.former, route)?;
    state.forget()
}
