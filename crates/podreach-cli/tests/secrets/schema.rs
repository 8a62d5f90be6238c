//! Every kind of the Kubernetes API with every field it has, each with a value that occurs nowhere else.
//!
//! `data/kinds.txt` has the kinds and types of three releases; `conformance/schema` writes it and says how to read it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

const KINDS: &str = include_str!("../data/kinds.txt");

/// What all marks start with: a name, a label's value and a part of a domain may all look so.
pub(crate) const MARK: &str = "zq";

/// The types of a release, and its kinds: apiVersion, kind and type.
pub(crate) struct Release {
    types: BTreeMap<&'static str, Vec<(&'static str, &'static str)>>,
    pub(crate) kinds: Vec<(&'static str, &'static str, &'static str)>,
}

/// A release of Kubernetes, by the last digit of its number.
pub(crate) fn release(digit: char) -> Release {
    read(KINDS, digit)
}

/// A release of some API.
pub(crate) fn read(text: &'static str, digit: char) -> Release {
    let mut release = Release { types: BTreeMap::new(), kinds: Vec::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        if !words.next().is_some_and(|releases| releases.contains(digit)) {
            continue;
        }
        match words.next() {
            Some("kind") => {
                let words: Vec<&str> = words.collect();
                release.kinds.push((words[0], words[1], words[2]));
            }
            Some(name) => {
                let fields = words.filter_map(|word| word.split_once(':')).collect();
                release.types.insert(name, fields);
            }
            None => {}
        }
    }
    release
}

/// Values that were given out, with what they are the value of.
#[derive(Default)]
pub(crate) struct Marks {
    /// The path of each text and key, by its number.
    pub(crate) texts: Vec<String>,
    /// The path of each number, by its place.
    pub(crate) numbers: Vec<String>,
}

/// The first number that marks something.
pub(crate) const FIRST: u64 = 41_000_000;

impl Marks {
    fn text(&mut self, path: &str) -> String {
        self.texts.push(path.to_owned());
        format!("{MARK}{}z", self.texts.len() - 1)
    }

    fn number(&mut self, path: &str) -> u64 {
        self.numbers.push(path.to_owned());
        FIRST + self.numbers.len() as u64 - 1
    }

    /// The paths of the texts and numbers that occur in an output.
    pub(crate) fn found<'m>(&'m self, output: &str) -> Vec<&'m str> {
        [self.found_texts(output), self.found_numbers(output)].concat()
    }

    /// The paths of the texts and keys that occur in an output.
    pub(crate) fn found_texts<'m>(&'m self, output: &str) -> Vec<&'m str> {
        let texts = output.split(MARK).skip(1).filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let ends = rest[digits.len()..].starts_with('z');
            self.texts.get(digits.parse::<usize>().ok().filter(|_| ends)?)
        });
        texts.map(String::as_str).collect()
    }

    fn found_numbers<'m>(&'m self, output: &str) -> Vec<&'m str> {
        let numbers = output.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| {
            let at = digits.parse::<u64>().ok()?.checked_sub(FIRST)?;
            self.numbers.get(usize::try_from(at).ok()?)
        });
        numbers.map(String::as_str).collect()
    }
}

impl Release {
    /// An object of a kind with a mark in every field. What `given` has stays, and fields of which `skip` says so, by path and form, are left out.
    pub(crate) fn object(
        &self,
        (version, kind, of): (&str, &str, &str),
        given: Value,
        skip: &dyn Fn(&str, &str) -> bool,
        marks: &mut Marks,
    ) -> Value {
        let mut object = given;
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        let mut walk = Walk { release: self, skip, marks, within: Vec::new() };
        walk.fill(&mut object, of, kind);
        object
    }
}

struct Walk<'w> {
    release: &'w Release,
    skip: &'w dyn Fn(&str, &str) -> bool,
    marks: &'w mut Marks,
    /// The types that it is in: one that contains itself is entered once.
    within: Vec<String>,
}

impl Walk<'_> {
    /// Adds every field that a mapping of a type lacks, and goes into those that it has.
    fn fill(&mut self, value: &mut Value, of: &str, path: &str) {
        let Some(fields) = self.release.types.get(of) else { return };
        let Value::Object(map) = value else { return };
        if self.within.iter().any(|other| other == of) {
            return;
        }
        self.within.push(of.to_owned());
        for (name, form) in fields {
            let path = format!("{path}.{name}");
            match map.get_mut(*name) {
                Some(there) => self.fill_form(there, form, &path),
                None if (self.skip)(&path, form) => {}
                None => {
                    let made = self.made(form, &path);
                    map.insert((*name).to_owned(), made);
                }
            }
        }
        self.within.pop();
    }

    fn fill_form(&mut self, value: &mut Value, form: &str, path: &str) {
        match (form.split_at(1), value) {
            (("=", of), value) => self.fill(value, of, path),
            (("[", inner), Value::Array(items)) => {
                items.iter_mut().for_each(|item| self.fill_form(item, inner, path));
            }
            _ => {}
        }
    }

    /// A value of a form.
    fn made(&mut self, form: &str, path: &str) -> Value {
        match form.split_at(1) {
            ("=", of) => {
                let mut made = json!({});
                self.fill(&mut made, of, path);
                made
            }
            ("[", inner) => vec![self.made(inner, path)].into(),
            ("{", inner) => {
                let key = format!("{}.example.com/{}", self.marks.text(path), self.marks.text(path));
                Map::from_iter([(key, self.made(inner, path))]).into()
            }
            ("i" | "n", _) => self.marks.number(path).into(),
            ("b", _) => true.into(),
            ("q", _) => self.marks.number(path).to_string().into(),
            ("m", _) => json!({"password": self.marks.text(path), self.marks.text(path): [self.marks.text(path)]}),
            _ => self.marks.text(path).into(),
        }
    }
}
