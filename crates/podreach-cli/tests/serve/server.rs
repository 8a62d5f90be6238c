//! A running `podreach serve`, and what a page does with it, over plain sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// A running server; it ends when this is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer: its status, its head and its body; the status is 0 where there was none.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}

impl Server {
    /// Runs a command that ends in `podreach serve`, and reads from its first line where it listens.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("podreach serves http://127.0.0.1:").expect("an address on loopback");
        let (port, token) = address.split_once("/#").expect("a token");
        Self { child, port: port.parse().expect("a port"), token: token.to_owned() }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        stream
    }

    /// Sends bytes as they are, and reads until the server ends the connection.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A refusal may come before everything was taken.
        let _ = stream.write_all(request);
        answer(stream)
    }

    /// The fields by which the server knows its own page.
    pub(crate) fn own(&self) -> String {
        format!(
            "Host: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\nAuthorization: Bearer {1}\r\n",
            self.port, self.token
        )
    }

    pub(crate) fn request(&self, method: &str, path: &str, fields: &str, body: &str) -> Answer {
        self.send(request(method, path, fields, body).as_bytes())
    }

    /// A request of the page to get something.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &self.own(), "")
    }

    /// A request of the page to answer something, as it is sent.
    pub(crate) fn posted(&self, path: &str, body: &Value) -> String {
        let fields = format!("{}Content-Type: application/json\r\n", self.own());
        request("POST", path, &fields, &body.to_string())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.posted(path, body).as_bytes())
    }

    /// Waits for a job; the answer that has its end.
    pub(crate) fn ended(&self, started: &Answer) -> Answer {
        assert_eq!(started.status, 202, "{}", started.body);
        let path = format!("/api/jobs/{}", started.json()["id"]);
        loop {
            let answer = self.get(&path);
            if answer.json()["state"] != "running" {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Reads an answer, until the server ends the connection.
pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8(text).expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// A request as it is sent.
pub(crate) fn request(method: &str, path: &str, fields: &str, body: &str) -> String {
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    format!("{method} {path} HTTP/1.1\r\n{fields}{length}\r\n{body}")
}
