//! Progress of runs on the terminal: a bar, warnings, and Ctrl-C.

use crate::console::complain;
use crate::failure::{Failure, INTERRUPTED};
use experiment::watch::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{thread, time};
use units::Duration;

/// Time after Ctrl-C at which the program ends in any case.
const GRACE: time::Duration = time::Duration::from_millis(700);

pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        complain(format_args!("warning: {warning}"));
    }
}

/// Shows a progress bar on standard error if that is a terminal, and handles Ctrl-C.
#[derive(Debug)]
pub(crate) struct Console {
    stop: Arc<AtomicBool>,
    bar: ProgressBar,
}

impl Console {
    /// Handles Ctrl-C. The first asks the runs to stop, and the second ends the program. The program also ends after
    /// [`GRACE`] if runs do not stop, for example while a large network is built. Files are whole or not written.
    pub(crate) fn new() -> Result<Self, Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let handler = move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
            thread::spawn(end_anyway);
        };
        ctrlc::set_handler(handler).map_err(|error| Failure::failed(format!("cannot catch Ctrl-C: {error}")))?;
        Ok(Self { stop, bar: ProgressBar::hidden() })
    }

    /// Starts a bar that ends at `total` of simulated time.
    pub(crate) fn begin(&mut self, name: &str, total: Duration) {
        if !io::stderr().is_terminal() {
            return;
        }
        let style = "{msg} [{bar:30}] {percent:>3} %  {elapsed}, about {eta} left";
        let style = ProgressStyle::with_template(style).expect("the template is well formed").progress_chars("=> ");
        let target = ProgressDrawTarget::stderr_with_hz(5);
        self.bar = ProgressBar::with_draw_target(Some(milliseconds(total)), target).with_style(style);
        self.bar.set_message(name.to_owned());
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Ends the program [`GRACE`] after Ctrl-C, if it still runs then.
#[expect(clippy::disallowed_methods, reason = "Ctrl-C is handled in wall-clock time")]
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
