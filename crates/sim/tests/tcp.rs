//! TCP flows and pings in a network.

mod networks;

use networks::{network, run};

/// A server, 100 Mb/s and `delay` away from an access point, and a station next to it.
fn access_point(delay: &str, more: &str) -> String {
    format!(
        "duration = \"10 s\"\n[radio]\nstandard = \"802.11g\"\n[mac]\naccess = \"edca\"\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nname = \"s\"\nposition = [\"5 m\", \"0 m\"]\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"100 Mb/s\"\ndelay = \"{delay}\"\n{more}"
    )
}

fn tcp(name: &str, from: &str, to: &str, traffic: &str) -> String {
    format!(
        "[[flow]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"tcp\"\ntraffic = {{ {traffic} }}\n"
    )
}

#[test]
fn try_it() {
    let text = access_point("10 ms", "") + &tcp("f", "server", "s", "kind = \"greedy\"") + "[[flow]]\nname=\"p\"\nfrom=\"s\"\nto=\"server\"\ntraffic={kind=\"ping\"}\n";
    let outcome = run(&text, 1);
    println!("{}", serde_json::to_string_pretty(&outcome.flows).unwrap());
}
