//! Disciplines that are Python classes and decide about each packet.

use control::Count;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use queue::own::{PerPacket, Verdict};
use serde_json::Value;
use units::{Bytes, Instant};

/// Registers a discipline. `make` gets a seed and its table as JSON, and returns functions `enqueue` and `dequeue`.
#[pyfunction]
pub(crate) fn register(name: &str, make: Py<PyAny>) -> PyResult<()> {
    let build = move |table: Value, seed: u64| {
        let functions = Python::attach(|py| make.bind(py).call1((seed, table.to_string()))?.extract());
        let (enqueue, dequeue) = functions.map_err(|error: PyErr| error.to_string())?;
        Ok(Box::new(InPython { enqueue, dequeue }) as Box<dyn PerPacket>)
    };
    queue::register(name, build).map_err(PyValueError::new_err)
}

#[derive(Debug)]
struct InPython {
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
}

impl PerPacket for InPython {
    fn enqueue(&mut self, now: Instant, packet: u64, length: Bytes, flow: u64, backlog: Count, fits: bool) -> Verdict {
        let given = (packet, length.count(), flow, now.as_secs_f64(), backlog.packets, fits);
        Python::attach(|py| read(py, self.enqueue.bind(py).call1(given)))
    }

    fn dequeue(&mut self, now: Instant, backlog: Count) -> Verdict {
        Python::attach(|py| read(py, self.dequeue.bind(py).call1((now.as_secs_f64(), backlog.packets))))
    }
}

/// Reads an answer. The number of a packet means that it passes, the number's complement that it is dropped.
fn read(py: Python<'_>, answer: PyResult<Bound<'_, PyAny>>) -> Verdict {
    match answer.and_then(|answer| answer.extract::<i64>()) {
        Ok(number @ 0..) => Verdict::Pass(number.unsigned_abs()),
        Ok(number) => Verdict::Drop((!number).unsigned_abs()),
        Err(error) => {
            if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                // The signal comes again when the run has stopped.
                let _ = py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
            }
            let line = error.traceback(py).and_then(|trace| trace.getattr("tb_lineno").ok());
            Verdict::Fault(format!("raises {error}{}", line.map_or_else(String::new, |line| format!(" (line {line})"))))
        }
    }
}
