//! The values of the reconstruction, M/M/1/K by its own closed form, and brute force over all splits.

use proptest::prelude::*;
use theory::dnb::{Queue, drop_probability, split, split_whole};
use theory::queueing::Mm1k;

/// Returns `sum P_i(b_i) c_i`.
fn expected_cost(queues: &[Queue], split: &[u32]) -> f64 {
    queues.iter().zip(split).map(|(queue, &size)| queue.cost * drop_probability(queue.load, size)).sum()
}

fn by_hop(nodes: u32) -> Vec<Queue> {
    (1..=nodes).map(|hop| Queue { cost: f64::from(hop), load: 1.0 }).collect()
}

fn costs(nodes: u32) -> Vec<f64> {
    (1..=nodes).map(f64::from).collect()
}

/// Returns every way to split `total` among `queues` queues.
fn all_splits(total: u32, queues: usize) -> Vec<Vec<u32>> {
    if queues == 1 {
        return vec![vec![total]];
    }
    let with_first =
        |first: u32| all_splits(total - first, queues - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (0..=total).flat_map(with_first).collect()
}

fn least_cost(total: u32, queues: &[Queue]) -> f64 {
    all_splits(total, queues.len()).iter().map(|sizes| expected_cost(queues, sizes)).fold(f64::INFINITY, f64::min)
}

#[test]
fn two_queues_of_costs_1_and_4_get_3_and_7_of_10() {
    // Roots 1 and 2: b + 1 = 12 / 3 and 24 / 3.
    assert_eq!(split(10.0, &[1.0, 4.0]), [3.0, 7.0]);
    let queues = [1.0, 4.0].map(|cost| Queue { cost, load: 1.0 });
    assert_eq!(split_whole(10, &queues, 0), [3, 7]);
    // 1/4 + 4/8.
    assert!((expected_cost(&queues, &[3, 7]) - 0.75).abs() < 1e-15);
}

#[test]
fn the_values_of_the_reconstruction() {
    let to_two_digits: Vec<f64> = split(12.0, &costs(4)).iter().map(|size| (size * 100.0).round() / 100.0).collect();
    assert_eq!(to_two_digits, [1.60, 2.68, 3.51, 4.21]);
    assert_eq!(split_whole(12, &by_hop(4), 0), [2, 3, 3, 4]);
    assert_eq!(split_whole(20, &by_hop(4), 0), [3, 4, 6, 7]);
    assert_eq!(split_whole(6, &by_hop(4), 0), [1, 1, 2, 2]);
}

/// The weights save 5.6 % of the weighted cost of drops with four queues and 7.3 % with seven, where buffers are large.
#[test]
fn what_the_weights_spare_over_an_equal_split() {
    // The least is (sum of roots)^2 / (B + M); an equal split costs M * sum of costs / (B + M).
    for (nodes, spared) in [(4, 0.056), (7, 0.073)] {
        let roots: f64 = costs(nodes).iter().map(|cost| cost.sqrt()).sum();
        let exact = 1.0 - roots * roots / (f64::from(nodes) * costs(nodes).iter().sum::<f64>());
        assert!((exact - spared).abs() < 0.0005, "{nodes}: {exact}");
        let queues = by_hop(nodes);
        let equal = expected_cost(&queues, &vec![1_000; nodes as usize]);
        let weighted = expected_cost(&queues, &split_whole(1_000 * nodes, &queues, 0));
        assert!((1.0 - weighted / equal - exact).abs() < 1e-5, "{nodes}: {}", 1.0 - weighted / equal);
    }
}

#[test]
fn equal_costs_divide_simply_and_small_ones_may_get_nothing() {
    for (found, exact) in split(12.0, &[3.0; 4]).iter().zip([3.0; 4]) {
        assert!((found - exact).abs() < 1e-12);
    }
    // b + 1 = 3 / 11 of the first is below one, so it gets nothing and the second gets all.
    assert_eq!(split(1.0, &[1.0, 100.0]), [0.0, 1.0]);
    assert_eq!(split(0.0, &[1.0, 4.0]), [0.0, 0.0]);
    assert!(split(5.0, &[]).is_empty() && split_whole(5, &[], 2).is_empty());
    assert_eq!(split_whole(3, &by_hop(2), 2), [2, 2], "at least two each, though there are three");
}

#[test]
fn the_drop_probability_is_that_of_mm1k() {
    for load in [0.3, 0.5, 0.9, 1.0, 1.1, 2.0, 5.0] {
        for size in 1..=40 {
            let exact = Mm1k::new(load, 1.0, size).expect("in range").loss_probability();
            let found = drop_probability(load, size);
            assert!((found / exact - 1.0).abs() < 1e-9, "{load}, {size}: {found}, {exact}");
        }
    }
    // 0.5^2 0.5 / (1 - 0.5^3)
    assert!((drop_probability(0.5, 2) - 1.0 / 7.0).abs() < 1e-15);
    assert!((drop_probability(1.0, 6) - 1.0 / 7.0).abs() < 1e-15);
    assert!((drop_probability(0.0, 0) - 1.0).abs() < 1e-15 && drop_probability(0.0, 1).abs() < 1e-15);
}

proptest! {
    #[test]
    fn no_split_in_whole_packets_costs_less(
        total in 0_u32..14, queues in prop::collection::vec((0.0..20.0, 0.3..5.0), 1..5),
    ) {
        let queues: Vec<Queue> = queues.into_iter().map(|(cost, load)| Queue { cost, load }).collect();
        let sizes = split_whole(total, &queues, 0);
        prop_assert_eq!(sizes.iter().sum::<u32>(), total);
        let (found, least) = (expected_cost(&queues, &sizes), least_cost(total, &queues));
        prop_assert!(found <= least * (1.0 + 1e-12), "{found} is above {least}");
    }

    #[test]
    fn the_closed_form_is_a_bound_and_its_gains_are_equal(
        total in 0.0..200.0, costs in prop::collection::vec(0.1..50.0, 1..9),
    ) {
        let sizes = split(total, &costs);
        prop_assert!((sizes.iter().sum::<f64>() - total).abs() < 1e-9 * (1.0 + total));
        let gains = || costs.iter().zip(&sizes).map(|(cost, size)| (cost / (size + 1.0).powi(2), *size));
        let most = gains().map(|(gain, _)| gain).fold(0.0, f64::max);
        for (gain, size) in gains() {
            prop_assert!(size >= 0.0 && (size <= 0.0 || (gain / most - 1.0).abs() < 1e-9));
        }
    }

    /// Only up to a size beyond which an overloaded queue's drops differ by less than a double resolves.
    #[test]
    fn drops_fall_ever_less_with_every_packet_of_room(load in 0.3..5.0, size in 0_u32..8) {
        let [one, two, three] = [0, 1, 2].map(|more| drop_probability(load, size + more));
        prop_assert!(one > two && two > three);
        prop_assert!(one - two >= (two - three) * (1.0 - 1e-9));
    }
}
