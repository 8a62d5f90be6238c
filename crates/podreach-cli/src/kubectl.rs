//! The same command as a plugin of kubectl: `kubectl podreach`.

use std::process::ExitCode;

fn main() -> ExitCode {
    podreach_cli::main()
}
