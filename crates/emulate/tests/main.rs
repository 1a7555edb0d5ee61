//! The tests of crate `emulate`: one binary, so that its dependencies are linked once.
#![expect(clippy::unwrap_used, reason = "all of this is tests")]

mod groups;
mod medium;
mod quic;
mod tcp;

/// Returns a scenario's text: a laptop and its access point, which a wire joins to a server; the laptop and the server
/// are real. `queue` describes the access point's queue, `more` follows.
fn home(queue: &str, more: &str) -> String {
    format!(
        "title = \"A home\"\nduration = \"10 s\"\n[radio]\nstandard = \"802.11n\"\n\
         [[node]]\nname = \"ap\"\nrole = \"access-point\"\nposition = [\"0 m\", \"0 m\"]\n{queue}\n\
         [[node]]\nname = \"laptop\"\nposition = [\"5 m\", \"0 m\"]\nreal = true\n\
         [[node]]\nname = \"server\"\nrole = \"wired\"\nreal = true\n\
         [[wired]]\nbetween = [\"server\", \"ap\"]\nrate = \"1 Gb/s\"\ndelay = \"5 ms\"\n{more}"
    )
}

/// Neighbours that download.
const NEIGHBOURS: &str = "[[node]]\nname = \"neighbour\"\ncount = 4\nposition = [\"0 m\", \"5 m\"]\n\
                          [[flow]]\nname = \"download\"\nfrom = \"server\"\nto = \"neighbour*\"\n\
                          transport = \"tcp\"\ntraffic.kind = \"greedy\"\n";
