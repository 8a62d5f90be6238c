//! The items of a list one at a time, so that the dump of a whole cluster never stands in memory as one tree.
//!
//! Only texts without errors are read this way to their end; whoever takes the pieces starts again with whole documents if one is met.

use super::duplicate::duplicate;
use super::{Entry, Parser, Piece, SourceId, Tree, Value};

/// Hands out the pieces of a JSON stream for as long as they are taken; `None` if one was not, or could not be read.
pub(crate) fn pieces<'a>(
    source: SourceId,
    text: &'a str,
    list: &str,
    take: &mut dyn FnMut(Piece<'_, 'a>) -> bool,
) -> Option<()> {
    let mut parser = Parser::new(source, text);
    while let Some(first) = parser.next_byte() {
        let document = if first == b'{' { parser.without(list, take)? } else { parser.value().ok()? };
        (document.value == Value::Null || take(Piece::Document(&document))).then_some(())?;
    }
    // What is worth knowing is said when the text is read as a whole.
    parser.notes.is_empty().then_some(())
}

impl<'a> Parser<'a> {
    /// A mapping at the top of the text; the items of this list of it are handed out and left out.
    fn without(&mut self, list: &str, take: &mut dyn FnMut(Piece<'_, 'a>) -> bool) -> Option<Tree<'a>> {
        let start = self.at;
        let mut entries = Vec::new();
        self.at += 1;
        self.depth = 1;
        let mut more = self.next_byte() != Some(b'}');
        if !more {
            self.at += 1;
        }
        while more {
            let (key, key_span) = self.key().ok()?;
            let is_list = key == list && self.next_byte() == Some(b'[');
            let value = if is_list { self.items(&entries, take)? } else { self.value().ok()? };
            entries.push(Entry { key, key_span, value });
            more = self.another(b'}', "`,` or `}`").ok()?;
        }
        self.depth = 0;
        duplicate(&entries).is_none().then(|| Tree { span: self.span_from(start), value: Value::Map(entries) })
    }

    /// Hands out the items of a list; what remains of it is empty.
    fn items(&mut self, head: &[Entry<'a>], take: &mut dyn FnMut(Piece<'_, 'a>) -> bool) -> Option<Tree<'a>> {
        let start = self.at;
        self.at += 1;
        self.depth = 2;
        let mut more = self.next_byte() != Some(b']');
        if !more {
            self.at += 1;
        }
        let mut item = Tree { span: self.span_from(start), value: Value::Null };
        while more {
            self.value_over(&mut item).ok()?;
            take(Piece::Item { head, item: &item }).then_some(())?;
            more = self.another(b']', "`,` or `]`").ok()?;
        }
        self.depth = 1;
        Some(Tree { span: self.span_from(start), value: Value::Seq(Vec::new()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the pieces, in order.
    fn read(text: &str) -> Option<Vec<&str>> {
        let mut texts = Vec::new();
        pieces(SourceId(0), text, "items", &mut |piece| {
            let (Piece::Item { item: tree, .. } | Piece::Document(tree)) = piece;
            texts.push(&text[tree.span.start as usize..tree.span.end as usize]);
            true
        })
        .map(|()| texts)
    }

    #[test]
    fn items_come_before_what_remains_of_their_list() {
        let text = r#"{"items": [{"a": 1}, 2], "kind": "List"} [3] null {}"#;
        assert_eq!(read(text).unwrap(), ["{\"a\": 1}", "2", &text[..40], "[3]", "{}"]);
        assert_eq!(read(r#"{"items": []}"#).unwrap(), [r#"{"items": []}"#]);
    }

    #[test]
    fn a_text_with_an_error_has_no_end() {
        let deep = format!(r#"{{"items": [{}{}]}}"#, "[".repeat(199), "]".repeat(199));
        for text in ["{\"items\": [1,]}", "{\"a\": 1, \"a\": 2}", "{\"items\": [1]", "[1]]", &deep] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(read(&deep.replacen("[[", "[", 1).replacen("]]", "]", 1)).is_some());
    }
}
