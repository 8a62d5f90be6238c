//! PNML: place/transition nets as the Model Checking Contest writes them.
//!
//! ```text
//! <pnml> <net type="…ptnet"> <page>*  place(id, initialMarking)  transition(id)  arc(source, target, inscription)
//!                                     referencePlace(id, ref)  referenceTransition(id, ref)
//! ```
//! Pages may nest and only group; references stand for what they refer to; names are kept for people; graphics, tool-specific parts
//! and foreign namespaces are skipped unread. Entities are never expanded and a document type declaration is refused, so a file
//! costs no more than its length.

mod element;
mod link;
mod write;

use quick_xml::errors::{Error, IllFormedError};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use self::element::{Element, Parts};
pub use self::write::write;
use super::errors;
use super::net::Net;
use crate::diagnostic::Diagnostic;
use crate::read::{SourceId, Span};

/// The deepest nesting of elements that are read.
pub(crate) const MAX_DEPTH: usize = 100;

/// The most errors reported about one file.
const MAX_ERRORS: usize = 100;

/// The net in a PNML text, or everything that is wrong with it.
pub fn read(source: SourceId, text: &str) -> Result<Net, Vec<Diagnostic>> {
    let mut reading = Reading::new(source, text);
    if let Err(refused) = reading.document() {
        reading.parts.problems.push(refused);
        return Err(reading.parts.problems);
    }
    link::net(reading.parts, Span { source, start: 0, end: 0 }).map_err(|mut problems| {
        problems.truncate(MAX_ERRORS);
        problems
    })
}

/// The text being read, the elements that are open, and what was found so far.
struct Reading<'t> {
    xml: NsReader<&'t [u8]>,
    source: SourceId,
    open: Vec<Element>,
    namespace: Option<String>,
    parts: Parts,
}

impl<'t> Reading<'t> {
    fn new(source: SourceId, text: &'t str) -> Self {
        let mut xml = NsReader::from_str(text);
        xml.config_mut().expand_empty_elements = true;
        Self { xml, source, open: Vec::new(), namespace: None, parts: Parts::default() }
    }

    fn document(&mut self) -> Result<(), Diagnostic> {
        while self.event()? {
            if self.parts.problems.len() >= MAX_ERRORS {
                return Err(self.parts.problems.pop().expect("there are many"));
            }
        }
        if self.open.is_empty() {
            Ok(())
        } else {
            Err(errors::not_xml(self.here(self.at()), "the text ends too early"))
        }
    }

    fn at(&self) -> u64 {
        self.xml.buffer_position()
    }

    /// The span from `start` to where reading has come.
    fn here(&self, start: u64) -> Span {
        Span { source: self.source, start: start as u32, end: self.at() as u32 }
    }

    /// Reads on; `false` at the end.
    fn event(&mut self) -> Result<bool, Diagnostic> {
        let start = self.at();
        let (space, event) = match self.xml.read_resolved_event() {
            Ok((space, event)) => (namespace(&space), event),
            Err(error) => return Err(self.malformed(start, &error)),
        };
        match event {
            Event::Start(tag) => self.start(start, space, &tag)?,
            Event::End(_) => self.end(start)?,
            Event::Text(text) => self.text(&text.xml10_content()),
            Event::CData(text) => self.text(&text.xml10_content()),
            Event::GeneralRef(reference) => self.reference(start, &reference)?,
            Event::DocType(_) => return Err(errors::doctype(self.here(start))),
            Event::Eof => return Ok(false),
            Event::Empty(_) | Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
        Ok(true)
    }

    fn start(&mut self, start: u64, space: Option<String>, tag: &BytesStart<'_>) -> Result<(), Diagnostic> {
        let span = self.here(start);
        if self.open.len() >= MAX_DEPTH {
            return Err(errors::too_deep(span, MAX_DEPTH));
        }
        if self.open.is_empty() {
            self.namespace.clone_from(&space);
        }
        let ours = space == self.namespace;
        let parent = self.open.last();
        let attributes = self.attributes(start, tag)?;
        let element = if ours { self.parts.open(parent, tag.local_name().as_ref(), span, &attributes)? } else { None };
        match element {
            Some(element) => self.open.push(element),
            None => self.skip(start, tag)?,
        }
        Ok(())
    }

    /// The attributes that are not namespace declarations, by local name.
    fn attributes(&self, start: u64, tag: &BytesStart<'_>) -> Result<Vec<(String, String)>, Diagnostic> {
        let mut out = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| errors::not_xml(self.here(start), &error.to_string()))?;
            let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
            let value = value.map_err(|error| self.malformed(start, &error))?;
            out.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
        }
        Ok(out)
    }

    fn skip(&mut self, start: u64, tag: &BytesStart<'_>) -> Result<(), Diagnostic> {
        match self.xml.read_to_end(tag.name()) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.malformed(start, &error)),
        }
    }

    fn end(&mut self, start: u64) -> Result<(), Diagnostic> {
        let span = self.here(start);
        if let Some(element) = self.open.pop() {
            self.parts.close(element, self.open.last_mut(), span);
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some(Element::Text { text: all, .. }) = self.open.last_mut() {
            all.push_str(text);
        }
    }

    /// A reference stands for a character or for nothing we would look up.
    fn reference(&mut self, start: u64, reference: &quick_xml::events::BytesRef<'_>) -> Result<(), Diagnostic> {
        let name = reference.xml10_content().into_owned();
        let span = self.here(start);
        match reference.resolve_char_ref() {
            Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4])),
            Ok(None) => match resolve_predefined_entity(&name) {
                Some(text) => self.text(text),
                None => return Err(errors::unknown_entity(span, &name)),
            },
            Err(error) => return Err(errors::not_xml(span, &error.to_string())),
        }
        Ok(())
    }

    fn malformed(&self, start: u64, error: &Error) -> Diagnostic {
        use quick_xml::escape::EscapeError;
        let span = self.here(start);
        match error {
            Error::Escape(EscapeError::UnrecognizedEntity(_, name)) => errors::unknown_entity(span, name),
            Error::IllFormed(IllFormedError::MissingEndTag(name)) => {
                errors::not_xml(span, &format!("<{name}> is not closed"))
            }
            other => errors::not_xml(span, &other.to_string()),
        }
    }
}

/// The namespace of an element, if it has one.
fn namespace(space: &ResolveResult<'_>) -> Option<String> {
    match space {
        ResolveResult::Bound(namespace) => Some(namespace.as_ref().to_owned()),
        ResolveResult::Unbound => None,
        ResolveResult::Unknown(prefix) => Some(format!("{prefix:?}:")),
    }
}

#[cfg(test)]
mod tests;
