//! Tests: traces by hand after the RFCs, properties under any order of events, and both ends over a link of fixed rate.

mod bqm;
mod closed_form;
mod handshake;
mod link;
mod loss;
mod loss_by_time;
mod mark;
mod oracle;
mod prague;
mod properties;
mod receiving;
mod trace;
mod windows;
