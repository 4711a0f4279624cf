//! Every requirement has a case, every case a requirement, every mutant a requirement that exists.
