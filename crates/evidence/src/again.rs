//! Rows of which only the window has changed get a new verdict, from the value and the interval on record.

use super::{Row, word};
use experiment::claims;
use experiment::scenario::Scenario;
use experiment::study::{Claim, Ruling, Side};
use itertools::Itertools as _;

/// Returns a row with the verdict for the scenario's present window. The row stays unchanged, and out of date, if
/// anything else has changed, or the value on record does not decide with the new window.
pub(super) fn ruled(row: Row, claim: &Claim, scenario: &Scenario) -> Row {
    let Some(hash) = scenario.hashes.get(&claim.id).filter(|hash| *hash != row.hash) else { return row };
    let of = |better| scenario.hashes.with_window(&claim.id, &row.window, better).as_deref() == Some(&row.hash);
    if ![None, Some(Side::Below), Some(Side::Above)].into_iter().any(of) {
        return row;
    }
    let verdict = match row.verdict {
        // Without a better side all values on that side differ, and the value farthest outside still decides.
        Ruling::Better if row.window == claim.holds && claim.better.is_none() => Some(Ruling::Differs),
        _ => claims::again(claim, row.ours, row.low, row.high),
    };
    let neighbours = neighbours(&row, claim);
    let (Some(verdict), Some(neighbours)) = (verdict, neighbours) else { return row };
    let other = |told: &&str| told.rsplit_once(' ').is_some_and(|(_, ruling)| ruling != word(&verdict));
    let of = |told: &str| {
        let label = told.rsplit_once(": ").map_or("", |(label, _)| label);
        scenario.rulings.neighbour.iter().find(|neighbour| neighbour.instead.iter().any(|one| one == label))
    };
    let parameters = neighbours.split("; ").filter(other).filter_map(of).map(|neighbour| neighbour.parameter.as_str());
    let depends_on = parameters.unique().join(", ");
    Row { verdict, depends_on, neighbours, window: claim.holds.clone(), hash, ..row }
}

/// Returns the verdicts for neighbouring choices with the present window. `None` unless only the better side was
/// removed, because the record has no intervals of neighbouring choices.
fn neighbours(row: &Row, claim: &Claim) -> Option<String> {
    let is_same = row.window == claim.holds && claim.better.is_none();
    let of = |told: &str| match told.strip_suffix(&word(&Ruling::Better)) {
        Some(value) => value.to_owned() + &word(&Ruling::Differs),
        None => told.to_owned(),
    };
    let told = || row.neighbours.split("; ").map(of).join("; ");
    (is_same || row.neighbours.is_empty()).then(told)
}
