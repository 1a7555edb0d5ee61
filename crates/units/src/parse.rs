//! placeholder
/// placeholder
#[derive(Debug)]
pub struct ParseError;
