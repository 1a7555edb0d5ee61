//! Applies other settings while the agent runs: all of them, or none. First all settings are checked without a change.
//! If all are valid, the loop changes queues between their intervals and attaches to new queues; unwanted queues stay.
//! If all changes succeed, unwanted queues are released; if one fails, all queues get their former settings back.

use crate::agent::Host;
use crate::agent::govern::{Agent, Readiness, Reload, seed, tell};
use crate::agent::governor::Governor;
use crate::agent::patterns;
use crate::device::wish::{Place, Wish};
use crate::error::Error;
use crate::kernel::now;
use crate::telemetry::events::AgentEventKind;
use std::collections::BTreeMap;

impl Agent {
    /// Begins to apply other settings. Returns false if the host wants the agent to end.
    pub(super) fn reload(&mut self, host: &mut dyn Host) -> bool {
        if self.reload.is_some() {
            self.roll_back("the settings are read again", host);
        }
        let Some(wishes) = host.reload() else { return false };
        self.manager.reloads(now());
        self.readiness = Readiness::Reloading;
        let wishes = match wishes {
            Ok(wishes) => wishes,
            Err(why) => {
                self.refuse(&why, host);
                return true;
            }
        };
        let all = wishes;
        let checked = patterns::spread(&all, &self.links, &self.looks)
            .and_then(|wishes| self.check_all(&wishes, host).map(|()| wishes));
        let wishes = match checked {
            Ok(wishes) => wishes,
            Err(error) => {
                self.refuse(&error.to_string(), host);
                return true;
            }
        };
        let of = |governor: &Governor| (governor.wish.place.clone(), governor.wish.clone());
        let before: BTreeMap<Place, Wish> = self.governors.iter().map(of).collect();
        let is_touched = |wish: &&Wish| before.get(&wish.place) != Some(*wish);
        let touched = wishes.iter().filter(is_touched).map(|wish| wish.place.clone()).collect();
        let wanted = wishes.iter().map(|wish| wish.place.clone()).collect();
        self.reload = Some(Reload { before, touched, wanted, all });
        for wish in wishes {
            let changed = match self.at(&wish.place) {
                Some(at) => self.with(at, now(), host, |governor, round| governor.change(wish, round)),
                // The loop attaches to it.
                None => seed().and_then(|seed| Governor::new(wish, seed, now())).map(|new| self.governors.push(new)),
            };
            if let Err(error) = changed {
                self.roll_back(&error.to_string(), host);
                break;
            }
            self.manager.live(now());
        }
        true
    }

    /// Checks all settings against the queues that are governed now.
    fn check_all(&mut self, wishes: &[Wish], host: &mut dyn Host) -> Result<(), Error> {
        wishes.iter().try_for_each(|wish| match self.at(&wish.place) {
            Some(at) => self.with(at, now(), host, |governor, _| governor.check(wish)),
            None => Governor::new(wish.clone(), 1, now()).map(drop),
        })
    }

    fn at(&self, place: &Place) -> Option<usize> {
        self.governors.iter().position(|governor| governor.wish.place == *place)
    }

    /// Ends the reload once each changed or new queue is governed or waits for its interface.
    pub(super) fn settle(&mut self, host: &mut dyn Host) {
        let now = now();
        let is_tried = |governor: &Governor| governor.is_governing() || governor.next() > now;
        let Some(reload) = &self.reload else { return };
        if self.governors.iter().any(|one| reload.touched.contains(&one.wish.place) && !is_tried(one)) {
            return;
        }
        let Some(Reload { wanted, all, .. }) = self.reload.take() else { return };
        self.keep_only(|place| wanted.contains(place), host);
        self.wanted = all;
        host.reloaded(true);
        // Interfaces may have appeared during the reload.
        self.spread(host);
        if self.notes.is_none() && self.governors.iter().any(|governor| governor.wish.notes) {
            // Sockets for notes, like those for admission, can no longer be made.
            tell(host, "", AgentEventKind::Failed, "notes take effect at the next start");
        }
        if let Some(port) = &mut self.port {
            port.change(host.admission().map(|(settings, _)| settings).as_ref());
        }
        self.listen(host);
    }

    /// Gives all queues their former settings.
    pub(super) fn roll_back(&mut self, why: &str, host: &mut dyn Host) {
        let Some(Reload { before, .. }) = self.reload.take() else { return };
        self.keep_only(|place| before.contains_key(place), host);
        for at in 0..self.governors.len() {
            let Some(wish) = before.get(&self.governors[at].wish.place).cloned() else { continue };
            let changed = self.with(at, now(), host, |governor, round| governor.change(wish, round));
            if let Err(error) = changed {
                self.lost(at, &error, host);
            }
        }
        self.refuse(why, host);
        self.spread(host);
    }

    fn refuse(&mut self, why: &str, host: &mut dyn Host) {
        host.reloaded(false);
        self.manager.refuse(why);
        tell(host, "", AgentEventKind::Failed, format!("nothing is changed: {why}"));
    }

    /// Releases the queues that `is_kept` does not name.
    pub(super) fn keep_only(&mut self, is_kept: impl Fn(&Place) -> bool, host: &mut dyn Host) {
        let manager = &mut self.manager;
        self.governors.retain_mut(|governor| {
            let stays = is_kept(&governor.wish.place);
            if !stays {
                // `end` has reported its result.
                let _ = governor.end(true, host);
                manager.live(now());
            }
            stays
        });
    }
}
