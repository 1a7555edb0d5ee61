//! Runs as a person sees them: a progress bar, warnings, Ctrl-C.

use crate::console::complain;
use crate::failure::{Failure, INTERRUPTED};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::run::Watch;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{thread, time};
use units::Duration;

/// How long after Ctrl-C a command may go on.
const GRACE: time::Duration = time::Duration::from_millis(700);

/// Prints the warnings of runs to standard error.
pub(crate) fn warn(warnings: &BTreeSet<&str>) {
    for warning in warnings {
        complain(format_args!("warning: {warning}"));
    }
}

/// Watches runs for a person: a bar on standard error if that is a terminal, and Ctrl-C.
#[derive(Debug)]
pub(crate) struct Console {
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
}

impl Console {
    /// Takes over Ctrl-C: the first asks the runs to stop, the second stops the program. Work that does not stop within
    /// [`GRACE`], such as building a large network or the report of a large sweep, is stopped too: files are written
    /// completely or not at all.
    pub(crate) fn new() -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let handler = move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            thread::spawn(end_anyway);
        };
        ctrlc::set_handler(handler).map_err(|error| Failure::failed(format!("cannot take over Ctrl-C: {error}")))?;
        Ok(Self { stop, bar: ProgressBar::hidden() })
    }

    /// Begins a bar for so much simulated time.
    pub(crate) fn begin(&mut self, name: &str, total: Duration) {
        if !io::stderr().is_terminal() {
            return;
        }
        let style = "{msg} [{bar:30}] {percent:>3} %  {elapsed} of about {duration}";
        let style = ProgressStyle::with_template(style).expect("the template is well formed").progress_chars("=> ");
        let target = ProgressDrawTarget::stderr_with_hz(5);
        self.bar = ProgressBar::with_draw_target(Some(milliseconds(total)), target).with_style(style);
        self.bar.set_message(name.to_owned());
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Ends the program [`GRACE`] after Ctrl-C, if it is still running.
#[expect(clippy::disallowed_methods, reason = "a person's patience is real time")]
fn end_anyway() {
    thread::sleep(GRACE);
    complain("error: interrupted; what was finished is kept");
    std::process::exit(i32::from(INTERRUPTED));
}

impl Watch for Console {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn advanced(&self, by: Duration) {
        self.bar.inc(milliseconds(by));
    }
}

fn milliseconds(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}
