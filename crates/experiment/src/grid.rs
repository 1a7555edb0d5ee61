//! A table of a scenario with its values: rows, columns, and in each cell the means over the seeds.

use crate::claims::{Case, Question, Results, matches};
use crate::statistics::{Interval, interval};
use crate::study::{Claim, Study, Table, Together};
use crate::title;
use itertools::Itertools as _;

/// A table of a study with its figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    /// The name of the rows' axis.
    pub(crate) axis: String,
    pub(crate) rows: Vec<String>,
    /// The labels on the columns' axes: one column for each combination.
    pub(crate) columns: Vec<Vec<String>>,
    /// Values in the order row, column, cell; NaN if there is none.
    pub(crate) values: Vec<Vec<Vec<Interval>>>,
}

impl Grid {
    /// Computes the table of a study's runs. The values are in the units of the cells' titles, or else in SI units.
    pub(crate) fn new(study: &Study, table: &Table) -> Self {
        let labels = |name: &String| -> Vec<String> {
            let axis = study.axes.iter().find(|axis| axis.name == *name);
            let shown = |label: &&String| table.cases.get(name).is_none_or(|labels| labels.contains(label));
            axis.into_iter().flat_map(|axis| axis.labels.iter().filter(shown).cloned()).collect()
        };
        let rows = labels(&table.rows);
        let columns: Vec<Vec<String>> = table.columns.iter().map(labels).multi_cartesian_product().collect();
        let cells: Vec<Vec<Entry>> = table.cell.iter().map(|cell| entries(study, table, cell)).collect();
        let value = |row: &String, column: &Vec<String>, entries: &Vec<Entry>| {
            let here = |case: &Case| {
                let mut wanted = table.columns.iter().zip(column).chain([(&table.rows, row)]);
                wanted.all(|(axis, label)| case.get(axis) == Some(label))
            };
            let found: Vec<&Entry> = entries.iter().filter(|entry| here(entry.case)).collect();
            let of_seed = |seed: usize| found.iter().map(|e| e.by_seed[seed]).sum::<f64>() / found.len() as f64;
            interval(&(0..study.seeds.len()).map(of_seed).collect::<Vec<_>>())
        };
        let in_column = |row: &String, column: &Vec<String>| cells.iter().map(|e| value(row, column, e)).collect();
        let in_row = |row: &String| columns.iter().map(|column| in_column(row, column)).collect();
        let values = rows.iter().map(in_row).collect();
        Self { axis: table.rows.clone(), rows, columns, values }
    }
}

/// The values of a cell for one case, one for each seed.
struct Entry<'s> {
    case: &'s Case,
    by_seed: Vec<f64>,
}

fn entries<'s>(study: &'s Study, table: &Table, cell: &crate::study::Cell) -> Vec<Entry<'s>> {
    let together = cell.together.unwrap_or(Together::Mean);
    let asked = Claim::plain(&cell.measure, Some(together), &table.cases, &cell.against, cell.compare);
    let seeds = study.seeds.len();
    let answer = Results::new(seeds, &study.runs).answer(&Question::from(&asked));
    let unit = title::unit(&cell.measure, &cell.against, cell.compare);
    let factor = title::factor(&cell.title, &cell.measure, unit).unwrap_or(1.0);
    let cases = answer.cases.iter().enumerate();
    cases
        .map(|(rank, index)| {
            let value = |rows: &Vec<Vec<f64>>| rows[rank].first().map_or(f64::NAN, |value| value * factor);
            let by_seed = answer.by_seed.iter().map(value).collect();
            Entry { case: &study.runs[index * seeds].case, by_seed }
        })
        .filter(|entry| matches(&table.cases, entry.case))
        .collect()
}
