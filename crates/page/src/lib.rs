//! The simulator behind a web page. A page writes a request as JSON, calls a function, and reads its answer as JSON.
//! For the same scenario the results equal those of the command, to the last byte.
//!
//! There are no files, threads or clocks here: the page decides how far a network runs. `stage` runs a network that the
//! page shows, `trial` an experiment of a report with other values. This file is the boundary to JavaScript.
#![expect(unsafe_code, reason = "a function that JavaScript finds by its name is exported without mangling")]

mod stage;
mod trial;

pub use stage::{Request, Stage};
pub use trial::{Experiment, Trial};

use serde::Serialize;
use std::cell::RefCell;
use units::Duration;

thread_local! {
    /// WebAssembly has one thread, so there is one boundary.
    static BOUNDARY: RefCell<Boundary> = const { RefCell::new(Boundary::NEW) };
}

/// What JavaScript and Rust exchange.
struct Boundary {
    input: Vec<u8>,
    output: String,
    /// The open networks; the index is a network's number. `None` if a network was closed.
    stages: Vec<Option<Stage>>,
    /// The experiment that is running, at most one.
    experiment: Option<Experiment>,
}

impl Boundary {
    const NEW: Self = Self { input: Vec::new(), output: String::new(), stages: Vec::new(), experiment: None };

    fn answer(&mut self, answer: &impl Serialize) {
        // The answer has only text and finite numbers.
        self.output = serde_json::to_string(answer).unwrap_or_default();
    }

    fn open(&mut self) -> i32 {
        let opened = serde_json::from_slice::<Request>(&self.input)
            .map_err(|error| stage::Refused::from(error.to_string()))
            .and_then(|request| Stage::open(&request));
        match opened {
            Ok(stage) => {
                self.answer(&stage.described());
                let free = self.stages.iter().position(Option::is_none).unwrap_or(self.stages.len());
                self.stages.resize_with(self.stages.len().max(free + 1), || None);
                self.stages[free] = Some(stage);
                i32::try_from(free).unwrap_or(-1)
            }
            Err(refused) => {
                self.answer(&refused);
                -1
            }
        }
    }

    /// Reads the experiment of the request, or continues the one that was read. If it is refused, the answer says so.
    fn experiment(&mut self, begin: bool) {
        if begin {
            let read = serde_json::from_slice::<Trial>(&self.input);
            let opened = read.map_err(|error| stage::Refused::from(error.to_string()));
            match opened.and_then(|trial| Experiment::open(&trial)) {
                Ok(experiment) => self.experiment = Some(experiment),
                Err(refused) => return self.answer(&refused),
            }
        }
        match self.experiment.as_mut().map(Experiment::advance) {
            Some(Ok(progress)) => self.answer(&progress),
            Some(Err(refused)) => self.answer(&refused),
            None => self.answer(&stage::Refused::from("no experiment was begun".to_owned())),
        }
    }

    fn stage(&mut self, number: u32) -> Option<&mut Option<Stage>> {
        self.stages.get_mut(number as usize)
    }
}

/// Makes room for a request of this many bytes. Returns the address to which the page must write the request.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    BOUNDARY.with_borrow_mut(|boundary| {
        boundary.input.clear();
        boundary.input.resize(bytes, 0);
        boundary.input.as_mut_ptr()
    })
}

/// Returns the address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    BOUNDARY.with_borrow(|boundary| boundary.output.as_ptr())
}

/// Returns the length of the last answer, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    BOUNDARY.with_borrow(|boundary| boundary.output.len())
}

/// Opens the network of the request. Returns its number, or -1; the answer then has the reason.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> i32 {
    BOUNDARY.with_borrow_mut(Boundary::open)
}

/// Runs a network for this number of microseconds of simulated time, but for a few thousand events at most. The answer
/// has the events.
#[unsafe(no_mangle)]
pub extern "C" fn advance(number: u32, microseconds: f64) {
    BOUNDARY.with_borrow_mut(|boundary| {
        // A cast to an integer saturates.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, negative is zero")]
        let span = Duration::from_micros(microseconds as u64);
        let seen = boundary.stage(number).and_then(Option::as_mut).map(|stage| stage.advance(span));
        boundary.answer(&seen);
    });
}

/// Closes a network. If it has run to its end, the answer has its results, as `sluice run --json` prints them.
#[unsafe(no_mangle)]
pub extern "C" fn close(number: u32) {
    BOUNDARY.with_borrow_mut(|boundary| {
        let outcome = boundary.stage(number).and_then(Option::take).and_then(Stage::close);
        boundary.answer(&outcome);
    });
}

/// Runs an experiment for a slice. The answer has its progress or its charts. A `begin` other than zero first begins
/// the request's experiment.
#[unsafe(no_mangle)]
pub extern "C" fn experiment(begin: u32) {
    BOUNDARY.with_borrow_mut(|boundary| boundary.experiment(begin != 0));
}
