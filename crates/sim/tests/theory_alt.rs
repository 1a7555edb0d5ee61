//! ALT under one TCP flow, compared with the fluid model of its buffer (`theory::alt`). The tolerance of 20 % is that of the
//! document's claims.

use crate::networks::run;
use sim::results::{Level, Outcome};
use theory::alt::{Buffer, utilisation};

/// Round-trip time without queues, in s.
const ROUND_TRIP: f64 = 0.2;

/// A greedy download over 100 Mb/s, 100 ms each way and 802.11g at 54/6 Mb/s. Acknowledgements go as voice and are not delayed,
/// so that the window grows by a packet per round trip. `queue` is added to the access point's settings.
fn download(queue: &str) -> Outcome {
    let network = r#"
duration = "600 s"
warmup = "200 s"
radio = { standard = "802.11g", data_rate = "54 Mb/s", basic_rate = "6 Mb/s" }
mac = { access = "edca", edca = { best_effort = { txop_limit = "0 s" }, voice = { txop_limit = "0 s" } } }
tcp = { ack_category = "voice", delayed_ack = "0 s" }
queue = { limit = 400 }
node = [
    { name = "station", position = ["5 m", "0 m"] },
    { name = "server", role = "wired" },
    { name = "ap", role = "access-point", position = ["0 m", "0 m"], queue = { limit = 1600, purge = "none", QUEUE } },
]
wired = [{ between = ["server", "ap"], rate = "100 Mb/s", delay = "100 ms" }]
flow = [{ name = "download", from = "server", to = "station", transport = "tcp", traffic = { kind = "greedy" } }]
"#;
    run(&network.replace("QUEUE", queue), 1)
}

/// Returns ALT's limit over time and the goodput, divided by the bandwidth-delay product and by the most that the link carries.
fn tuned(a: &str) -> (Level, f64) {
    // A queue of 1600 packets never empties, so its goodput is the link's rate.
    let most = download("").flows[0].goodput_bps;
    let product = most / 8_000.0 * ROUND_TRIP;
    let outcome = download(&format!("controller = \"alt\", alt = {{ a1 = {a}, initial = 500 }}"));
    let ap = outcome.nodes.iter().find(|node| node.name == "ap").expect("there is an access point");
    let queue = ap.queues.iter().find(|queue| queue.name == "be").expect("data goes as best effort");
    let Level { mean, min, max, last } = queue.limit_packets.expect("the limit is in packets");
    let level = Level { mean: mean / product, min: min / product, max: max / product, last: last / product };
    (level, outcome.flows[0].goodput_bps / most)
}

#[test]
fn one_flow_settles_at_five_sixths_of_the_product() {
    let model = Buffer::new([10.0, 1.0], 1.0 / ROUND_TRIP, 1.0, 0.5).expect("the parameters are in range");
    let (limit, used) = tuned("10");
    let expected = model.fixed_point();
    assert!((limit.mean / expected - 1.0).abs() <= 0.2, "{} of the product, not {expected}", limit.mean);
    // The smallest sizes are those at congestion events, which the model describes.
    assert!((limit.min / expected - 1.0).abs() <= 0.2, "{} of the product at events", limit.min);
    assert!(used >= utilisation(10.0, 1.0), "{used} of the link is used");
}

#[test]
fn with_a_of_100_the_size_swings_as_widely_as_the_model_does() {
    let (limit, used) = tuned("100");
    assert!((limit.min / (5.0 / 6.0) - 1.0).abs() <= 0.2, "at least {} of the product", limit.min);
    assert!((limit.max / (25.0 / 12.0) - 1.0).abs() <= 0.2, "at most {} of the product", limit.max);
    assert!(used >= utilisation(100.0, 1.0), "{used} of the link is used");
}
