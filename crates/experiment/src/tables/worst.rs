//! The worst of very many rows.

/// Maximum number of rows that are all shown; the next constant is the number of rows shown of a longer table.
const MOST_ROWS: usize = 60;
const WORST_ROWS: usize = 10;

/// Keeps only the worst of too many rows, and says so in a line. Each row has a number; larger is worse.
pub(super) fn worst(mut rows: Vec<(f64, Vec<String>)>, what: &str, how: &str) -> (Vec<Vec<String>>, String) {
    let all = rows.len();
    let mut said = String::new();
    if all > MOST_ROWS {
        rows.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        rows.truncate(WORST_ROWS);
        said = format!("These are the {WORST_ROWS} of {all} {what} with the largest {how}; `--json` has all.\n");
    }
    (rows.into_iter().map(|(_, cells)| cells).collect(), said)
}
