//! Who may ask: only the page that this server sent, opened with the token that it printed.
//!
//! Another page in the same browser can also reach the loopback address. It cannot choose the Host that the browser sends, so a name
//! that was made to lead here (DNS rebinding) is refused; it cannot hide its Origin; and it does not know the token.

use std::sync::Mutex;

use super::http::{Request, Response};
use super::launch::LaunchFile;

/// The checks of one run.
#[derive(Debug)]
pub(super) struct Access {
    hosts: [String; 2],
    token: String,
    /// The file that leads to the page, until the page was opened.
    launch: Mutex<Option<LaunchFile>>,
}

impl Access {
    /// For a port and a token, and the way in that is no longer needed once the token was used.
    pub(super) fn new(port: u16, token: String, launch: Option<LaunchFile>) -> Self {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        Self { hosts, token, launch: Mutex::new(launch) }
    }

    /// Refuses what does not come from this machine's own page.
    pub(super) fn address(&self, request: &Request) -> Result<(), Response> {
        let host = request.field("host").is_some_and(|host| self.hosts.iter().any(|own| own == host));
        if !host {
            return Err(Response::refusal(421, "this server answers to 127.0.0.1 and localhost only"));
        }
        let own =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.hosts.iter().any(|own| own == host));
        let from_here = match request.field("origin") {
            Some(origin) => own(origin),
            None => !request.has("origin") && request.method == "GET",
        };
        let fetched = request.field("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
        if from_here && (fetched || is_visit(request)) {
            Ok(())
        } else {
            Err(Response::refusal(403, "this server answers to its own page only"))
        }
    }

    /// Refuses what does not know the token.
    pub(super) fn token(&self, request: &Request) -> Result<(), Response> {
        let given = request.field("authorization").and_then(|field| field.strip_prefix("Bearer "));
        if given.is_some_and(|given| equal(given.as_bytes(), self.token.as_bytes())) {
            drop(self.launch.lock().map(|mut launch| launch.take()));
            return Ok(());
        }
        Err(Response::refusal(401, "the token is missing or wrong: use the address that podreach printed"))
    }
}

/// Whether somebody goes to the page, from wherever: the page is the same for everyone and says nothing without the token.
fn is_visit(request: &Request) -> bool {
    let says = |field: &str, value: &str| request.field(field) == Some(value);
    request.method == "GET"
        && request.path == "/"
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document")
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}
