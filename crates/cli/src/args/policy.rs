//! The arguments that choose a controller.

use clap::Args as Group;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use control::Name;

/// The controller of a queue and its settings.
#[derive(Debug, Group)]
pub(crate) struct Policy {
    /// The controller that sets the limit. `ebdp` and `astar` suit TCP; `adth` suits streams without congestion
    /// control, and starves TCP. `turns` needs no controller.
    #[arg(long, value_name = "NAME", value_parser = schemes())]
    pub(crate) controller: Option<Scheme>,
    /// The controller's target delay: "50 ms". Without a controller, the target of `turns` or of mac80211's knobs
    /// [default: 100 ms].
    #[arg(long, value_name = "TIME")]
    pub(crate) target_delay: Option<units::Duration>,
    /// Set a key of the queue. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Scheme that governs a queue: a controller, or turns, which have none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme(pub(crate) Option<Name>);

/// Parses the name of a scheme; the help text lists all names.
fn schemes() -> impl TypedValueParser<Value = Scheme> {
    const TURNS: &str = "turns";
    let names = Name::ALL.iter().map(|name| name.as_str()).chain([TURNS]);
    let parse =
        |name: String| if name == TURNS { Ok(Scheme(None)) } else { name.parse().map(|name| Scheme(Some(name))) };
    PossibleValuesParser::new(names).try_map(parse)
}

impl Policy {
    pub(crate) fn controller(&self) -> Option<Name> {
        self.controller.and_then(|scheme| scheme.0)
    }
}
