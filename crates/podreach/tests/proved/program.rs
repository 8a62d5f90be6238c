//! The extracted program, asked one document after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Proved {
    child: Child,
    documents: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Proved {
    /// The program, if there is one to compare with.
    pub(crate) fn start() -> Option<Self> {
        let program = std::env::var_os("PODREACH_PROVED")?;
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program of PODREACH_PROVED starts");
        let documents = child.stdin.take().expect("it reads");
        let answers = BufReader::new(child.stdout.take().expect("it writes"));
        Some(Self { child, documents, answers })
    }

    /// Its answer to each document of a text.
    pub(crate) fn ask(&mut self, documents: &str) -> Vec<String> {
        self.documents.write_all(documents.as_bytes()).expect("it reads all");
        self.documents.flush().expect("it reads all");
        let asked = documents.lines().filter(|line| *line == "end").count();
        (0..asked).map(|_| self.answer(documents)).collect()
    }

    /// Whether it accepts every document of a text.
    pub(crate) fn accepts(&mut self, documents: &str) -> bool {
        let answers = self.ask(documents);
        assert!(answers.iter().all(|answer| ["proved", "refused"].contains(&&**answer)), "{answers:?}");
        answers.iter().all(|answer| answer == "proved")
    }

    fn answer(&mut self, documents: &str) -> String {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        assert!(!answer.is_empty(), "no answer to\n{documents}");
        answer.trim_end().to_owned()
    }
}

impl Drop for Proved {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
