use super::{NONE, Owner};

/// The free blocks of each owner, by size.
#[derive(Debug)]
pub(crate) struct Bins {
    grain_bits: u32,
    /// By the number of the owner.
    cells: Vec<Cells>,
    /// By the number of the block, which is in one list.
    links: Vec<Link>,
}

/// A row for each power of two, sixteen columns in it, a list in each cell, and one bit for each
/// cell that has something.
#[derive(Debug)]
struct Cells {
    rows: u64,
    columns: [u16; ROWS],
    heads: [[u32; COLUMNS]; ROWS],
}

#[derive(Clone, Copy, Debug)]
struct Link {
    size_bytes: u64,
    previous: u32,
    next: u32,
}

const COLUMN_BITS: u32 = 4;
const COLUMNS: usize = 1 << COLUMN_BITS;
/// Enough for 64-bit sizes, whatever the grain.
const ROWS: usize = 61;

#[derive(Clone, Copy)]
struct Cell {
    row: usize,
    column: usize,
}

impl Bins {
    /// For sizes that are multiples of two to the power of `grain_bits`.
    pub(crate) fn new(grain_bits: u32) -> Self {
        Self { grain_bits, cells: vec![Cells::new()], links: Vec::new() }
    }

    pub(crate) fn add_owner(&mut self) -> Owner {
        self.cells.push(Cells::new());
        Owner(self.cells.len() as u32 - 1)
    }

    pub(crate) fn is_empty(&self, owner: Owner) -> bool {
        self.cells[owner.0 as usize].rows == 0
    }

    pub(crate) fn link(&mut self, owner: Owner, index: u32, size_bytes: u64) {
        let cell = cell(size_bytes >> self.grain_bits);
        let next = self.cells[owner.0 as usize].set_head(cell, index);
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = index;
        }
        let slot = index as usize;
        if slot >= self.links.len() {
            self.links.resize(slot + 1, Link { size_bytes: 0, previous: NONE, next: NONE });
        }
        self.links[slot] = Link { size_bytes, previous: NONE, next };
    }

    pub(crate) fn unlink(&mut self, owner: Owner, index: u32, size_bytes: u64) {
        let Link { previous, next, .. } = self.links[index as usize];
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = previous;
        }
        match self.links.get_mut(previous as usize) {
            Some(previous) => previous.next = next,
            None => {
                let cell = cell(size_bytes >> self.grain_bits);
                self.cells[owner.0 as usize].set_head(cell, next);
            }
        }
    }

    /// A block of the owner of at least `size_bytes`: the newest of its own cell if that fits, else
    /// any from the cells above, where all fit, and last any that fits in its own cell. So a size
    /// that was given back is found again, and none that fits is missed.
    pub(crate) fn find(&self, owner: Owner, size_bytes: u64) -> Option<u32> {
        let cells = &self.cells[owner.0 as usize];
        let cell = cell(size_bytes >> self.grain_bits);
        let fits = |index: &u32| {
            self.links.get(*index as usize).is_some_and(|link| link.size_bytes >= size_bytes)
        };
        let own = cells.heads[cell.row][cell.column];
        Some(own).filter(fits).or_else(|| cells.above(cell)).or_else(|| self.list(own).find(fits))
    }

    /// All free blocks of the owner.
    pub(crate) fn all(&self, owner: Owner) -> Vec<u32> {
        let heads = self.cells[owner.0 as usize].heads.iter().flatten();
        heads.flat_map(|&head| self.list(head)).collect()
    }

    fn list(&self, head: u32) -> impl Iterator<Item = u32> {
        let next =
            |index: &u32| Some(self.links[*index as usize].next).filter(|&next| next != NONE);
        std::iter::successors(Some(head).filter(|&head| head != NONE), next)
    }
}

impl Cells {
    const fn new() -> Self {
        Self { rows: 0, columns: [0; ROWS], heads: [[NONE; COLUMNS]; ROWS] }
    }

    /// The list of the cell begins with this block now. The one that it began with before.
    fn set_head(&mut self, Cell { row, column }: Cell, head: u32) -> u32 {
        if head == NONE {
            self.columns[row] &= !(1 << column);
            if self.columns[row] == 0 {
                self.rows &= !(1 << row);
            }
        } else {
            self.columns[row] |= 1 << column;
            self.rows |= 1 << row;
        }
        std::mem::replace(&mut self.heads[row][column], head)
    }

    /// The head of the first cell after this one that has something.
    fn above(&self, Cell { row, column }: Cell) -> Option<u32> {
        let columns = u32::from(self.columns[row]) & (u32::MAX << (column + 1));
        if columns != 0 {
            return Some(self.heads[row][columns.trailing_zeros() as usize]);
        }
        let rows = self.rows & (u64::MAX << (row + 1));
        if rows == 0 {
            return None;
        }
        let row = rows.trailing_zeros() as usize;
        Some(self.heads[row][self.columns[row].trailing_zeros() as usize])
    }
}

/// The cell of a size in grains: exact below [`COLUMNS`], then a sixteenth of a power of two wide.
fn cell(grains: u64) -> Cell {
    match grains.checked_ilog2() {
        Some(power) if power >= COLUMN_BITS => Cell {
            row: (power - COLUMN_BITS + 1) as usize,
            column: (grains >> (power - COLUMN_BITS)) as usize & (COLUMNS - 1),
        },
        _ => Cell { row: 0, column: grains as usize },
    }
}
