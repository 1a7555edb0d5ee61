//! Reading a movement file never panics, whatever the bytes; a fault lies on one of the file's lines. The first byte says
//! how many nodes the scenario has.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::motion::read;

fuzz_target!(|bytes: &[u8]| {
    let Some((&nodes, file)) = bytes.split_first() else { return };
    if let Err(fault) = read(file, usize::from(nodes)) {
        let lines = file.split(|&byte| byte == b'\n').count();
        assert!((1..=lines).contains(&fault.line) && fault.column > 0 && !fault.message.is_empty());
    }
});
