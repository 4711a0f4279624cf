//! The pool of the reference manager of `emm`, over a driver that costs nothing.

use allocert_emm::{Manager, Pool, Token};

use crate::Allocates;
use crate::endless_driver::Endless;

impl Allocates for Pool<Endless> {
    type Block = Token;
    const NAME: &'static str = "pool of emm";

    fn alloc(&self, size_bytes: usize) -> Token {
        self.memalloc(size_bytes as u64).expect("endless memory").token
    }

    fn free(&self, block: Token) {
        self.release(block).expect("live");
    }
}
