//! Stops runs from Python.

use experiment::watch::Watch;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Stops the runs that have this value.
#[pyclass(frozen, module = "sluice._sluice")]
#[derive(Default)]
pub(crate) struct Stop {
    stopped: AtomicBool,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Stops the runs within milliseconds.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watch for Stop {
    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Stops the run for which the interpreter waits when a signal handler raises an exception, for example after Ctrl-C.
pub(crate) struct Signals<'s> {
    stop: &'s Stop,
    raised: Mutex<Option<PyErr>>,
}

impl<'s> Signals<'s> {
    pub(crate) fn new(stop: &'s Stop) -> Self {
        Self { stop, raised: Mutex::new(None) }
    }

    /// Returns the exception that a handler raised.
    pub(crate) fn raised(self) -> PyResult<()> {
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        raised.map_or(Ok(()), Err)
    }
}

impl Watch for Signals<'_> {
    fn stopped(&self) -> bool {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is of one lifetime")]
        let checked = Python::attach(|py| py.check_signals());
        if let Err(error) = checked {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            return true;
        }
        Watch::stopped(self.stop)
    }
}
