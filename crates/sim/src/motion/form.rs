//! The forms of movement files.

use super::{Fault, Movements, fcd, setdest};

/// The form of a movement file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tcl of ns-2's `setdest`, `BonnMotion` and SUMO.
    Setdest,
    /// Floating car data of SUMO, in XML.
    Fcd,
}

/// Reads the movements of a file's nodes.
///
/// # Errors
/// The file has another form, or names the first invalid line.
pub fn read(bytes: &[u8], form: Form) -> Result<Movements, Fault> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let start = start.trim_start().lines().next().unwrap_or_default();
    if let Some(told) = other_form(start, form) {
        return Err(Fault::new(1, start, 0, told.to_owned()));
    }
    match form {
        Form::Setdest => setdest::read(bytes),
        Form::Fcd => fcd::read(bytes),
    }
}

/// Returns the name of the form that a file with this start has, if it is not the expected form.
fn other_form(start: &str, form: Form) -> Option<&'static str> {
    let is_table = start.contains("vehicle_id") || start.contains("timestep_time");
    match form {
        Form::Setdest if start.starts_with('<') => Some("this is XML: the model `fcd` reads data of SUMO"),
        Form::Fcd if start.starts_with(['$', '#']) => {
            Some("this is not XML: for movements of ns-2 choose the model `setdest`")
        }
        _ if is_table && !start.starts_with('<') => Some("this is CSV: export floating car data as XML, to `FILE.xml`"),
        _ if start.starts_with("PAR1") => Some("this is Parquet: export floating car data as XML, to `FILE.xml`"),
        Form::Fcd | Form::Setdest => None,
    }
}
