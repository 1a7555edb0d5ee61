//! Which queue is meant.

use crate::kernel::rtnetlink::ROOT;
use std::path::PathBuf;

/// Which queue: of which interface, and where on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface's name.
    pub device: String,
    /// [`ROOT`], or the class of a shaper, `1:1` as `0x1_0001`.
    pub parent: u32,
    /// Where the agent writes down what to put back: [`STATE_FOLDER`](crate::STATE_FOLDER).
    pub state_folder: PathBuf,
}

/// A place as `tc` writes it: `root`, or a class such as `1:10`.
pub fn shown_place(parent: u32) -> String {
    if parent == ROOT { "root".into() } else { format!("{:x}:{:x}", parent >> 16, parent & 0xffff) }
}

/// `1:1` as `tc` writes a class.
///
/// # Errors
/// What is expected instead.
pub fn class(text: &str) -> Result<u32, String> {
    let number = |text: &str| if text.is_empty() { Ok(0) } else { u16::from_str_radix(text, 16) };
    if text == "root" {
        return Ok(ROOT);
    }
    let parts = text.split_once(':').and_then(|(major, minor)| Some((number(major).ok()?, number(minor).ok()?)));
    match parts {
        Some((major, minor)) if major > 0 && minor > 0 => Ok(u32::from(major) << 16 | u32::from(minor)),
        _ => Err("expected root, or a class as tc writes it: 1:10".into()),
    }
}
