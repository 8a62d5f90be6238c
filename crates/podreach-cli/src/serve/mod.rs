//! `podreach serve`: the page over a cluster, for this machine alone.
//!
//! The server is written out here and not taken from a framework. It answers one request per connection, on the loopback address, to
//! one reader; what that takes is less than what would have to be switched off elsewhere, and every limit is in `http.rs` to be
//! read. Parsing a request is left to `httparse`. Nothing here asks the network for anything.

mod access;
mod api;
mod attended;
mod exports;
mod heap;
mod http;
mod jobs;
mod launch;
mod orders;
mod refused;
mod world;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::args::Serve;
use crate::budget::Clock;
use crate::command::report::title;
use crate::input::session::Session;
use crate::output::ending::{Exit, Reported, refuse};
use crate::output::print;
use access::Access;
pub(crate) use heap::unite;
use world::World;

/// The most connections that are open at a time.
const CONNECTIONS: usize = 32;
/// How long to wait when the system gives nothing.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs the command, until it is interrupted.
pub(crate) fn run(args: &Serve, clock: &Clock) -> Result<Exit, Reported> {
    let session = Session::open(&args.cluster, args.remarks)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port));
    let listener = listener.map_err(|error| refuse(&format!("port {} cannot be used: {error}", args.port), None))?;
    let port = listener.local_addr().map_err(|error| refuse(&error.to_string(), None))?.port();
    let token = token()?;
    let address = format!("http://127.0.0.1:{port}/#{token}");
    print::data(&format!("podreach serves {address}\n(for this machine alone; Ctrl-C ends it)\n"));
    let launch = if args.open { launch::open(&address) } else { None };
    let title = args.title.clone().unwrap_or_else(|| title(&args.cluster.input));
    let world = World::new(session, args, title);
    let server = Arc::new(api::Server::new(world, Access::new(port, token, launch)));
    clock.hand_over();
    let watched = Arc::clone(&server);
    let watch = std::thread::Builder::new().name("watch".into()).spawn(move || watched.watch());
    watch.map_err(|error| refuse(&format!("there is no thread to watch the limits: {error}"), None))?;
    accept(&listener, &server);
    Ok(Exit::Yes)
}

/// A connection that counts, until it is dropped.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    /// One more, unless there are too many.
    fn take(open: &Arc<AtomicUsize>) -> Option<Self> {
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < CONNECTIONS).then_some(count + 1))
            .ok()
            .map(|_| Self(Arc::clone(open)))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers every connection in a thread of its own, up to a number of them.
fn accept(listener: &TcpListener, server: &Arc<api::Server>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // Without descriptors or threads the next one may have more luck, but not at once.
        let Ok(stream) = stream else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let Some(slot) = Slot::take(&open) else {
            http::turn_away(&stream);
            continue;
        };
        let server = Arc::clone(server);
        let answering = std::thread::Builder::new().spawn(move || {
            answer(&server, stream);
            drop(slot);
        });
        if answering.is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

fn answer(server: &Arc<api::Server>, stream: TcpStream) {
    let stream = Arc::new(stream);
    let response = match http::request(&stream) {
        Ok(request) => api::answer(server, &stream, &request),
        Err(refused) => refused,
    };
    http::respond(&stream, &response);
}

/// A secret that only whoever sees the terminal knows.
fn token() -> Result<String, Reported> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| refuse(&format!("there is no randomness: {error}"), None))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
