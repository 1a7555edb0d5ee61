//! The medium: saturated cells, also with aggregates and with access categories; unsaturated cells; hidden pairs.

use super::{Model, Row, Solved, attempts, bytes, groups, numbers, seconds, whole, words};
use theory::ampdu::{self, Aggregate};
use theory::dcf::{self, Cell, Freezing};
use theory::edca::{self, Category, Medium};
use theory::hidden::{self, Handshake, Pair};
use theory::malone::{self, Arrivals, Buffer};

pub(super) const MODELS: &[Model] = &[
    ("dcf_bianchi", dcf_bianchi),
    ("dcf_standard", dcf_standard),
    ("ampdu_bianchi", ampdu_bianchi),
    ("ampdu_standard", ampdu_standard),
    ("edca", edca_categories),
    ("unsaturated_bufferless", unsaturated_bufferless),
    ("unsaturated_queued", unsaturated_queued),
    ("hidden_pair", hidden_pair),
    ("hidden_pair_rts", hidden_pair_rts),
];

fn cell([stations, cw_min, cw_max, attempted, slot, success, collision, payload]: [f64; 8]) -> Result<Cell, String> {
    Ok(Cell {
        stations: whole("stations", stations)?,
        cw_min: whole("cw_min", cw_min)?,
        cw_max: whole("cw_max", cw_max)?,
        attempts: attempts(attempted)?,
        slot: seconds("slot_s", slot)?,
        success: seconds("success_s", success)?,
        collision: seconds("collision_s", collision)?,
        payload: bytes("payload_bytes", payload)?,
    })
}

fn standard(colliders_resume: f64) -> Result<Freezing, String> {
    Ok(Freezing::Standard { colliders_resume: seconds("colliders_resume_s", colliders_resume)? })
}

fn saturation(cell: &Cell, freezing: Freezing) -> Solved {
    let solved = dcf::saturation(cell, freezing).map_err(words)?;
    Ok(vec![
        solved.tau,
        solved.collision_probability,
        solved.drop_probability,
        solved.successes_per_second,
        solved.throughput_bps,
    ])
}

fn dcf_bianchi(row: &Row) -> Solved {
    saturation(&cell(numbers(row)?)?, Freezing::Bianchi)
}

fn dcf_standard(row: &Row) -> Solved {
    let [resume] = numbers(&row[..1])?;
    saturation(&cell(numbers(&row[1..])?)?, standard(resume)?)
}

fn aggregated(row: &Row, freezing: Freezing) -> Solved {
    let [subframes, mpdu_error] = numbers(&row[..2])?;
    let aggregate = Aggregate { subframes: whole("subframes", subframes)?, mpdu_error };
    let solved = ampdu::saturation(&cell(numbers(&row[2..])?)?, freezing, aggregate).map_err(words)?;
    Ok(vec![
        solved.contention.tau,
        solved.contention.collision_probability,
        solved.delivered_per_second,
        solved.throughput_bps,
        solved.transmissions_per_mpdu,
    ])
}

fn ampdu_bianchi(row: &Row) -> Solved {
    aggregated(row, Freezing::Bianchi)
}

fn ampdu_standard(row: &Row) -> Solved {
    let [resume] = numbers(&row[..1])?;
    aggregated(&row[1..], standard(resume)?)
}

/// Neighbours with the same number `of` are categories of the same stations.
fn edca_categories(row: &Row) -> Solved {
    let mut stations: Vec<(f64, edca::Group)> = Vec::new();
    let mut medium = None;
    for [slot, sifs, of, count, aifsn, cw_min, cw_max, attempted, frame, answer, payload] in groups(row)? {
        medium.get_or_insert((slot, sifs));
        let category = Category {
            aifsn: whole("aifsn", aifsn)?,
            cw_min: whole("cw_min", cw_min)?,
            cw_max: whole("cw_max", cw_max)?,
            attempts: attempts(attempted)?,
            frame: seconds("frame_s", frame)?,
            answer: seconds("answer_s", answer)?,
            payload: bytes("payload_bytes", payload)?,
        };
        let count = whole("stations", count)?;
        match stations.last_mut() {
            Some((number, group)) if number.to_bits() == of.to_bits() => {
                if group.stations != count {
                    return Err("categories of the same stations need the same number of stations".to_owned());
                }
                group.categories.push(category);
            }
            _ => stations.push((of, edca::Group { stations: count, categories: vec![category] })),
        }
    }
    let (slot, sifs) = medium.unwrap_or_default();
    let medium = Medium { slot: seconds("slot_s", slot)?, sifs: seconds("sifs_s", sifs)? };
    let cell: Vec<edca::Group> = stations.into_iter().map(|(_, group)| group).collect();
    let outcomes: Vec<edca::Outcome> = edca::saturation(&cell, medium).map_err(words)?.into_iter().flatten().collect();
    let results: [fn(&edca::Outcome) -> f64; 5] = [
        |outcome| outcome.collision_probability,
        |outcome| outcome.internal_collision_probability,
        |outcome| outcome.drop_probability,
        |outcome| outcome.successes_per_second,
        |outcome| outcome.throughput_bps,
    ];
    Ok(results.iter().flat_map(|result| outcomes.iter().map(result)).collect())
}

fn unsaturated(row: &Row, buffer: Buffer) -> Solved {
    let mut cell = Vec::new();
    let mut slot = 0.0;
    for [slot_s, stations, arrivals, cw_min, cw_max, success, collision, payload] in groups(row)? {
        slot = slot_s;
        cell.push(malone::Group {
            stations: whole("stations", stations)?,
            arrivals: Arrivals::Poisson(arrivals),
            buffer,
            cw_min: whole("cw_min", cw_min)?,
            cw_max: whole("cw_max", cw_max)?,
            success: seconds("success_s", success)?,
            collision: seconds("collision_s", collision)?,
            payload: bytes("payload_bytes", payload)?,
        });
    }
    let outcomes = malone::solve(&cell, seconds("slot_s", slot)?).map_err(words)?;
    let results: [fn(&malone::Outcome) -> f64; 6] = [
        |outcome| outcome.q,
        |outcome| outcome.r,
        |outcome| outcome.tau,
        |outcome| outcome.collision_probability,
        |outcome| outcome.successes_per_second,
        |outcome| outcome.throughput_bps,
    ];
    Ok(results.iter().flat_map(|result| outcomes.iter().map(result)).collect())
}

fn unsaturated_bufferless(row: &Row) -> Solved {
    unsaturated(row, Buffer::None)
}

fn unsaturated_queued(row: &Row) -> Solved {
    unsaturated(row, Buffer::Infinite)
}

fn pair(row: &Row, handshake: Option<Handshake>) -> Solved {
    let [cw_min, cw_max, attempted, slot, frame, sifs, ack, difs, timeout, turnaround, payload] = numbers(row)?;
    let pair = Pair {
        cw_min: whole("cw_min", cw_min)?,
        cw_max: whole("cw_max", cw_max)?,
        attempts: attempts(attempted)?,
        slot: seconds("slot_s", slot)?,
        frame: seconds("frame_s", frame)?,
        handshake,
        sifs: seconds("sifs_s", sifs)?,
        ack: seconds("ack_s", ack)?,
        difs: seconds("difs_s", difs)?,
        timeout: seconds("timeout_s", timeout)?,
        turnaround: seconds("turnaround_s", turnaround)?,
        payload: bytes("payload_bytes", payload)?,
    };
    let solved = hidden::saturation(&pair).map_err(words)?;
    Ok(vec![solved.success_probability, solved.drop_probability, solved.successes_per_second, solved.throughput_bps])
}

fn hidden_pair(row: &Row) -> Solved {
    pair(row, None)
}

fn hidden_pair_rts(row: &Row) -> Solved {
    let [rts, cts, data_attempts] = numbers(&row[..3])?;
    let handshake = Handshake {
        rts: seconds("rts_s", rts)?,
        cts: seconds("cts_s", cts)?,
        data_attempts: whole("data_attempts", data_attempts)?,
    };
    pair(&row[3..], Some(handshake))
}
