//! The real side: a child process that answers documents line by line.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// The program of one release, running.
pub struct Real {
    child: Child,
    questions: Option<BufWriter<ChildStdin>>,
    answers: BufReader<ChildStdout>,
}

impl Real {
    /// Starts the program.
    pub fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(questions), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the program has no pipes"));
        };
        Ok(Self { child, questions: Some(BufWriter::new(questions)), answers: BufReader::new(answers) })
    }

    /// Asks about some documents, as many as pipes can hold at a time.
    pub fn ask(&mut self, docs: &[Value]) -> io::Result<Vec<Value>> {
        let Some(questions) = &mut self.questions else { return Err(io::Error::other("the program has ended")) };
        let answers = &mut self.answers;
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                for doc in docs {
                    writeln!(questions, "{doc}")?;
                }
                questions.flush()
            });
            let mut read = Vec::with_capacity(docs.len());
            for _ in docs {
                read.push(answer(answers)?);
            }
            writing.join().map_err(|_| io::Error::other("the writer panicked"))??;
            Ok(read)
        })
    }

    /// Asks about one document.
    pub fn ask_one(&mut self, doc: &Value) -> io::Result<Value> {
        Ok(self.ask(std::slice::from_ref(doc))?.pop().unwrap_or_default())
    }
}

fn answer(answers: &mut impl BufRead) -> io::Result<Value> {
    let mut line = String::new();
    if answers.read_line(&mut line)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the real side ended early"));
    }
    serde_json::from_str(&line).map_err(io::Error::other)
}

impl Drop for Real {
    fn drop(&mut self) {
        // Without questions it ends by itself.
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}
