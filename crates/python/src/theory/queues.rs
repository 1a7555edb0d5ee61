//! Queues: single servers, ALT's buffer under TCP, the buffer that a neighbourhood shares.

use super::{Model, Row, Solved, groups, not_negative, numbers, positive, whole, words};
use theory::alt::{Buffer, Traffic};
use theory::dnb;
use theory::queueing::{Mg1, Mm1, Mm1k};

pub(super) const MODELS: &[Model] = &[
    ("mm1", mm1),
    ("mm1_sojourn_quantile", mm1_sojourn_quantile),
    ("mg1", mg1),
    ("mm1k", mm1k),
    ("alt_traffic", alt_traffic),
    ("alt_buffer", alt_buffer),
    ("alt_next", alt_next),
    ("dnb_drop_probability", dnb_drop_probability),
    ("dnb_split", dnb_split),
    ("dnb_split_whole", dnb_split_whole),
];

fn mm1(row: &Row) -> Solved {
    let [arrivals, services] = numbers(row)?;
    let queue = Mm1::new(arrivals, services).map_err(words)?;
    Ok(vec![queue.load(), queue.mean_wait_s(), queue.mean_sojourn_s(), queue.mean_number()])
}

fn mm1_sojourn_quantile(row: &Row) -> Solved {
    let [arrivals, services, quantile] = numbers(row)?;
    let queue = Mm1::new(arrivals, services).map_err(words)?;
    queue.sojourn_quantile_s(quantile).map(|time| vec![time]).map_err(words)
}

fn mg1(row: &Row) -> Solved {
    let [arrivals, mean, variance] = numbers(row)?;
    let queue = Mg1::new(arrivals, mean, variance).map_err(words)?;
    Ok(vec![queue.load(), queue.mean_wait_s(), queue.mean_sojourn_s(), queue.mean_number()])
}

fn mm1k(row: &Row) -> Solved {
    let [arrivals, services, room] = numbers(row)?;
    let queue = Mm1k::new(arrivals, services, whole("room", room)?).map_err(words)?;
    Ok(vec![queue.loss_probability(), queue.mean_sojourn_s(), queue.mean_number()])
}

fn alt_traffic(row: &Row) -> Solved {
    let times = row.first().copied().unwrap_or_default();
    let traffic = Traffic::standard(times).map_err(words)?;
    Ok(vec![traffic.growth, traffic.acceleration, traffic.round_trip_s, traffic.spread])
}

fn alt_buffer(row: &Row) -> Solved {
    let [a, b, growth, spread, backoff] = numbers(row)?;
    let buffer = Buffer::new([a, b], growth, spread, backoff).map_err(words)?;
    let stable = f64::from(u8::from(buffer.is_stable()));
    Ok(vec![buffer.lambda_emptied(), buffer.gamma_emptied(), buffer.fixed_point(), buffer.utilisation(), stable])
}

fn alt_next(row: &Row) -> Solved {
    let [size, bdp, a, b, growth, spread, backoff] = numbers(row)?;
    let buffer = Buffer::new([a, b], growth, spread, backoff).map_err(words)?;
    Ok(vec![buffer.next(positive("size_packets", size)?, positive("bdp_packets", bdp)?)])
}

fn dnb_drop_probability(row: &Row) -> Solved {
    let [load, size] = numbers(row)?;
    Ok(vec![dnb::drop_probability(not_negative("load", load)?, whole("size_packets", size)?)])
}

fn dnb_split(row: &Row) -> Solved {
    let queues = groups(row)?;
    let total = queues.first().map_or(0.0, |&[total, _]| total);
    let costs: Vec<f64> = queues.iter().map(|&[_, cost]| positive("costs", cost)).collect::<Result<_, _>>()?;
    Ok(dnb::split(not_negative("total_packets", total)?, &costs))
}

fn dnb_split_whole(row: &Row) -> Solved {
    let rows = groups(row)?;
    let [total, least] = rows.first().map_or([0.0; 2], |&[total, _, _, least]| [total, least]);
    let queue = |&[_, cost, load, _]: &[f64; 4]| {
        Ok(dnb::Queue { cost: not_negative("costs", cost)?, load: not_negative("loads", load)? })
    };
    let queues: Vec<dnb::Queue> = rows.iter().map(queue).collect::<Result<_, String>>()?;
    let split = dnb::split_whole(whole("total_packets", total)?, &queues, whole("least_packets", least)?);
    Ok(split.into_iter().map(f64::from).collect())
}
