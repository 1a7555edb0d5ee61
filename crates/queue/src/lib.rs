//! Disciplines: the mechanisms that hold packets, enforce a limit, choose what to drop, and measure.
//!
//! Generic over the packet; time is given by the caller; no clock, no I/O, no allocation after construction. A queue
//! never computes a limit: that is a controller's work.
