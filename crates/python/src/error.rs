//! Raises exceptions: the package's own are defined in Python.

use experiment::scenario::Refusal;
use experiment::watch::Fault;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Creates a `sluice.ScenarioError`.
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let told = refusal.to_string();
    // If a key was changed in Python, the message leaves out the option of the command line.
    let told = if refusal.change().is_some() { told.trim_start_matches("--set ") } else { &told };
    let place = refusal.position();
    let (line, column) = (place.map(|(line, _)| line), place.map(|(_, column)| column));
    let file = refusal.file_name();
    raised(py, "ScenarioError", |class| {
        class.call1((told, refusal.message(), file, line, column, refusal.change(), refusal.nearest()))
    })
}

/// Creates a `ValueError`.
pub(crate) fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Creates a `sluice.RunError`.
pub(crate) fn failed(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "RunError", |class| class.call1((message,)))
}

/// Returns the exception that a controller in Python raised, or a `sluice.RunError`.
pub(crate) fn raised_outside(py: Python<'_>, fault: Fault) -> PyErr {
    match fault.downcast::<PyErr>() {
        Ok(error) => *error,
        Err(fault) => failed(py, &fault.to_string()),
    }
}

/// Creates a `sluice.StoreError`.
pub(crate) fn unkept(py: Python<'_>, message: &str) -> PyErr {
    // What is an option of the command is an argument in Python.
    let message = message.trim_end_matches(" with --out");
    raised(py, "StoreError", |class| class.call1((message,)))
}

/// Creates a `sluice.ReplayError`.
pub(crate) fn unreplayed(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "ReplayError", |class| class.call1((message,)))
}

/// Creates a `sluice.TheoryError` about the arguments in this row.
pub(crate) fn unsolved(py: Python<'_>, message: &str, row: usize) -> PyErr {
    raised(py, "TheoryError", |class| class.call1((message, row)))
}

fn raised<'py>(py: Python<'py>, name: &str, make: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>) -> PyErr {
    let class = py.import("sluice._errors").and_then(|module| module.getattr(name));
    match class.and_then(|class| make(&class)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
