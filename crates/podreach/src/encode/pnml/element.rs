//! The elements of PNML that mean something, and what they leave behind when they close.

use crate::diagnostic::Diagnostic;
use crate::encode::errors;
use crate::read::Span;

/// An open element.
#[derive(Debug)]
pub(super) enum Element {
    Pnml,
    Net,
    Page,
    /// A place, transition, arc or reference; they nest nothing that is of their kind.
    Item(Item),
    /// `name`, `initialMarking` or `inscription`, with the text found inside.
    Label {
        kind: Label,
        text: Option<(String, Span)>,
    },
    /// `text`, as far as it was read.
    Text {
        text: String,
        span: Span,
    },
}

/// Which label of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Name,
    InitialMarking,
    Inscription,
}

/// An item of a net, as written.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) span: Span,
    pub(super) id: Option<String>,
    /// What a reference refers to.
    pub(super) refers: Option<String>,
    /// Where an arc comes from and goes to.
    pub(super) ends: Option<(String, String)>,
    pub(super) name: Option<String>,
    /// The initial marking or the inscription, and where it is.
    pub(super) number: Option<(String, Span)>,
}

/// Which kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Place,
    Transition,
    Arc,
    ReferencePlace,
    ReferenceTransition,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "place" => Self::Place,
            "transition" => Self::Transition,
            "arc" => Self::Arc,
            "referencePlace" => Self::ReferencePlace,
            "referenceTransition" => Self::ReferenceTransition,
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Transition => "transition",
            Self::Arc => "arc",
            Self::ReferencePlace | Self::ReferenceTransition => "reference",
        }
    }
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The net's name or identifier.
    pub(super) name: Option<String>,
    /// Whether there was a net.
    pub(super) net: bool,
    /// The items, in the order of the file.
    pub(super) items: Vec<Item>,
    /// What is wrong.
    pub(super) problems: Vec<Diagnostic>,
}

type Attributes<'a> = &'a [(String, String)];

fn attribute(attributes: Attributes<'_>, name: &str) -> Option<String> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
}

impl Parts {
    /// The element that starts here; `None` when it is to be skipped with all that it holds.
    pub(super) fn open(
        &mut self,
        parent: Option<&Element>,
        name: &str,
        span: Span,
        attributes: Attributes<'_>,
    ) -> Result<Option<Element>, Diagnostic> {
        Ok(match (parent, name) {
            (None, "pnml") => Some(Element::Pnml),
            (None, _) => return Err(errors::not_a_net(span, "it does not start with <pnml>")),
            (Some(Element::Pnml), "net") => Some(self.open_net(span, attributes)?),
            (Some(Element::Net | Element::Page), "page") => Some(Element::Page),
            (Some(Element::Net | Element::Page), name) => match Kind::named(name) {
                Some(kind) => Some(Element::Item(self.item(kind, span, attributes))),
                None if name == "name" && matches!(parent, Some(Element::Net)) => Some(label(Label::Name)),
                None => None,
            },
            (Some(Element::Item(item)), name) => self.inside(item.kind, name, span, attributes),
            (Some(Element::Label { .. }), "text") => Some(Element::Text { text: String::new(), span }),
            _ => None,
        })
    }

    fn open_net(&mut self, span: Span, attributes: Attributes<'_>) -> Result<Element, Diagnostic> {
        if self.net {
            return Err(errors::not_a_net(span, "it has several"));
        }
        if let Some(kind) = attribute(attributes, "type").filter(|kind| !is_ptnet(kind)) {
            return Err(errors::not_ptnet(span, &kind));
        }
        self.net = true;
        self.name = attribute(attributes, "id");
        Ok(Element::Net)
    }

    fn item(&mut self, kind: Kind, span: Span, attributes: Attributes<'_>) -> Item {
        let (mut id, mut refers, mut ends) = (attribute(attributes, "id"), None, None);
        match kind {
            Kind::Place | Kind::Transition => id = self.required(span, kind, attributes, "id"),
            Kind::ReferencePlace | Kind::ReferenceTransition => {
                (id, refers) =
                    (self.required(span, kind, attributes, "id"), self.required(span, kind, attributes, "ref"))
            }
            Kind::Arc => {
                ends =
                    self.required(span, kind, attributes, "source").zip(self.required(span, kind, attributes, "target"))
            }
        }
        if kind == Kind::Arc {
            self.ordinary(span, attribute(attributes, "type"));
        }
        Item { kind, span, id, refers, ends, name: None, number: None }
    }

    /// An attribute that an element has to have.
    fn required(&mut self, span: Span, kind: Kind, attributes: Attributes<'_>, name: &'static str) -> Option<String> {
        let value = attribute(attributes, name);
        if value.is_none() {
            self.problems.push(errors::missing_attribute(span, kind.name(), name));
        }
        value
    }

    /// Inhibitor, reset and test arcs change what a net means; old files mark ordinary arcs as `normal`.
    fn ordinary(&mut self, span: Span, kind: Option<String>) {
        if let Some(kind) = kind.filter(|kind| kind != "normal") {
            self.problems.push(errors::special_arc(span, &kind));
        }
    }

    fn inside(&mut self, kind: Kind, name: &str, span: Span, attributes: Attributes<'_>) -> Option<Element> {
        match (kind, name) {
            (Kind::Arc, "type") => {
                self.ordinary(span, attribute(attributes, "value"));
                None
            }
            (Kind::Arc, "inscription") => Some(label(Label::Inscription)),
            (Kind::Place, "initialMarking") => Some(label(Label::InitialMarking)),
            (Kind::Place | Kind::Transition, "name") => Some(label(Label::Name)),
            _ => None,
        }
    }

    /// Hands what a closing element holds to the one around it.
    pub(super) fn close(&mut self, element: Element, parent: Option<&mut Element>, end: Span) {
        match (element, parent) {
            (Element::Text { text, span }, Some(Element::Label { text: whole, .. })) => {
                let span = Span { end: end.end, ..span };
                whole.get_or_insert((String::new(), span)).0.push_str(&text);
            }
            (Element::Label { kind: Label::Name, text: Some((text, _)) }, Some(Element::Item(item))) => {
                item.name = Some(text.trim().to_owned()).filter(|name| !name.is_empty());
            }
            (Element::Label { kind: Label::Name, text: Some((text, _)) }, Some(Element::Net)) => {
                self.name = Some(text.trim().to_owned()).filter(|name| !name.is_empty()).or(self.name.take());
            }
            (Element::Label { text: Some((text, span)), .. }, Some(Element::Item(item))) => {
                item.number = Some((text.trim().to_owned(), span));
            }
            (Element::Item(item), _) => self.items.push(item),
            _ => {}
        }
    }
}

fn label(kind: Label) -> Element {
    Element::Label { kind, text: None }
}

/// Whether a net type is that of place/transition nets: the standard's, one of those in use before it, or the core model, under which
/// some tools write theirs.
fn is_ptnet(kind: &str) -> bool {
    let last = kind.rsplit('/').next().unwrap_or(kind).to_ascii_lowercase();
    matches!(last.as_str(), "ptnet" | "ptnetb" | "ptnet.pntd" | "pnmlcoremodel") || kind.eq_ignore_ascii_case("P/T net")
}
