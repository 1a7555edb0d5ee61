//! Reading a note of a neighbour's agent never panics, whatever the bytes, and what is read is written as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linux::notes::message::{LONGEST, read, write};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(note) = read(bytes) {
        assert!(bytes.len() <= LONGEST && write(&note) == bytes);
    }
});
