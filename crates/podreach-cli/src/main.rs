//! The `podreach` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    podreach_cli::main()
}
