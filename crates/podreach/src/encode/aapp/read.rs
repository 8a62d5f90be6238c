//! Reads policies, functions and workers; whatever is wrong is reported with its place.
//!
//! ```yaml
//! - divide:                                # policy: a list, one tag each
//!     - workers: "*"                       # or a list of names
//!       strategy: best-first               # or random (any), platform
//!       invalidate: {capacity_used: 50%, max_concurrent_invocations: 100}     # or a list of one-key maps: [{capacity_used: 50}]
//!       affinity: ["merge", "!heavy"]
//!   followup: fail                         # or default
//! ```
//! Functions are a list of `{name, tag, memory}`, workers a list of `{name, capacity}`.

use std::collections::HashMap;

use super::policy::{Block, DEFAULT, Entry, Followup, Function, Policy, Strategy, Tag, Worker};
use crate::diagnostic::{Diagnostic, Effect};
use crate::encode::errors;
use crate::read::{Entry as Field, SourceId, Sources, Span, Tree, Value};

/// The most memory that a function or a worker can have: percentages of it stay exact.
const MOST: u64 = 1_000_000_000_000_000;

/// A policy, and what is worth knowing about how it was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// The policy.
    pub policy: Policy,
    /// The remarks.
    pub notes: Vec<Diagnostic>,
}

/// The policy of three sources: the policy itself, the functions, the workers.
pub fn read_sources(sources: &Sources, ids: [SourceId; 3], followup: Followup) -> Result<Read, Vec<Diagnostic>> {
    let mut trees = Vec::new();
    for id in ids {
        let (documents, remarks) = sources.documents(id);
        let stops: Vec<Diagnostic> = remarks.into_iter().filter(|remark| remark.effect == Effect::Stops).collect();
        if !stops.is_empty() {
            return Err(stops);
        }
        let [_] = documents[..] else {
            let whole = Span { source: id, start: 0, end: 0 };
            let why = format!("this must be one document, not {}", documents.len());
            return Err(vec![errors::not_a_policy(whole, &why)]);
        };
        trees.extend(documents);
    }
    read(&trees[0], &trees[1], &trees[2], followup)
}

/// The policy of three documents. A tag that says nothing about it has this follow-up.
pub fn read(
    policy: &Tree<'_>,
    functions: &Tree<'_>,
    workers: &Tree<'_>,
    followup: Followup,
) -> Result<Read, Vec<Diagnostic>> {
    let mut reader = Reader { followup, ..Reader::default() };
    reader.workers(workers);
    let tags = reader.tags(policy);
    if tags.is_empty() {
        return Err(reader.errors);
    }
    reader.functions(functions);
    for (index, (blocks, _)) in tags.iter().enumerate() {
        reader.policy.tags[index].blocks = blocks.iter().filter_map(|block| reader.block(block)).collect();
    }
    if reader.errors.is_empty() { Ok(Read { policy: reader.policy, notes: reader.notes }) } else { Err(reader.errors) }
}

/// What was read so far.
struct Reader {
    policy: Policy,
    followup: Followup,
    tag_index: HashMap<String, usize>,
    function_index: HashMap<String, usize>,
    worker_index: HashMap<String, usize>,
    errors: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            followup: Followup::Fail,
            tag_index: HashMap::new(),
            function_index: HashMap::new(),
            worker_index: HashMap::new(),
            errors: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The blocks of a tag and the entry that names it.
type Blocks<'t, 'a> = (&'t [Tree<'a>], &'t Field<'a>);

impl Reader {
    fn refuse(&mut self, refused: Diagnostic) {
        self.errors.push(refused);
    }

    /// The items of a list that must have some.
    fn list<'t, 'a>(&mut self, tree: &'t Tree<'a>, what: &str) -> &'t [Tree<'a>] {
        match tree.seq() {
            Some(items) if !items.is_empty() => items,
            Some(_) => {
                self.refuse(errors::not_a_policy(tree.span, &format!("{what} must not be empty")));
                &[]
            }
            None => {
                let why = format!("{what} must be a list, not {}", tree.kind());
                self.refuse(errors::not_a_policy(tree.span, &why));
                &[]
            }
        }
    }

    /// The entries of a mapping that has only these keys.
    fn mapping<'t, 'a>(&mut self, tree: &'t Tree<'a>, what: &str, keys: &[&str]) -> Option<&'t [Field<'a>]> {
        let Some(entries) = tree.map() else {
            let why = format!("{what} must be a mapping, not {}", tree.kind());
            self.refuse(errors::not_a_policy(tree.span, &why));
            return None;
        };
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_ref())) {
            self.refuse(errors::unknown_key(entry.key_span, what, &entry.key, keys));
        }
        Some(entries)
    }

    fn text<'t>(&mut self, tree: &'t Tree<'_>, what: &str) -> Option<&'t str> {
        let text = tree.str().filter(|text| !text.is_empty());
        if text.is_none() {
            let why = format!("{what} must be a string, not {}", tree.kind());
            self.refuse(errors::not_a_policy(tree.span, &why));
        }
        text
    }

    /// A field that must be there.
    fn required<'t, 'a>(&mut self, tree: &'t Tree<'a>, what: &str, key: &str) -> Option<&'t Tree<'a>> {
        let field = tree.field(key);
        if field.is_none() && tree.map().is_some() {
            self.refuse(errors::not_a_policy(tree.span, &format!("{what} needs {key}")));
        }
        field
    }

    fn amount(&mut self, tree: &Tree<'_>, what: &str, least: u64) -> Option<u64> {
        let number = if let Value::Int(number) = tree.value { u64::try_from(number).ok() } else { None };
        let amount = number.filter(|amount| (least..=MOST).contains(amount));
        if amount.is_none() {
            self.refuse(errors::bad_amount(tree.span, what, least, MOST));
        }
        amount
    }

    fn workers(&mut self, tree: &Tree<'_>) {
        for item in self.list(tree, "the workers") {
            self.mapping(item, "a worker", &["name", "capacity"]);
            let name =
                self.required(item, "a worker", "name").and_then(|name| Some((self.text(name, "a name")?, name)));
            let capacity = self.required(item, "a worker", "capacity");
            let capacity = capacity.and_then(|capacity| self.amount(capacity, "the capacity of a worker", 0));
            if let (Some((name, at)), Some(capacity)) = (name, capacity) {
                if self.worker_index.insert(name.to_owned(), self.policy.workers.len()).is_some() {
                    self.refuse(errors::twice(at.span, "worker", name));
                }
                self.policy.workers.push(Worker { name: name.to_owned(), capacity });
            }
        }
    }

    /// Reads the names and follow-ups of the tags, and says where their blocks are.
    fn tags<'t, 'a>(&mut self, tree: &'t Tree<'a>) -> Vec<Blocks<'t, 'a>> {
        let mut tags = Vec::new();
        for item in self.list(tree, "a policy") {
            let entries = item.map().unwrap_or_default();
            let named: Vec<&Field<'a>> = entries.iter().filter(|entry| entry.key != "followup").collect();
            let [tag] = named[..] else {
                let why = "an item of a policy is one tag with its blocks, and may have a followup";
                self.refuse(errors::not_a_policy(item.span, why));
                continue;
            };
            let followup = self.followup(item.field("followup"), tag);
            let blocks = self.list(&tag.value, "the blocks of a tag");
            if self.tag_index.insert(tag.key.to_string(), self.policy.tags.len()).is_some() {
                self.refuse(errors::twice(tag.key_span, "tag", &tag.key));
            }
            self.policy.tags.push(Tag { name: tag.key.to_string(), blocks: Vec::new(), followup });
            tags.push((blocks, tag));
        }
        let has_default = self.tag_index.contains_key(DEFAULT);
        self.notes.retain(|_| has_default);
        tags
    }

    fn followup(&mut self, tree: Option<&Tree<'_>>, tag: &Field<'_>) -> Followup {
        match tree.map(|tree| (tree, tree.str())) {
            Some((_, Some("fail"))) => Followup::Fail,
            Some((_, Some("default"))) => Followup::Default,
            Some((tree, _)) => {
                self.refuse(errors::unknown_word(tree.span, "followup", tree.str(), &["fail", "default"]));
                self.followup
            }
            None => {
                if tag.key != DEFAULT {
                    self.notes.push(errors::followup_assumed(tag.key_span, &tag.key, self.followup.name()));
                }
                self.followup
            }
        }
    }

    fn functions(&mut self, tree: &Tree<'_>) {
        for item in self.list(tree, "the functions") {
            self.mapping(item, "a function", &["name", "tag", "memory"]);
            let name = self.required(item, "a function", "name");
            let name = name.and_then(|name| Some((self.text(name, "a name")?, name)));
            let memory = self.required(item, "a function", "memory");
            let memory = memory.and_then(|memory| self.amount(memory, "the memory of a function", 1));
            let tag = self.tag_of(item);
            if let (Some((name, at)), Some(memory), Some(tag)) = (name, memory, tag) {
                if self.function_index.insert(name.to_owned(), self.policy.functions.len()).is_some() {
                    self.refuse(errors::twice(at.span, "function", name));
                }
                self.policy.functions.push(Function { name: name.to_owned(), tag, memory });
            }
        }
    }

    /// The tag of a function: the one it names, or else `default`.
    fn tag_of(&mut self, function: &Tree<'_>) -> Option<usize> {
        let field = function.field("tag");
        let name = match field {
            Some(tag) => self.text(tag, "a tag")?,
            None => DEFAULT,
        };
        let tag = self.tag_index.get(name).copied();
        if tag.is_none() {
            let tags = self.policy.tags.iter().map(|tag| tag.name.as_str());
            let refused = errors::unknown_name(field.unwrap_or(function).span, "tag", name, tags);
            self.refuse(refused);
        }
        tag
    }

    fn block(&mut self, tree: &Tree<'_>) -> Option<Block> {
        let keys = ["workers", "strategy", "invalidate", "affinity"];
        self.mapping(tree, "a block", &keys)?;
        let workers = self.required(tree, "a block", "workers");
        let workers = workers.and_then(|workers| self.block_workers(workers));
        let mut block = Block {
            workers: workers.unwrap_or_default(),
            strategy: self.strategy(tree.field("strategy")),
            capacity_used: None,
            max_concurrent_invocations: None,
            affine: Vec::new(),
            anti_affine: Vec::new(),
        };
        if let Some(invalidate) = tree.field("invalidate") {
            self.invalidate(invalidate, &mut block);
        }
        if let Some(affinity) = tree.field("affinity") {
            self.affinity(affinity, &mut block);
        }
        Some(block)
    }

    fn block_workers(&mut self, tree: &Tree<'_>) -> Option<Option<Vec<usize>>> {
        if tree.str() == Some("*") {
            return Some(None);
        }
        let mut workers = Vec::new();
        for item in self.list(tree, "workers other than \"*\"") {
            let Some(name) = self.text(item, "a worker") else { continue };
            match self.worker_index.get(name) {
                Some(worker) if workers.contains(worker) => self.refuse(errors::twice(item.span, "worker", name)),
                Some(&worker) => workers.push(worker),
                None => {
                    let known = self.policy.workers.iter().map(|worker| worker.name.as_str());
                    let refused = errors::unknown_name(item.span, "worker", name, known);
                    self.refuse(refused);
                }
            }
        }
        Some(Some(workers))
    }

    fn strategy(&mut self, tree: Option<&Tree<'_>>) -> Strategy {
        let Some(tree) = tree else { return Strategy::BestFirst };
        match tree.str() {
            Some("best-first" | "best_first") => Strategy::BestFirst,
            Some("random" | "any") => Strategy::Random,
            Some("platform") => Strategy::Platform,
            other => {
                let known = ["best-first", "random", "any", "platform"];
                self.refuse(errors::unknown_word(tree.span, "strategy", other, &known));
                Strategy::BestFirst
            }
        }
    }

    /// Both dialects: a mapping, or a list of mappings with one key each.
    fn invalidate(&mut self, tree: &Tree<'_>, block: &mut Block) {
        let maps = tree.seq().map_or_else(|| vec![tree], |items| items.iter().collect());
        for map in maps {
            let keys = ["capacity_used", "max_concurrent_invocations"];
            for entry in self.mapping(map, "invalidate", &keys).unwrap_or_default() {
                let (value, slot) = match entry.key.as_ref() {
                    "capacity_used" => (self.percentage(&entry.value), &mut block.capacity_used),
                    "max_concurrent_invocations" => {
                        let number = self.amount(&entry.value, "max_concurrent_invocations", 0);
                        (number, &mut block.max_concurrent_invocations)
                    }
                    _ => continue,
                };
                if slot.is_some() {
                    self.refuse(errors::twice(entry.key_span, "condition", &entry.key));
                }
                *slot = value.or(*slot);
            }
        }
    }

    /// A whole number of percent: `50%` or `50`.
    fn percentage(&mut self, tree: &Tree<'_>) -> Option<u64> {
        let digits =
            |text: &str| text.strip_suffix('%').filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?.parse().ok();
        let number = match &tree.value {
            Value::Int(number) => u64::try_from(*number).ok(),
            Value::String(text) => digits(text),
            _ => None,
        };
        let percent = number.filter(|&percent| percent <= 100);
        if percent.is_none() {
            self.refuse(errors::bad_percentage(tree.span));
        }
        percent
    }

    fn affinity(&mut self, tree: &Tree<'_>, block: &mut Block) {
        let Some(items) = tree.seq() else {
            let why = format!("affinity must be a list, not {}", tree.kind());
            return self.refuse(errors::not_a_policy(tree.span, &why));
        };
        for item in items {
            let Some(text) = item.str().filter(|text| !text.is_empty()) else {
                self.refuse(errors::bad_entry(item.span));
                continue;
            };
            let (name, entries) = match text.strip_prefix('!') {
                Some(name) => (name.trim_start(), &mut block.anti_affine),
                None => (text, &mut block.affine),
            };
            match self.entry(item, name) {
                Some(entry) if !entries.contains(&entry) => entries.push(entry),
                _ => {}
            }
        }
    }

    /// What an affinity entry names: a tag, or a function, or both if they are the same.
    fn entry(&mut self, item: &Tree<'_>, name: &str) -> Option<Entry> {
        let tag = self.tag_index.get(name).map(|&tag| Entry::Tag(tag));
        let function = self.function_index.get(name).map(|&function| Entry::Function(function));
        match (tag, function) {
            (Some(tag), Some(function)) => {
                let same = self.policy.named(tag).eq(self.policy.named(function));
                if !same {
                    self.refuse(errors::ambiguous(item.span, name));
                }
                Some(tag)
            }
            (None, None) => {
                let tags = self.policy.tags.iter().map(|tag| tag.name.as_str());
                let refused = errors::unknown_name(item.span, "tag", name, tags);
                self.refuse(refused);
                None
            }
            (tag, function) => tag.or(function),
        }
    }
}
