//! Reading a movement file never panics, whatever the bytes; a fault lies on one of the file's lines. The first byte says
//! which form the file has.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::motion::{Form, read};

fuzz_target!(|bytes: &[u8]| {
    let Some((&form, file)) = bytes.split_first() else { return };
    let form = if form % 2 == 0 { Form::Setdest } else { Form::Fcd };
    if let Err(fault) = read(file, form) {
        let lines = file.split(|&byte| byte == b'\n').count();
        assert!((1..=lines).contains(&fault.line) && fault.column > 0 && !fault.message.is_empty());
    }
});
