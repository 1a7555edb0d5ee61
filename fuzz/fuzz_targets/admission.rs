//! Reading a message of admission never panics, whatever the bytes, and what is read is written as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linux::admission::message::{LENGTH, Message};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = Message::read(bytes) {
        assert!(bytes.len() == LENGTH && message.write() == bytes);
    }
});
