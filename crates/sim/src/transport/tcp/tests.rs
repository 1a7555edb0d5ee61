//! Traces by hand after the RFCs, properties under any order of events, and both ends over a link of fixed rate.

mod handshake;

mod loss;
mod mark;
mod properties;

mod receiving;
mod trace;
mod windows;
