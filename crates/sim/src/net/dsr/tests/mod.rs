//! Tests of DSR.
