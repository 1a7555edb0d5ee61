//! T-MAC's throughput: all nodes of a collision domain send in order of the packets' age, as from one FIFO.
//!
//! Source: a reconstruction (`docs/tmac.md`): the papers' own closed form was not available. If one node of a domain
//! sends at a time, a FIFO serves all flows that always have a packet at the same rate,
//!
//! `x = 1 / sum over flows, sum over a flow's hops in the domain, of (t_data + t_ack / b)`,
//!
//! with the channel times of a data packet and of a transport acknowledgement on that hop, and `b` packets for each
//! acknowledgement. Under TCP a packet and its acknowledgement pass all of their hops before any younger packet. The
//! packet that follows is the youngest of all. So in a round every packet of every window is served once, and so is its
//! acknowledgement. Rates are thus proportional to windows ([`tcp`]). In the simulator a relay's MAC sends the packet
//! that it holds before an older one. This favours sources near the gateway.
//!
//! Under plain contention all nodes with packets are equally likely to send next. Rates then depend on which queues are
//! empty, and there is no product form. `tests/contention.rs` solves the chain numerically for small windows.

use crate::Error;

/// A hop of a flow in the collision domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    /// Channel time of a data packet with its overhead, `t_data`, in s.
    pub data_s: f64,
    /// Channel time of a transport acknowledgement on the way back, `t_ack`, in s; zero if there is none.
    pub ack_s: f64,
}

/// Returns the rate of each flow, `x`, in packets per second, if all cross one domain and always have a packet.
/// `packets_per_ack`, `b`, is the number of data packets for each transport acknowledgement.
///
/// # Errors
/// [`Error::Stations`] without a hop. [`Error::Times`] if a time is negative or not finite, a data time is zero, or
/// `packets_per_ack` is below 1.
pub fn rate(flows: &[&[Hop]], packets_per_ack: f64) -> Result<f64, Error> {
    let hops = || flows.iter().flat_map(|hops| hops.iter());
    let usable = |hop: &Hop| hop.data_s.is_finite() && hop.data_s > 0.0 && hop.ack_s.is_finite() && hop.ack_s >= 0.0;
    let are_times = hops().all(usable) && packets_per_ack >= 1.0;
    Error::first([(hops().next().is_some(), Error::Stations), (are_times, Error::Times)])?;
    Ok(1.0 / hops().map(|hop| hop.data_s + hop.ack_s / packets_per_ack).sum::<f64>())
}

/// Returns the rates of TCP flows in packets per second, `x_f = W_f / sum of W_g c_g`, if each keeps `W` packets in the
/// domain. `c_g` is the channel time, on all hops, of a packet of flow `g` and its part of an acknowledgement.
///
/// # Errors
/// Those of [`rate`], and [`Error::Stations`] for a window of zero.
pub fn tcp(flows: &[(u32, &[Hop])], packets_per_ack: f64) -> Result<Vec<f64>, Error> {
    let are_flows = !flows.is_empty() && flows.iter().all(|(window, _)| *window > 0);
    Error::first([(are_flows, Error::Stations)])?;
    let mut round_s = 0.0;
    for (window, hops) in flows {
        round_s += f64::from(*window) / rate(&[hops], packets_per_ack)?;
    }
    Ok(flows.iter().map(|(window, _)| f64::from(*window) / round_s).collect())
}

/// Returns the share of each source of a parking lot, in packets per slot: `2 / (K (K + 1))`. `K` sources are 1 to `K`
/// hops away from the gateway. All are in one domain, and each hop takes one slot. `None` without a source.
pub fn parking_lot(sources: u32) -> Option<f64> {
    let sources = f64::from(sources);
    (sources >= 1.0).then(|| 2.0 / (sources * (sources + 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Hop = Hop { data_s: 1.0, ack_s: 0.0 };

    /// Values for K = 4, 0.1 each and 0.40 in total, and for K = 6, 0.286 in total.
    #[test]
    fn a_parking_lot_has_the_values_of_the_note() {
        let each = |sources| parking_lot(sources).expect("there are sources");
        assert!((each(4) - 0.1).abs() < 1e-15);
        assert!((4.0 * each(4) - 0.40).abs() < 1e-15);
        assert!((6.0 * each(6) - 2.0 / 7.0).abs() < 1e-15 && (6.0 * each(6) - 0.286).abs() < 5e-4);
        assert_eq!(parking_lot(0), None);
        for sources in 1..=10 {
            let lots: Vec<Vec<Hop>> = (1..=sources).map(|hops| vec![SLOT; hops]).collect();
            let flows: Vec<&[Hop]> = lots.iter().map(Vec::as_slice).collect();
            let shared = rate(&flows, 1.0).expect("flows");
            let closed = each(u32::try_from(sources).expect("few"));
            assert!((shared / closed - 1.0).abs() < 1e-12, "{sources}: {shared} and {closed}");
        }
    }

    #[test]
    fn acknowledgements_take_their_time_and_windows_share() {
        // Two flows of one and two hops, 2 ms for data and 1 ms for an acknowledgement of every second packet: 3 * 2.5 ms.
        let hop = Hop { data_s: 0.002, ack_s: 0.001 };
        let shared = rate(&[&[hop], &[hop, hop]], 2.0).expect("flows");
        assert!((shared - 1.0 / 0.0075).abs() < 1e-9);
        let windows = |one, two| tcp(&[(one, &[hop]), (two, &[hop, hop])], 2.0).expect("flows");
        assert!(windows(8, 8).iter().all(|rate| (rate / shared - 1.0).abs() < 1e-12));
        // A round of 6 packets over one hop and of 2 over two: 10 * 2.5 ms.
        let [one, two] = windows(6, 2)[..] else { panic!("two flows") };
        assert!((one - 240.0).abs() < 1e-9 && (two - 80.0).abs() < 1e-9, "{one}, {two}");
    }

    #[test]
    fn what_has_no_rate_is_refused() {
        assert_eq!(rate(&[], 1.0), Err(Error::Stations));
        assert_eq!(rate(&[&[]], 1.0), Err(Error::Stations));
        assert_eq!(tcp(&[], 1.0), Err(Error::Stations));
        assert_eq!(tcp(&[(1, &[SLOT]), (0, &[SLOT])], 1.0), Err(Error::Stations));
        assert_eq!(tcp(&[(1, &[SLOT]), (1, &[])], 1.0), Err(Error::Stations));
        assert_eq!(tcp(&[(1, &[SLOT])], 0.5), Err(Error::Times));
        assert_eq!(rate(&[&[SLOT]], 0.5), Err(Error::Times));
        assert_eq!(rate(&[&[SLOT]], f64::NAN), Err(Error::Times));
        assert_eq!(rate(&[&[Hop { data_s: 0.0, ..SLOT }]], 1.0), Err(Error::Times));
        assert_eq!(rate(&[&[Hop { ack_s: -1.0, ..SLOT }]], 1.0), Err(Error::Times));
    }
}
