//! The command line of condenser.

fn main() {}
