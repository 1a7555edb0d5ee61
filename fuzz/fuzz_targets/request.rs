//! Reading a client's request never panics; what is complete stays what it was when more comes, and nothing stays
//! incomplete for ever.

#![no_main]

use libfuzzer_sys::fuzz_target;
use linux::telemetry::serve::request::{LONGEST, read};

fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes);
    assert!(bytes.len() < LONGEST || whole != Ok(None));
    if let Some(less) = bytes.len().checked_sub(1)
        && let Ok(Some(request)) = read(&bytes[..less])
    {
        assert_eq!(whole, Ok(Some(request)));
    }
});
