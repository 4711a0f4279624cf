//! Behaviour of the whole driver.
