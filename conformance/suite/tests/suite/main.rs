//! The suite's own tests: fixtures, judge, reports.

mod fixtures;
