//! A scenario in Python: its text, its changes, and what was read from them.

use crate::error::{refused, wrong};
use experiment::scenario::{Refusal, Scenario as Ready, Wishes};
use lab::files::{self, Folder};
use lab::home;
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The origin of a scenario's text.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// Name of the file, as messages give it.
    pub(crate) name: String,
    /// The id if the text has none.
    pub(crate) stem: String,
    pub(crate) text: String,
    /// Folder of the files that the text names.
    pub(crate) folder: PathBuf,
    /// Changed keys with their values: `queue.limit=50`.
    pub(crate) set: Vec<String>,
}

impl Words {
    pub(crate) fn read(&self, wishes: &Wishes) -> Result<Ready, Refusal> {
        Ready::read(&self.name, &self.stem, self.text.as_bytes(), &Folder(&self.folder), wishes)
    }
}

/// A scenario that was read and checked.
#[pyclass(frozen, module = "sluice._sluice")]
pub(crate) struct Scenario {
    pub(crate) words: Words,
    pub(crate) ready: Ready,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario from text. `folder` is the folder of the files that the text names.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        stem: String,
        folder: PathBuf,
        set: Vec<String>,
    ) -> PyResult<Self> {
        let words = Words { name, stem, text, folder, set };
        let wishes = Wishes { set: words.set.clone(), base_only: true, ..Wishes::default() };
        let ready = py.detach(|| words.read(&wishes)).map_err(|refusal| refused(py, &refusal))?;
        Ok(Self { words, ready })
    }

    /// Reads a scenario from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: &str) -> PyResult<Self> {
        let path = Path::new(path);
        let text = std::fs::read_to_string(path);
        // The lab's own message says why the file cannot be read as text.
        let Ok(text) = text else {
            let refusal = files::load(path, &Wishes::default()).err();
            let refusal = refusal.unwrap_or_else(|| Refusal::file(&path.display().to_string(), "cannot be read"));
            return Err(refused(py, &refusal));
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::new(py, text, path.display().to_string(), stem, folder, Vec::new())
    }

    #[getter]
    fn id(&self) -> &str {
        &self.ready.id
    }

    #[getter]
    fn title(&self) -> &str {
        &self.ready.title
    }

    #[getter]
    fn about(&self) -> &str {
        &self.ready.about
    }

    /// Returns the arguments that make the same scenario anew, in their order.
    #[getter]
    fn words(&self) -> (&str, &str, &str, &Path, &[String]) {
        let Words { name, stem, text, folder, set } = &self.words;
        (text, name, stem, folder, set)
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.ready.seeds.clone()
    }

    #[getter]
    fn axes(&self) -> BTreeMap<&str, &[String]> {
        self.ready.axes.iter().map(|axis| (axis.name.as_str(), axis.labels.as_slice())).collect()
    }

    /// Returns how many seconds a run simulates, including the warm-up.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.ready.base.duration.as_secs_f64()
    }
}

/// Returns the file of the scenario with this id; returns a path unchanged.
#[pyfunction]
pub(crate) fn scenario_file(py: Python<'_>, path: String) -> PyResult<String> {
    let target = Path::new(&path);
    if target.exists() || !home::is_word(target) {
        return Ok(path);
    }
    let found = home::home().and_then(|home| home::by_id(&path, &home));
    let found = found.map_err(|error| refused(py, &Refusal::file(&path, error.to_string())))?;
    Ok(found.display().to_string())
}

/// Converts a dictionary, given as JSON, to TOML.
#[pyfunction]
pub(crate) fn toml_from_json(json: &str) -> PyResult<String> {
    toml::to_string_pretty(&serde_json::from_str::<Value>(json).map_err(wrong)?).map_err(wrong)
}

/// Converts a value, given as JSON, to TOML as it is written after `=`.
#[pyfunction]
pub(crate) fn toml_value_from_json(json: &str) -> PyResult<String> {
    serde_json::from_str(json).map(|value: toml::Value| value.to_string()).map_err(wrong)
}
