//! Faults of charts.

use super::{Future, Leaf};
use crate::claims::Condition;
use crate::label;
use crate::scenario::refusal::Refusal;
use crate::study::{Chart, Spacing, Unit};
use crate::title;
use serde_json::Value;

impl Future<'_, '_> {
    pub(super) fn check_chart(&self, index: usize, chart: &Chart) -> Result<(), Refusal> {
        let at = |key: &str| format!("chart.{index}.{key}");
        self.check_labels(&at("where"), &chart.cases)?;
        for (key, axis) in [("panels", &chart.panels), ("colour", &chart.colour)] {
            if let Some(axis) = axis {
                self.axis(&at(key), axis)?;
            }
        }
        self.require(!chart.y.is_empty(), &at("y"), "a chart shows at least one result")?;
        self.check_against(&at("against"), &chart.against)?;
        self.check_compare(&at("compare"), chart.compare, &chart.against)?;
        let (over_time, cdf, scatter) = (chart.x == "time", chart.x == Chart::CDF, chart.x_title.is_some());
        if scatter {
            self.check_scatter(&at, chart)?;
        } else {
            let message = "`front` needs a result as `x`, with `x_title`";
            self.require(chart.front.is_none(), &at("front"), message)?;
        }
        let is_log = chart.x_scale == Spacing::Log;
        self.require(!(over_time && is_log), &at("x_scale"), "`x_scale` has no effect where `x` is `time`")?;
        if !over_time && !cdf && !scatter {
            let axis = self.axis(&at("x"), &chart.x).map_err(|refusal| {
                refusal.note("or `time` (series), `cdf` (distributions), or a result together with `x_title`")
            })?;
            let placed = |label: &String| label::place(label).is_some_and(|place| place > 0.0);
            let message = format!("`{}` has labels that are not numbers above zero", chart.x);
            self.require(!is_log || axis.labels.iter().all(placed), &at("x_scale"), message)?;
        } else {
            let message = "`together` and `against` need an axis as `x`: `time` and `cdf` show recorded values";
            let is_recorded = chart.together.is_none() && chart.against.is_empty();
            self.require(scatter || is_recorded, &at("x"), message)?;
        }
        for blank in self.trees(&chart.cases) {
            if scatter {
                self.check_expression(&at("x"), &chart.x, blank, Leaf::Number)?;
            }
            if let Some(of) = chart.front.as_ref().and_then(|front| front.of.as_ref()) {
                self.check_expression(&at("front.of"), of, blank, Leaf::Number)?;
            }
            for (number, path) in chart.y.iter().enumerate() {
                let place = at(&format!("y.{number}"));
                match (over_time, cdf) {
                    (true, _) => self.check_recorded(&place, path, blank, "series")?,
                    (_, true) => self.check_recorded(&place, path, blank, "distributions")?,
                    _ => self.check_expression(&place, path, blank, Leaf::Number)?,
                }
            }
        }
        let list = |of: &Value, key: &str| of[key].as_array().cloned().unwrap_or_default();
        let deadlines = |blank: &Value| list(blank, "flows").iter().any(|flow| flow["deadline_s"].is_number());
        let targets = |blank: &Value| {
            let queues = list(blank, "nodes").into_iter().flat_map(|node| list(&node, "queues"));
            queues.into_iter().any(|queue| queue["target_delay_s"].is_number())
        };
        let is_shown = !chart.deadline || self.trees(&chart.cases).any(deadlines);
        let message = "`deadline` has no effect: no flow that is shown has a deadline";
        self.require(is_shown, &at("deadline"), message)?;
        let is_shown = !chart.target || self.trees(&chart.cases).any(targets);
        let message = "`target` has no effect: no controller that is shown has a target delay";
        self.require(is_shown, &at("target"), message)?;
        for measure in &chart.y {
            let unit =
                if chart.x == Chart::CDF { Unit::Share } else { title::unit(measure, &chart.against, chart.compare) };
            title::factor(&chart.y_title, measure, unit).map_err(|why| self.draft.refuse_at(&at("y_title"), why))?;
        }
        Ok(())
    }

    /// Checks the keys of a chart whose x axis is a result.
    fn check_scatter(&self, at: &dyn Fn(&str) -> String, chart: &Chart) -> Result<(), Refusal> {
        let has_title =
            chart.x == "time" || chart.x == Chart::CDF || self.scenario.axes.iter().any(|axis| axis.name == chart.x);
        let message = format!("`{}` has a title of its own: set `x_title` only if `x` names a result", chart.x);
        self.require(!has_title, &at("x_title"), message)?;
        for (key, is_set) in [("deadline", chart.deadline), ("target", chart.target)] {
            self.require(!is_set, &at(key), format!("`{key}` has no effect if `x` names a result"))?;
        }
        let unit = title::unit(&chart.x, &chart.against, chart.compare);
        let title = chart.x_title.as_deref().unwrap_or_default();
        title::factor(title, &chart.x, unit).map_err(|why| self.draft.refuse_at(&at("x_title"), why))?;
        match chart.front.as_ref().map(|front| (&front.of, &front.when)) {
            Some((Some(_), None) | (None, Some(_))) => {
                Err(self.draft.refuse_at(&at("front"), "set `of` and `when` together"))
            }
            Some((Some(of), Some(when))) => {
                let refuse = |message: String| self.draft.refuse_at(&at("front.when"), message);
                let (_, written) = Condition::read(when).map_err(refuse)?;
                self.check_units(&at("front.when"), self.parsed(&at("front.of"), of)?.unit(), written)
            }
            _ => Ok(()),
        }
    }
}
