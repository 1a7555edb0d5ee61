//! Text in columns of a terminal: tables, wrapped lines, and blocks of columns that fit on a page.

use std::ops::Range;

/// The layout of a table's columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns<'c> {
    /// Columns that are aligned to the right.
    pub right: &'c [usize],
    /// Columns whose text may be broken at spaces; in other columns only the head may be.
    pub prose: &'c [usize],
}

/// Formats a table with a line under its head. If the table would be wider than `most`, columns are made narrower, so
/// that all have about as many lines. A row whose first cell is empty belongs to the row before it.
pub fn table<H: AsRef<str>, R: AsRef<[String]>>(head: &[H], rows: &[R], columns: &Columns, most: usize) -> String {
    let head: Vec<String> = head.iter().map(|title| title.as_ref().to_owned()).collect();
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let widths = widths(&head, &rows, columns, most);
    let mut text = String::new();
    push_rows(&mut text, &[&head], &widths, columns.right);
    let line: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    push_rows(&mut text, &[&line], &widths, columns.right);
    for rows in rows.chunk_by(|_, next| next.first().is_some_and(String::is_empty)) {
        push_rows(&mut text, rows, &widths, columns.right);
    }
    text
}

/// Returns the width of each column. Columns are characters that a text takes in one line.
pub(super) fn widths(head: &[String], rows: &[&[String]], columns: &Columns, most: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = head.iter().map(|title| width(title)).collect();
    let mut least: Vec<usize> = head.iter().map(|title| longest_word(title)).collect();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let unbroken = if columns.prose.contains(&column) { longest_word(cell) } else { width(cell) };
            widths[column] = widths[column].max(width(cell));
            least[column] = least[column].max(unbroken);
        }
    }
    let lines = |column: usize, width: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain([&head[column]]);
        cells.map(|cell| wrap(cell, width).len()).sum::<usize>()
    };
    // Number of lines of a column that is made narrower by one.
    let mut next: Vec<Option<usize>> = (0..head.len()).map(|_| None).collect();
    while widths.iter().map(|width| width + 2).sum::<usize>() > most + 2 {
        let loose = (0..head.len()).filter(|&column| widths[column] > least[column]);
        let told = loose.map(|column| {
            let lines = *next[column].get_or_insert_with(|| lines(column, widths[column] - 1));
            (lines, usize::MAX - widths[column], column)
        });
        let Some((_, _, column)) = told.min() else { break };
        widths[column] -= 1;
        next[column] = None;
    }
    widths
}

/// Writes the rows of a group. A cell that is filled only in the first row may use the height of all rows.
fn push_rows(text: &mut String, rows: &[&[String]], widths: &[usize], right: &[usize]) {
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); widths.len()];
    let flows = |column: usize| rows[1..].iter().all(|row| row.get(column).is_none_or(String::is_empty));
    let mut height = 0;
    for (rank, row) in rows.iter().enumerate() {
        let start = height;
        for (column, cell) in row.iter().enumerate().filter(|(column, _)| rank == 0 || !flows(*column)) {
            columns[column].resize(start, String::new());
            columns[column].extend(wrap(cell, widths[column]));
            if !flows(column) || rows.len() == 1 {
                height = height.max(columns[column].len());
            }
        }
        height = height.max(start + 1);
    }
    let height = columns.iter().map(Vec::len).fold(height, usize::max);
    for number in 0..height {
        let mut line = String::new();
        for (column, (cell, &width)) in columns.iter().zip(widths).enumerate() {
            let cell = cell.get(number).map_or("", String::as_str);
            let room = " ".repeat(width.saturating_sub(self::width(cell)));
            let (before, after) = if right.contains(&column) { (room.as_str(), "") } else { ("", room.as_str()) };
            line.extend([before, cell, after, "  "]);
        }
        text.push_str(&line.trim_end().replace('\u{a0}', " "));
        text.push('\n');
    }
}

/// Wraps text to lines of at most `columns`, all but the first indented by `indent`. Keeps spaces in the first line.
pub fn wrapped(text: &str, columns: usize, indent: usize) -> String {
    let head: String = text.chars().take(indent).collect();
    let rest: String = text.chars().skip(indent).collect();
    let gap = if rest.starts_with(' ') { " " } else { "" };
    let lines = wrap(&rest, columns.saturating_sub(indent));
    head + gap + &lines.join(&format!("\n{:indent$}", ""))
}

/// Splits at plain spaces and line breaks: a no-break space keeps a value and its unit together.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\t']).filter(|word| !word.is_empty())
}

/// Breaks text at spaces; a word that is wider than the column stays whole.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if width(line) + 1 + width(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns the number of columns of the longest word.
pub(super) fn longest_word(text: &str) -> usize {
    words(text).map(width).fold(0, usize::max)
}

/// Returns the number of columns that a text takes in one line.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Splits columns of these widths into blocks of at most `room`, with at least one column each.
pub(crate) fn blocks(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (column, width) in widths.iter().enumerate() {
        match blocks.last_mut() {
            Some(block) if used + width <= room => block.end = column + 1,
            _ => {
                blocks.push(column..column + 1);
                used = 0;
            }
        }
        used += width;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn columns_are_parted_where_the_page_ends() {
        assert_eq!(blocks(&[10, 10, 10, 25, 5], 22), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(blocks(&[10, 10], 20), vec![0..2]);
        assert!(blocks(&[], 20).is_empty());
    }
}
