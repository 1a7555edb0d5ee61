//! Baselines: controllers outside Sluice that are compared with a scenario's own.

use super::cases::{Baseline, Case, Scenario};
use super::hints;
use super::refusal::Refusal;
use crate::study::Axis;
use crate::watch::Outside;
use sim::{Governed, World};
use std::sync::Arc;

impl Scenario {
    /// Adds a label to an axis. Its networks are those of the label `like`, written `axis=label`, with `outside` at
    /// each queue that has a controller there. Default: the first label with a controller, in the order of the axes.
    /// The new cases come last; the scenario's claims do not apply to them.
    ///
    /// # Errors
    /// The label exists already, `like` matches no label, or no queue under the matching label has a controller.
    pub fn with_baseline(
        mut self,
        label: &str,
        like: Option<&str>,
        outside: &Arc<dyn Outside>,
    ) -> Result<Self, Refusal> {
        let (axis, model) = match like {
            Some(like) => self.named(like)?,
            None => self.first_with_controller()?,
        };
        if self.axes[axis].labels.iter().any(|known| known == label) {
            let message =
                format!("`{}` has a label `{label}` already: give the baseline another label", self.axes[axis].name);
            return Err(self.refuse(message));
        }
        let name = self.axes[axis].name.clone();
        let mut cases = Vec::new();
        for case in self.own_cases().iter().filter(|case| case.labels[&name] == model) {
            let places = governed(case);
            if places.is_empty() {
                return Err(self.refuse(format!("no queue has a controller where {name} = {model}")));
            }
            let mut labels = case.labels.clone();
            labels.insert(name.clone(), label.to_owned());
            let network = case.network.clone().without_controllers();
            let baseline = Some(Baseline { outside: Arc::clone(outside), places });
            cases.push(Case { labels, set: case.set.clone(), network, baseline });
        }
        self.axes[axis].labels.push(label.to_owned());
        self.cases.extend(cases);
        Ok(self)
    }

    /// Returns the file's cases, without those of baselines.
    pub(crate) fn own_cases(&self) -> &[Case] {
        let own = self.cases.iter().take_while(|case| case.baseline.is_none()).count();
        &self.cases[..own]
    }

    /// Returns the axis and the label that `like` names.
    fn named(&self, like: &str) -> Result<(usize, String), Refusal> {
        let Some((name, label)) = like.split_once('=') else {
            return Err(self.refuse(format!("`{like}`: expected AXIS=LABEL")));
        };
        let (name, label) = (name.trim(), label.trim());
        let Some(place) = self.axes.iter().position(|axis| axis.name == name) else {
            let known = self.axes.iter().map(|axis| axis.name.as_str());
            return Err(hints::with_names(self.refuse(format!("this scenario varies no `{name}`")), name, known));
        };
        let known: Vec<&str> = self.labels_run(&self.axes[place]).collect();
        if !known.contains(&label) {
            return Err(hints::with_names(self.refuse(format!("no case has {name} = {label}")), label, known));
        }
        Ok((place, label.to_owned()))
    }

    fn first_with_controller(&self) -> Result<(usize, String), Refusal> {
        for (place, axis) in self.axes.iter().enumerate() {
            let has_controller = |label: &&str| {
                let mut of_label = self.own_cases().iter().filter(|case| case.labels[&axis.name] == **label);
                of_label.all(|case| !governed(case).is_empty())
            };
            if let Some(label) = self.labels_run(axis).find(has_controller) {
                return Ok((place, label.to_owned()));
            }
        }
        Err(self.refuse(
            "no label of `[vary]` sets a controller at the queues of every case, so a baseline has nothing to replace",
        ))
    }

    /// Returns the labels of an axis that occur in a case.
    fn labels_run<'s>(&'s self, axis: &'s Axis) -> impl Iterator<Item = &'s str> {
        let occurs = |label: &&String| self.own_cases().iter().any(|case| case.labels[&axis.name] == **label);
        axis.labels.iter().filter(occurs).map(String::as_str)
    }

    fn refuse(&self, message: impl Into<String>) -> Refusal {
        Refusal::file(&self.file, message)
    }
}

/// Returns the queues of a case that have controllers.
fn governed(case: &Case) -> Vec<Governed> {
    // This network was built once without fault when the scenario was read.
    World::new(&case.network, 0).map(|world| world.governed()).unwrap_or_default()
}
