//! Full-screen output on a terminal, which is restored at the end.

use crate::console::complain;
use crate::failure::{FAILED, Failure};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

/// Escape sequences that enter the alternate screen and hide the cursor, and that undo this.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A terminal in full-screen use; dropping it restores the terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    out: io::Stdout,
    former: Termios,
}

impl Terminal {
    /// Enters full-screen use; `None` if standard output or input is no terminal. A panic also restores the terminal.
    pub(crate) fn enter() -> Result<Option<Self>, Failure> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Ok(None);
        }
        let failed = |errno| Failure::failed(format!("cannot use the terminal: {errno}"));
        let former = tcgetattr(io::stdin()).map_err(failed)?;
        let mut ours = former.clone();
        // Keys arrive at once, without echo. Ctrl-Z is disabled, as it would leave this screen to the shell.
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        ours.special_codes[SpecialCodeIndex::VSUSP] = 0;
        let terminal = Self { out: io::stdout(), former };
        terminal.leave_on_panic();
        tcsetattr(io::stdin(), OptionalActions::Now, &ours).map_err(failed)?;
        write(&terminal.out, ENTER)?;
        Ok(Some(terminal))
    }

    fn leave_on_panic(&self) {
        let former = self.former.clone();
        std::panic::set_hook(Box::new(move |panic| {
            leave(&former);
            complain(format_args!("error: this is a fault in Sluice: {panic}"));
            std::process::exit(i32::from(FAILED));
        }));
    }

    /// Returns the number of columns and of rows; 80 and 24 if they are unknown.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(&self.out).map_or((0, 0), |size| (size.ws_col, size.ws_row));
        // If the size of a terminal is unknown, it reports 0.
        let or = |given: u16, usual| if given == 0 { usual } else { usize::from(given) };
        (or(size.0, 80), or(size.1, 24))
    }

    /// Replaces the screen by as many of `lines` as `rows` allows.
    pub(crate) fn draw(&self, lines: &[String], rows: usize) -> Result<(), Failure> {
        let mut text = String::from("\x1b[H");
        for (number, line) in lines.iter().take(rows).enumerate() {
            let next = if number == 0 { "" } else { "\r\n" };
            let _ = write!(text, "{next}{line}\x1b[K");
        }
        text.push_str("\x1b[J");
        write(&self.out, &text)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        leave(&self.former);
    }
}

/// Restores the terminal. Ignores errors: if the terminal is closed, there is nothing to do.
fn leave(former: &Termios) {
    let _ = write(&io::stdout(), LEAVE);
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, former);
}

fn write(out: &io::Stdout, text: &str) -> Result<(), Failure> {
    let mut out = out.lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::failed(format!("cannot write to the terminal: {error}")))
}
