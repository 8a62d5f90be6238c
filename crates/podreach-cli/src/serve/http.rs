//! HTTP/1.1, as much as one page needs: one request per connection, within a time and a size, or a refusal.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest a request may take to arrive, and an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest head of a request.
const HEAD: usize = 16 << 10;
/// The most header fields.
const FIELDS: usize = 64;
/// The largest body.
const BODY: usize = 256 << 10;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    /// The method.
    pub(super) method: String,
    /// The path, without a query.
    pub(super) path: String,
    fields: Vec<(String, String)>,
    /// The body.
    pub(super) body: Vec<u8>,
}

impl Request {
    /// The value of a header field; `None` unless it is there exactly once.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut values =
            self.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        values.next().filter(|_| values.next().is_none())
    }

    /// Whether a header field is there at all.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name))
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    /// The status code.
    pub(super) status: u16,
    /// What the body is.
    pub(super) kind: &'static str,
    /// The body, in pieces: what is large is shared with all who get it.
    pub(super) body: Vec<Arc<str>>,
}

impl Response {
    /// A document for the page.
    pub(super) fn json(status: u16, value: &serde_json::Value) -> Self {
        Self::text(status, vec![value.to_string().into()])
    }

    /// A document that is text already.
    pub(super) fn text(status: u16, body: Vec<Arc<str>>) -> Self {
        Self { status, kind: "application/json", body }
    }

    /// A refusal, with one sentence.
    pub(super) fn refusal(status: u16, why: &str) -> Self {
        Self::json(status, &serde_json::json!({"error": why}))
    }
}

/// Reads a request; an error is the answer to give instead.
pub(super) fn request(stream: &TcpStream) -> Result<Request, Response> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let (mut request, length) = loop {
        if let Some((request, head)) = head(&bytes)? {
            break (request, head);
        }
        if bytes.len() >= HEAD {
            return Err(Response::refusal(431, "the head of the request is too large"));
        }
        more(stream, &mut bytes, deadline, HEAD)?;
    };
    let expected = body_length(&request)?;
    while bytes.len() < length + expected {
        more(stream, &mut bytes, deadline, length + expected)?;
    }
    request.body = bytes[length..length + expected].to_vec();
    Ok(request)
}

/// The head of a request and its length, once it is complete.
pub(super) fn head(bytes: &[u8]) -> Result<Option<(Request, usize)>, Response> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Response::refusal(431, "the request has too many fields")),
        Err(_) => return Err(Response::refusal(400, "this is not an HTTP request")),
    };
    let text =
        |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Response::refusal(400, "a field is not text"));
    let fields = parsed.headers.iter().map(|field| Ok((field.name.to_owned(), text(field.value)?)));
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().split('?').next().unwrap_or_default().to_owned(),
        fields: fields.collect::<Result<_, _>>()?,
        body: Vec::new(),
    };
    Ok(Some((request, length)))
}

pub(super) fn body_length(request: &Request) -> Result<usize, Response> {
    if request.has("transfer-encoding") {
        return Err(Response::refusal(501, "a body comes in one piece, with its length"));
    }
    if !request.has("content-length") {
        return Ok(0);
    }
    let length = request.field("content-length").filter(|length| length.bytes().all(|byte| byte.is_ascii_digit()));
    match length.and_then(|length| length.parse::<usize>().ok()) {
        Some(length) if length <= BODY => Ok(length),
        Some(_) => Err(Response::refusal(413, "the body is too large")),
        None => Err(Response::refusal(400, "the length of the body is not a number")),
    }
}

/// Reads some more, until the deadline.
fn more(mut stream: &TcpStream, bytes: &mut Vec<u8>, deadline: Instant, most: usize) -> Result<(), Response> {
    let late = || Response::refusal(408, "the request took too long");
    let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).ok_or_else(late)?;
    stream.set_read_timeout(Some(left)).map_err(|_| late())?;
    let mut buffer = [0; 4096];
    let room = (most - bytes.len()).min(buffer.len());
    match stream.read(&mut buffer[..room]) {
        Ok(0) => Err(Response::refusal(400, "the request ended too early")),
        Ok(count) => {
            bytes.extend_from_slice(&buffer[..count]);
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
        Err(_) => Err(late()),
    }
}

/// Sends an answer and ends the connection.
pub(super) fn respond(mut stream: &TcpStream, response: &Response) {
    let Response { status, kind, body } = response;
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Content-Security-Policy: {}; connect-src 'self'; frame-ancestors 'none'\r\n\r\n",
        phrase(*status),
        body.iter().map(|piece| piece.len()).sum::<usize>(),
        *podreach::report::html::POLICY,
    );
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let mut pieces = std::iter::once(head.as_str()).chain(body.iter().map(|piece| &**piece));
    if pieces.try_for_each(|piece| stream.write_all(piece.as_bytes())).is_ok() {
        let _ = stream.shutdown(Shutdown::Write);
        drain(stream);
    }
}

/// Takes what a refused request still sends, up to a point: closing on it could undo the answer before it is read.
fn drain(mut stream: &TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut buffer = [0; 4096];
    for _ in 0..2 * BODY / buffer.len() {
        if !matches!(stream.read(&mut buffer), Ok(count) if count > 0) {
            break;
        }
    }
}

/// Says that there are too many already, without waiting for anything.
pub(super) fn turn_away(mut stream: &TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let _ = stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Not Implemented",
    }
}
