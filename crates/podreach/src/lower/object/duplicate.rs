//! The same object twice: fine if both say the same, else a contradiction.
//!
//! Objects are not kept, so the second is left out before it can be compared with the first. Inputs with such a pair, which are few, are
//! read as a whole, and both are looked up again.

use crate::diagnostic::{Diagnostic, Effect};
use crate::read::{Entry, Span, Tree};

/// The code of an object that is described twice.
const CONTRADICTION: &str = "E0208";

/// Whether some object is described twice, so that the documents are needed once more.
pub(crate) fn is_in(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.code == CONTRADICTION && diagnostic.before.is_some())
}

/// Makes a note of each contradiction that is none.
pub(crate) fn settle(diagnostics: &mut [Diagnostic], documents: &[Tree<'_>]) {
    let object = |span: Span| documents.iter().find_map(|document| object(document, span));
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == CONTRADICTION) {
        let (Some(before), Some(span)) = (&diagnostic.before, diagnostic.span) else { continue };
        let both = object(**before).zip(object(span));
        if both.is_some_and(|(first, second)| say_the_same(first, second)) {
            let name = diagnostic.message.split(' ').next().unwrap_or_default();
            let message = format!("{name} is described twice, in the same words: it is read once");
            let before = diagnostic.before.take();
            *diagnostic = Diagnostic::stops("W0314", span, message).with_effect(Effect::Notes);
            diagnostic.before = before;
        }
    }
}

/// The object of a document in which a span stands.
fn object<'t, 'a>(tree: &'t Tree<'a>, span: Span) -> Option<&'t Tree<'a>> {
    let holds = tree.span.source == span.source && tree.span.start <= span.start && span.end <= tree.span.end;
    let is_list = tree.text("kind").is_some_and(|kind| kind.ends_with("List"));
    let items = tree.field("items").filter(|_| is_list).and_then(Tree::seq).unwrap_or_default();
    holds.then(|| items.iter().find_map(|item| object(item, span)).unwrap_or(tree))
}

/// Whether two objects of one kind say the same; an item of a list may leave its kind to the list.
fn say_the_same(first: &Tree<'_>, second: &Tree<'_>) -> bool {
    fields(first).count() == fields(second).count() && fields(first).all(|entry| has(second, entry))
}

/// The fields of an object but for those that say what it is.
fn fields<'t, 'a>(tree: &'t Tree<'a>) -> impl Iterator<Item = &'t Entry<'a>> {
    tree.map().unwrap_or_default().iter().filter(|entry| !["apiVersion", "kind"].contains(&&*entry.key))
}

fn has(object: &Tree<'_>, entry: &Entry<'_>) -> bool {
    fields(object).any(|same| same.key == entry.key && same.value.says_the_same(&entry.value))
}
