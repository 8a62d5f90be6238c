//! One heap for all threads, or nearly: what `serve` holds is to depend on what it remembers, and not on how many threads it ever had.
//!
//! The C library gives threads that work at the same time heaps of their own, which keep what was freed in them. Every request and every job has
//! a thread, so that the process would grow for hours to several times of what it needs. How many heaps there are is settled when
//! a process starts, by its environment; so the program starts itself once more, as the same process, before it has done anything.

/// What says how many heaps there may be.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: &str = "MALLOC_ARENA_MAX";

/// Starts the program anew with few heaps, unless their number is settled; where that does not work, it goes on as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn unite() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(HEAPS).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| "podreach".into());
    // This is the file that runs, whatever has become of its name.
    let _ = std::process::Command::new("/proc/self/exe").arg0(name).args(arguments).env(HEAPS, "2").exec();
}

/// Other systems have one heap.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn unite() {}
