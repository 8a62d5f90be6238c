//! A set-trie: finds the groups within a configuration without looking at the others.
//!
//! A group is a path from the root: its entries in the order of classes. An entry that the configuration lacks cuts off everything below
//! it, and so does a subtree in which every level is too low. After Hoffmann and Koehler, *A New Method to Index and Query Sets* (IJCAI
//! 1999), and Savnik, *Index Data Structure for Fast Subset and Superset Queries* (CD-ARES 2013).
//!
//! Invariant: `best` of a node is at least the level of every group at or below it. Cost of a lookup: exponential in the worst case, as
//! many nodes as subsets of the configuration that are prefixes of groups.

use crate::group::{Class, Group};

/// Marks what is not there.
pub const NONE: u32 = u32::MAX;

/// Numbered groups, each with a level that may change; level 0 is as good as absent.
#[derive(Clone, Debug)]
pub struct SetTrie {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    parent: u32,
    /// The group that ends here.
    group: u32,
    level: u32,
    /// The highest level here or below; too high where levels have been lowered since.
    best: u32,
    /// The classes of the children, see [`signature`].
    signature: u64,
    children: Vec<Child>,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    class: Class,
    node: u32,
    count: u64,
}

/// A configuration to look within.
#[derive(Clone, Copy)]
pub struct Within<'a, F> {
    /// Its classes, in any order, some perhaps twice.
    pub classes: [&'a [(Class, u64)]; 2],
    /// The signature of its classes, or of more.
    pub signature: u64,
    /// How many it has of each class.
    pub count: F,
}

/// With this many children, the classes of the configuration are looked up instead.
const MANY: usize = 64;

/// Classes as a set of 64: sets that are apart have something in common at most by accident.
pub fn signature(group: &[(Class, u64)]) -> u64 {
    group.iter().fold(0, |signature, entry| signature | 1 << (entry.0 % 64))
}

impl SetTrie {
    /// No groups.
    pub fn new() -> Self {
        Self { nodes: vec![Node::new(NONE)] }
    }

    /// The place of a group, made if there is none.
    pub fn place(&mut self, group: &Group) -> u32 {
        group.iter().fold(0, |at, &(class, count)| {
            match self.nodes[at as usize].children.binary_search_by_key(&(class, count), key) {
                Ok(index) => self.nodes[at as usize].children[index].node,
                Err(index) => {
                    let node = self.nodes.len() as u32;
                    self.nodes.push(Node::new(at));
                    let parent = &mut self.nodes[at as usize];
                    parent.children.insert(index, Child { class, node, count });
                    parent.signature |= 1 << (class % 64);
                    node
                }
            }
        })
    }

    /// The group at a place, or [`NONE`].
    pub fn group(&self, place: u32) -> u32 {
        self.nodes[place as usize].group
    }

    /// Puts a group at its place, at a level.
    pub fn put(&mut self, place: u32, group: u32, level: u32) {
        let node = &mut self.nodes[place as usize];
        (node.group, node.level) = (group, level);
        let mut at = place;
        while at != NONE && self.nodes[at as usize].best < level {
            self.nodes[at as usize].best = level;
            at = self.nodes[at as usize].parent;
        }
    }

    /// A group of at least `level` (and 1) within a configuration, but for the one at `except`; adds to `visits` how many places
    /// were looked at.
    pub fn find<F: Fn(Class) -> u64>(
        &self,
        within: &Within<'_, F>,
        level: u32,
        except: u32,
        visits: &mut u64,
    ) -> Option<u32> {
        self.find_below(0, within, level.max(1), except, visits)
    }

    fn find_below<F: Fn(Class) -> u64>(
        &self,
        at: u32,
        within: &Within<'_, F>,
        level: u32,
        except: u32,
        visits: &mut u64,
    ) -> Option<u32> {
        *visits += 1;
        let node = &self.nodes[at as usize];
        if node.level >= level && at != except {
            return Some(node.group);
        }
        if node.signature & within.signature == 0 {
            return None;
        }
        let mut look = |child: &Child| {
            // Most children fall at the first comparison, which needs no other node.
            let fits = (within.count)(child.class) >= child.count && self.nodes[child.node as usize].best >= level;
            if fits { self.find_below(child.node, within, level, except, visits) } else { None }
        };
        if node.children.len() < MANY {
            return node.children.iter().find_map(look);
        }
        within.classes.into_iter().flatten().find_map(|&(class, _)| {
            let first = node.children.partition_point(|child| child.class < class);
            node.children[first..].iter().take_while(|child| child.class == class).find_map(&mut look)
        })
    }
}

fn key(child: &Child) -> (Class, u64) {
    (child.class, child.count)
}

impl Node {
    fn new(parent: u32) -> Self {
        Self { parent, group: NONE, level: 0, best: 0, signature: 0, children: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group;

    #[test]
    fn groups_are_found_within_configurations_that_have_them() {
        let mut trie = SetTrie::new();
        let groups: [Group; 3] = [vec![(0, 1), (3, 2)], vec![(3, 1), (5, 1)], vec![(70, 1)]];
        for (index, group) in groups.iter().enumerate() {
            let place = trie.place(group);
            trie.put(place, index as u32, index as u32 + 1);
        }
        assert_eq!(find(&trie, &vec![(0, 4), (3, 2)], 1), Some(0));
        assert_eq!(find(&trie, &vec![(0, 4), (3, 2)], 2), None);
        assert_eq!(find(&trie, &vec![(0, 4), (3, 1), (6, 1)], 1), None);
        assert_eq!(find(&trie, &vec![(3, 1), (5, 1), (70, 1)], 3), Some(2));
        let place = trie.place(&groups[0]);
        trie.put(place, 0, 7);
        assert_eq!(find(&trie, &vec![(0, 1), (3, 2), (70, 1)], 4), Some(0));
    }

    fn find(trie: &SetTrie, configuration: &Group, level: u32) -> Option<u32> {
        let within = Within {
            classes: [configuration, &[]],
            signature: signature(configuration),
            count: |class| group::count(configuration, class),
        };
        trie.find(&within, level, NONE, &mut 0)
    }
}
