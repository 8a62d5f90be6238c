//! What a text is handed out in, when it is not wanted as a whole.

use super::{Entry, Tree};

/// A piece of a text.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'p, 'a> {
    /// An item of the list of a document that is handed out one by one.
    Item {
        /// The entries of the document that stand before the list.
        head: &'p [Entry<'a>],
        /// The item.
        item: &'p Tree<'a>,
    },
    /// A document, without the items that were handed out before.
    Document(&'p Tree<'a>),
}

impl<'p, 'a> Piece<'p, 'a> {
    /// The item, or the document.
    pub fn tree(self) -> &'p Tree<'a> {
        match self {
            Self::Item { item: tree, .. } | Self::Document(tree) => tree,
        }
    }
}
