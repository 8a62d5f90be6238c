//! Graphs from text: DOT digraphs and plain lists of edges.
//!
//! Of DOT the plain subset: vertices, chains of edges, groups in braces, subgraphs; attributes are read over. An edge list has one
//! edge a line, `u v` or `u -> v`, or one vertex; `#` starts a comment. Nearly every list of words would be one, also a list of
//! passwords: so there is an edge in it, its names have no punctuation, and errors quote names only of what has an arrow or is DOT.

mod token;

use super::errors;
use super::graph::Graph;
use crate::diagnostic::Diagnostic;
use crate::read::{SourceId, Span};
use token::{Token, tokens};

/// The deepest nesting of subgraphs.
const MAX_DEPTH: usize = 100;

/// The most edges that a text may stand for: an edge between two groups joins each vertex with each.
const MAX_EDGES: usize = 5_000_000;

/// The graph in a text, free of cycles.
pub fn read(source: SourceId, text: &str) -> Result<Graph, Diagnostic> {
    let whole = Span { source, start: 0, end: text.len() as u32 };
    let mut graph = if is_dot(text) { Reading::new(source, text)?.graph()? } else { edge_list(source, text)? };
    graph.declared = is_dot(text) || text.contains("->");
    if graph.vertices.is_empty() {
        return Err(errors::not_a_graph(whole, "the graph has no vertices"));
    }
    graph.acyclic(None)
}

/// A text with a brace is meant as DOT; names in an edge list have none.
fn is_dot(text: &str) -> bool {
    text.contains('{')
}

fn edge_list(source: SourceId, text: &str) -> Result<Graph, Diagnostic> {
    let mut graph = Graph::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span { source, start: start as u32, end: (start + line.trim_end().len()) as u32 };
        start += line.len();
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().filter(|&word| word != "->").collect();
        match words[..] {
            [] => {}
            [vertex] if !line.contains("->") => {
                graph.add_vertex(vertex);
            }
            [from, to] => {
                let (from, to) = (graph.add_vertex(from), graph.add_vertex(to));
                graph.add_edge(from, to);
            }
            _ => return Err(errors::not_a_graph(span, "a line of an edge list has two vertices: u v, or u -> v")),
        }
        if !words.iter().all(|word| is_plain(word)) {
            let why = "a name in a list of edges has letters, digits, -, _ and . in it; DOT has others, in quotes";
            return Err(errors::not_a_graph(span, why));
        }
    }
    if graph.edges() == 0 && !graph.vertices.is_empty() {
        let whole = Span { source, start: 0, end: start as u32 };
        return Err(errors::not_a_graph(whole, "a list of edges has at least one: u v, or u -> v"));
    }
    Ok(graph)
}

/// Whether a word can be a name in a list of edges.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || ['-', '_', '.'].contains(&c) || !c.is_ascii())
}

struct Reading {
    source: SourceId,
    tokens: Vec<(Token, Span)>,
    next: usize,
    edges: usize,
    graph: Graph,
}

impl Reading {
    fn new(source: SourceId, text: &str) -> Result<Self, Diagnostic> {
        Ok(Self { source, tokens: tokens(source, text)?, next: 0, edges: 0, graph: Graph::default() })
    }

    fn graph(mut self) -> Result<Graph, Diagnostic> {
        self.accept_word("strict");
        if self.accept_word("graph") {
            return Err(errors::undirected(self.here()));
        }
        if !self.accept_word("digraph") {
            return Err(errors::not_a_graph(self.here(), "a DOT file starts with digraph"));
        }
        if matches!(self.peek(), Some(Token::Name(_))) {
            self.next += 1;
        }
        self.expect('{')?;
        self.statements(0)?;
        if self.next < self.tokens.len() {
            return Err(errors::not_a_graph(self.here(), "there is text after the graph"));
        }
        Ok(self.graph)
    }

    /// Statements up to the closing brace; the vertices they mention.
    fn statements(&mut self, depth: usize) -> Result<Vec<usize>, Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(errors::not_a_graph(self.here(), "subgraphs are nested too deep"));
        }
        let mut mentioned = Vec::new();
        loop {
            match self.peek() {
                Some(Token::Mark('}')) => {
                    self.next += 1;
                    return Ok(mentioned);
                }
                Some(Token::Mark(';' | ',')) => self.next += 1,
                Some(_) => self.statement(depth, &mut mentioned)?,
                None => return Err(errors::not_a_graph(self.here(), "a brace is not closed")),
            }
        }
    }

    fn statement(&mut self, depth: usize, mentioned: &mut Vec<usize>) -> Result<(), Diagnostic> {
        let defaults = ["graph", "node", "edge"].iter().any(|word| self.accept_word(word));
        if !defaults && !self.is_assignment() {
            self.chain(depth, mentioned)?;
        }
        self.attributes()
    }

    /// `a = b`, an attribute of the graph.
    fn is_assignment(&mut self) -> bool {
        let three = self.tokens.get(self.next..self.next + 3);
        let found = matches!(three, Some([(Token::Name(_), _), (Token::Mark('='), _), (Token::Name(_), _)]));
        if found {
            self.next += 3;
        }
        found
    }

    /// `a -> {b c} -> d`.
    fn chain(&mut self, depth: usize, mentioned: &mut Vec<usize>) -> Result<(), Diagnostic> {
        let mut tails = self.end(depth)?;
        mentioned.extend(&tails);
        while let Some(Token::Arrow | Token::Line) = self.peek() {
            if self.peek() == Some(&Token::Line) {
                return Err(errors::undirected(self.here()));
            }
            self.next += 1;
            let heads = self.end(depth)?;
            self.edges = self.edges.saturating_add(tails.len().saturating_mul(heads.len()));
            if self.edges > MAX_EDGES {
                return Err(errors::not_a_graph(self.here(), "the graph has more than 5,000,000 edges"));
            }
            for &tail in &tails {
                heads.iter().for_each(|&head| self.graph.add_edge(tail, head));
            }
            mentioned.extend(&heads);
            tails = heads;
        }
        Ok(())
    }

    /// One end of an edge: a vertex, perhaps with a port, or a group.
    fn end(&mut self, depth: usize) -> Result<Vec<usize>, Diagnostic> {
        if self.accept_word("subgraph") && matches!(self.peek(), Some(Token::Name(_))) {
            self.next += 1;
        }
        match self.peek().cloned() {
            Some(Token::Mark('{')) => {
                self.next += 1;
                self.statements(depth + 1)
            }
            Some(Token::Name(name)) => {
                self.next += 1;
                while self.peek() == Some(&Token::Mark(':')) {
                    self.next += 2;
                }
                Ok(vec![self.graph.add_vertex(&name)])
            }
            _ => Err(errors::not_a_graph(self.here(), "a vertex is expected here")),
        }
    }

    /// Attribute lists, read over.
    fn attributes(&mut self) -> Result<(), Diagnostic> {
        while self.peek() == Some(&Token::Mark('[')) {
            let open = self.here();
            while self.peek().is_some_and(|token| *token != Token::Mark(']')) {
                self.next += 1;
            }
            if self.peek().is_none() {
                return Err(errors::not_a_graph(open, "a bracket is not closed"));
            }
            self.next += 1;
        }
        Ok(())
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    /// Where the next token stands, or the last if there is no next.
    fn here(&self) -> Span {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(Span { source: self.source, start: 0, end: 0 }, |&(_, span)| span)
    }

    fn expect(&mut self, mark: char) -> Result<(), Diagnostic> {
        if self.peek() != Some(&Token::Mark(mark)) {
            return Err(errors::not_a_graph(self.here(), &format!("{mark} is expected here")));
        }
        self.next += 1;
        Ok(())
    }

    /// Takes a keyword, which DOT knows in any case.
    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name.eq_ignore_ascii_case(word));
        self.next += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Vec<String> {
        let graph = read(SourceId(0), text).unwrap();
        let mut edges: Vec<String> = Vec::new();
        for (to, from) in graph.predecessors.iter().enumerate() {
            edges.extend(from.iter().map(|&from| format!("{}>{}", graph.vertices[from], graph.vertices[to])));
        }
        edges.sort();
        edges
    }

    fn code(text: &str) -> &'static str {
        read(SourceId(0), text).unwrap_err().code
    }

    #[test]
    fn dot_in_many_dresses() {
        let text = r#"/* a */ strict digraph "g" { rankdir=LR; node [shape=circle, label="x -> y"];
            a -> b -> c [color=red]; # no edge: d -> e
            {x; y} -> "c \"d\"":n // port
            subgraph cluster_0 { p -> q } }"#;
        assert_eq!(edges(text), ["a>b", "b>c", "p>q", "x>c \"d\"", "y>c \"d\""]);
    }

    #[test]
    fn edge_lists_with_and_without_arrows() {
        assert_eq!(edges("a b\nb -> c # last\n\nlone\n"), ["a>b", "b>c"]);
        assert_eq!(read(SourceId(0), "digraph { only }").unwrap().vertices, ["only"]);
    }

    #[test]
    fn what_is_no_acyclic_digraph_is_refused() {
        assert_eq!(code("graph { a -- b }"), "E0522");
        assert_eq!(code("digraph { a -- b }"), "E0522");
        assert_eq!(code("digraph { a -> b -> a }"), "E0523");
        assert_eq!(code("a b\nb a\n"), "E0523");
        assert_eq!(code("a b c\n"), "E0521");
        assert_eq!(code("a -> \n"), "E0521");
        for other in ["", "only\n", "only\nwords\n", "PASSWORD=hunter2\na b\n", "password: hunter2\n"] {
            assert_eq!(code(other), "E0521", "{other}");
        }
        for broken in ["digraph {", "digraph { a -> }", "digraph { a [x ", "digraph { \"a }", "digraph { < }", "{ a }"]
        {
            assert_eq!(code(broken), "E0521", "{broken}");
        }
        assert_eq!(code(&format!("digraph {}", "{".repeat(5_000))), "E0521");
    }
}
