//! The `podreach` command.

fn main() {}
