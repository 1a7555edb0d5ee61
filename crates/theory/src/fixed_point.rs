//! Fixed points of several unknowns, where a larger unknown makes the others smaller.

/// The iteration ends when no unknown changes by more than this.
const CLOSE: f64 = 1e-13;

/// Largest number of iterations, for equations that do not converge to the last digit.
const MOST_ROUNDS: u32 = 20_000;

/// Solves `next(x) = x` from `start` by steps towards `next(x)`. Whole steps overshoot if the map falls steeply. So the
/// step is halved if the difference has not decreased, or has changed its sign without decreasing by half.
pub(crate) fn settle(start: Vec<f64>, next: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let (mut x, mut step, mut before) = (start, 1.0_f64, f64::INFINITY);
    let mut steps_before = vec![0.0; x.len()];
    for _ in 0..MOST_ROUNDS {
        let to = next(&x);
        let steps: Vec<f64> = x.iter().zip(&to).map(|(x, to)| to - x).collect();
        let difference = steps.iter().fold(0.0, |most: f64, step| most.max(step.abs()));
        if difference < CLOSE {
            break;
        }
        let turned = steps.iter().zip(&steps_before).map(|(step, before)| step * before).sum::<f64>() < 0.0;
        if difference >= before || (turned && difference > before / 2.0) {
            step = (step / 2.0).max(1e-3);
        }
        x.iter_mut().zip(&steps).for_each(|(x, by)| *x += step * by);
        (before, steps_before) = (difference, steps);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steep_falling_map_settles() {
        // x = 1 - 20 (x - 1/2): 11/21, where whole steps would run away.
        let found = settle(vec![0.0, 1.0], |x| vec![1.0 - 20.0 * (x[0] - 0.5), 1.0 - x[1]]);
        assert!((found[0] - 11.0 / 21.0).abs() < 1e-12 && (found[1] - 0.5).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_map_that_swings_around_its_fixed_point_settles() {
        // x = 1 - 0.9999 x: whole steps would still be a tenth off after all rounds.
        let found = settle(vec![0.0], |x| vec![1.0 - 0.9999 * x[0]]);
        assert!((found[0] - 1.0 / 1.9999).abs() < 1e-12, "{found:?}");
    }
}
