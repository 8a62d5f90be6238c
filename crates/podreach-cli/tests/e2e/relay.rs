//! Between the program and the API server: passes bytes on, and holds back what comes from the server after the first so many until
//! it is let go.
//!
//! A test that waits for a while before it ends the server meets a program that has not begun, or one that is done, whenever the machine
//! is slower or faster than expected. Bytes are the same on every machine.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// A way to the server. It stays open until the server cannot be reached.
pub struct Relay {
    /// Its address, for `--server`.
    pub url: String,
    way: Way,
    held: Receiver<()>,
}

impl Relay {
    /// A way to the server at this port, for so many bytes from it.
    pub fn new(server: u16, bytes: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("its address"));
        let (hold, held) = channel();
        let way = Way { limit: Arc::new(AtomicUsize::new(bytes)), passed: Arc::default(), hold };
        let each = way.clone();
        thread::spawn(move || {
            for program in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
                each.clone().open(program, server);
            }
        });
        Self { url, way, held }
    }

    /// How many bytes came from the server.
    pub fn passed(&self) -> usize {
        self.way.passed.load(Ordering::SeqCst)
    }

    /// Waits until something is held back.
    pub fn wait(&self) {
        self.held.recv_timeout(Duration::from_secs(60)).expect("less is read than the relay lets through");
    }

    /// Lets everything through from now on.
    pub fn release(&self) {
        self.way.limit.store(usize::MAX, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Way {
    limit: Arc<AtomicUsize>,
    passed: Arc<AtomicUsize>,
    hold: Sender<()>,
}

impl Way {
    /// Both directions of a connection, each until one of its ends is closed.
    fn open(self, program: TcpStream, server: TcpStream) {
        let (mut asked, mut answered) = (program.try_clone().expect("a handle"), server.try_clone().expect("a handle"));
        thread::spawn(move || {
            let _ = std::io::copy(&mut asked, &mut answered);
            let _ = answered.shutdown(Shutdown::Write);
        });
        thread::spawn(move || self.answers(server, program));
    }

    fn answers(self, mut server: TcpStream, mut program: TcpStream) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = server.read(&mut buffer) {
            let passed = self.passed.fetch_add(count, Ordering::SeqCst) + count;
            if passed > self.limit.load(Ordering::SeqCst) {
                // It fails when nobody waits any more.
                let _ = self.hold.send(());
            }
            while passed > self.limit.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            if program.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = program.shutdown(Shutdown::Both);
    }
}
