//! The simulated wireless network.
