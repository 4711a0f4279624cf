//! How far a run has come, for a person who waits.

/// Called on the thread that started the run.
pub trait Progress {
    /// So many things will be done.
    fn expect(&mut self, total: u64) {
        let _ = total;
    }

    /// So many more are done; the last of them is called `name`.
    fn advance(&mut self, count: u64, name: &str) {
        let _ = (count, name);
    }
}

/// Nobody waits.
impl Progress for () {}
