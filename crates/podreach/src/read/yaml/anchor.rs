//! Anchors and aliases: an alias is a copy, and copies are paid for from a budget.
//!
//! Nine lines of aliases to aliases can stand for billions of values. Every copy is therefore weighed before it is made, by what it
//! would add once expanded: values, bytes and depth.

use rustc_hash::FxHashMap;

use crate::read::errors::{self, Refused};
use crate::read::limits::{MAX_ALIAS_BYTES, MAX_ALIAS_NODES, MAX_DEPTH};
use crate::read::{Span, Tree, Value};

/// The anchors of a document and what is left of the source's budget for copies.
pub(super) struct Anchors<'a> {
    known: FxHashMap<usize, (Tree<'a>, Weight)>,
    nodes: usize,
    bytes: usize,
}

/// What a tree is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weight {
    nodes: usize,
    bytes: usize,
    /// How deep its lists and mappings nest: 0 for a scalar.
    height: usize,
}

impl<'a> Anchors<'a> {
    /// No anchors yet, and the whole budget.
    pub(super) fn new() -> Self {
        Self { known: FxHashMap::default(), nodes: MAX_ALIAS_NODES, bytes: MAX_ALIAS_BYTES }
    }

    /// Forgets the anchors of the document that ended; what it spent stays spent.
    pub(super) fn end_document(&mut self) {
        self.known.clear();
    }

    /// Remembers what an anchor names; the copy is paid for as that of an alias is.
    pub(super) fn remember(&mut self, id: usize, tree: &Tree<'a>) -> Result<(), Refused> {
        let weight = weight(tree);
        self.pay(weight, tree.span)?;
        self.known.insert(id, (tree.clone(), weight));
        Ok(())
    }

    /// The value behind an alias that stands at `span`, inside `depth` lists and mappings.
    pub(super) fn expanded(&mut self, id: usize, span: Span, depth: usize) -> Result<Tree<'a>, Refused> {
        let Some(&(_, weight)) = self.known.get(&id) else { return Err(errors::alias_cycle(span)) };
        if depth + weight.height > MAX_DEPTH {
            return Err(errors::too_deep(span));
        }
        self.pay(weight, span)?;
        Ok(self.known[&id].0.clone())
    }

    fn pay(&mut self, weight: Weight, span: Span) -> Result<(), Refused> {
        let left = (self.nodes.checked_sub(weight.nodes), self.bytes.checked_sub(weight.bytes));
        let (Some(nodes), Some(bytes)) = left else { return Err(errors::aliases_too_large(span)) };
        (self.nodes, self.bytes) = (nodes, bytes);
        Ok(())
    }
}

fn weight(tree: &Tree) -> Weight {
    let leaf = |bytes| Weight { nodes: 1, bytes, height: 0 };
    match &tree.value {
        Value::Null | Value::Bool(_) | Value::Int(_) => leaf(0),
        Value::Float(text) | Value::String(text) => leaf(text.len()),
        Value::Seq(items) => around(items.iter().map(weight)),
        Value::Map(entries) => around(entries.iter().map(|entry| {
            let value = weight(&entry.value);
            Weight { bytes: value.bytes + entry.key.len(), ..value }
        })),
    }
}

/// The weight of a list or mapping around these children.
fn around(children: impl Iterator<Item = Weight>) -> Weight {
    let empty = Weight { nodes: 1, bytes: 0, height: 1 };
    children.fold(empty, |sum, child| Weight {
        nodes: sum.nodes + child.nodes,
        bytes: sum.bytes + child.bytes,
        height: sum.height.max(child.height + 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::SourceId;
    use crate::read::yaml::testing::*;

    const SPAN: Span = Span { source: SourceId(0), start: 0, end: 0 };

    fn tree(value: Value<'_>) -> Tree<'_> {
        Tree { span: SPAN, value }
    }

    #[test]
    fn a_tree_weighs_its_values_its_bytes_and_its_depth() {
        let list = tree(Value::Seq(vec![tree(Value::String("abc".into())), tree(Value::Seq(vec![]))]));
        assert_eq!(weight(&list), Weight { nodes: 3, bytes: 3, height: 2 });
    }

    #[test]
    fn copies_stop_when_the_bytes_are_spent() {
        let mut anchors = Anchors::new();
        let text = "x".repeat(1 << 20);
        anchors.remember(1, &tree(Value::String(text.as_str().into()))).unwrap();
        let copies = (0..100).take_while(|_| anchors.expanded(1, SPAN, 0).is_ok()).count();
        assert_eq!(copies, (MAX_ALIAS_BYTES >> 20) - 1);
        assert_eq!(anchors.expanded(1, SPAN, 0).unwrap_err().code, "E0112");
    }

    #[test]
    fn an_alias_may_not_nest_deeper_than_anything_else() {
        let mut anchors = Anchors::new();
        anchors.remember(1, &tree(Value::Seq(vec![]))).unwrap();
        assert!(anchors.expanded(1, SPAN, MAX_DEPTH - 1).is_ok());
        assert_eq!(anchors.expanded(1, SPAN, MAX_DEPTH).unwrap_err().code, "E0110");
    }

    #[test]
    fn an_anchor_still_open_is_a_cycle() {
        assert_eq!(Anchors::new().expanded(7, SPAN, 0).unwrap_err().code, "E0114");
    }

    #[test]
    fn aliases_are_copies() {
        assert_eq!(
            json(&one("a: &x {b: [1]}\nc: *x\nd: &y z\n*y : *y\n")),
            r#"{"a":{"b":[1]},"c":{"b":[1]},"d":"z","z":"z"}"#
        );
        assert_eq!(json(&one("[&a 1, &a 2, *a]")), "[1,2,2]");
    }

    #[test]
    fn aliases_do_not_reach_into_other_documents() {
        assert_eq!(codes("a: &x 1\n---\nb: *x\n"), ["E0115"]);
    }

    #[test]
    fn an_alias_inside_its_own_value_is_refused() {
        assert_eq!(codes("a: &x {b: *x}"), ["E0114"]);
        assert_eq!(codes("&x [*x]"), ["E0114"]);
    }

    #[test]
    fn a_chain_of_aliases_may_not_nest_too_deep() {
        let chain: String = (1..1000).map(|i| format!("a{i}: &a{i} [*a{}]\n", i - 1)).collect();
        assert_eq!(codes(&format!("a0: &a0 x\n{chain}")), ["E0110"]);
    }

    #[test]
    fn anchors_within_anchors_are_paid_for() {
        let text = "&a [".repeat(150) + &"x,".repeat(100_000) + &"]".repeat(150);
        assert_eq!(codes(&text), ["E0112"]);
    }
}
