//! A simulated network that carries packets of Python programs.

use crate::error::failed;
use crate::run::Run;
use crate::scenario::Scenario;
use emulate::{Delivery, NotSent};
use experiment::watch::Timed;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// Simulated time between two looks at signals.
const SLICE: Duration = Duration::from_millis(10);

/// A delivery: times of delivery and of the push in seconds, source and destination, bytes, DSCP with ECN, and routers.
type Delivered = (f64, f64, String, String, Vec<u8>, u8, u8);

/// A network whose real nodes take packets.
#[pyclass(unsendable, module = "sluice._sluice")]
pub(crate) struct Medium {
    scenario: experiment::scenario::Scenario,
    seed: u64,
    /// `None` once the network is finished.
    inner: Option<emulate::Medium>,
}

#[pymethods]
impl Medium {
    #[new]
    fn new(py: Python<'_>, scenario: &Bound<'_, Scenario>, seed: u64) -> PyResult<Self> {
        let scenario = scenario.get().ready.clone().without_variations(seed);
        let medium = emulate::Medium::new(&scenario.base, seed).map_err(|error| failed(py, &error.to_string()))?;
        Ok(Self { scenario, seed, inner: Some(medium) })
    }

    #[getter]
    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.running(py)?.nodes().map(str::to_owned).collect())
    }

    #[getter]
    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.running(py)?.now().as_secs_f64())
    }

    fn addresses(&self, py: Python<'_>, node: &str) -> PyResult<Option<Vec<String>>> {
        let addresses = self.running(py)?.addresses(node);
        Ok(addresses.map(|both| both.iter().map(ToString::to_string).collect()))
    }

    fn send(
        &mut self,
        py: Python<'_>,
        now_s: f64,
        source: &str,
        destination: &str,
        payload: &[u8],
        tos: u8,
    ) -> PyResult<()> {
        let now = span(now_s)?;
        let sent = self.running_mut(py)?.send(now, source, destination, payload, tos);
        sent.map_err(|refusal| refused(py, &refusal))
    }

    fn send_packet(&mut self, py: Python<'_>, now_s: f64, source: &str, packet: &[u8]) -> PyResult<()> {
        let now = span(now_s)?;
        self.running_mut(py)?.send_packet(now, source, packet).map_err(|refusal| refused(py, &refusal))
    }

    fn poll(&mut self, py: Python<'_>, until_s: f64) -> PyResult<Option<Delivered>> {
        let until = span(until_s)?;
        let delivery = loop {
            let medium = self.running_mut(py)?;
            let step = until.min(medium.now() + SLICE);
            let found = medium.poll(step);
            if found.is_some() || step == until {
                break found;
            }
            py.check_signals()?;
            // Other threads may run.
            py.detach(|| ());
        };
        let told = |Delivery { at, sent, from, to, bytes, tos, routers }: Delivery| {
            (at.as_secs_f64(), sent.as_secs_f64(), from, to, bytes, tos, routers)
        };
        Ok(delivery.map(told))
    }

    fn next_event(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.running(py)?.next_event().map(|at| at.as_secs_f64()))
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<Run> {
        let Some(medium) = self.inner.take() else { return Err(over(py)) };
        medium.sound().map_err(|why| refused(py, &why))?;
        let timed = Timed { outcome: medium.finish(), wall_s: 0.0, cpu_s: 0.0 };
        Ok(Run::new(self.scenario.clone().without_variations(self.seed), timed))
    }
}

/// Returns the IP packet as it is after its way; `None` if its TTL runs out.
#[pyfunction]
pub(crate) fn carried(packet: Vec<u8>, tos: u8, routers: u8) -> Option<Vec<u8>> {
    let mut packet = packet;
    emulate::ip::carry(&mut packet, tos, routers).then_some(packet)
}

impl Medium {
    fn running(&self, py: Python<'_>) -> PyResult<&emulate::Medium> {
        self.inner.as_ref().ok_or_else(|| over(py))
    }

    fn running_mut(&mut self, py: Python<'_>) -> PyResult<&mut emulate::Medium> {
        self.inner.as_mut().ok_or_else(|| over(py))
    }
}

fn over(py: Python<'_>) -> PyErr {
    failed(py, "the run is finished")
}

fn refused(py: Python<'_>, refusal: &NotSent) -> PyErr {
    match refusal {
        NotSent::Failed { why } => failed(py, why),
        _ => PyValueError::new_err(refusal.to_string()),
    }
}

/// Converts a time in seconds, rounded to whole nanoseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within bounds")]
fn span(seconds: f64) -> PyResult<Duration> {
    if (0.0..=1e9).contains(&seconds) {
        return Ok(Duration::from_nanos((seconds * 1e9).round() as u64));
    }
    Err(PyValueError::new_err(format!("the time is {seconds} s: expected 0 to 1e9 s since the start of the run")))
}
