//! Aligned columns of text.

/// Lines of aligned columns; the first is aligned left, the others right. Trailing blanks are cut.
pub(crate) fn align(rows: &[Vec<String>], left: usize) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    rows.iter().map(|row| line(row, &widths, left)).collect()
}

fn line(row: &[String], widths: &[usize], left: usize) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
        if column < left { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") }
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
