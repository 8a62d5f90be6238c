//! Place/transition nets and what they mean: markings and firings.
//!
//! ```text
//! M –a→ M'   if   pre(a) ≤ M   and   M' = M − pre(a) + post(a)
//! ```
//! This is the native semantics against which every decoded run is held; it shares nothing with the encodings.

use std::collections::BTreeMap;

/// A place/transition net with its initial marking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// Its name, for people.
    pub name: String,
    /// The places; everything else refers to them by index.
    pub places: Vec<Place>,
    /// The transitions, likewise.
    pub transitions: Vec<Transition>,
}

/// A place of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its identifier, unique in the net.
    pub id: String,
    /// What people call it; the identifier, unless the net names its places apart.
    pub name: String,
    /// How many tokens it has at first.
    pub tokens: u64,
}

/// A transition of a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Its identifier, unique in the net.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// How many tokens it takes from each place.
    pub pre: BTreeMap<usize, u64>,
    /// How many tokens it puts on each place.
    pub post: BTreeMap<usize, u64>,
}

/// How many tokens each place has; places without tokens are left out.
pub type Marking = BTreeMap<usize, u64>;

impl Net {
    /// An empty net.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a place and returns its index.
    pub fn add_place(&mut self, name: impl Into<String>, tokens: u64) -> usize {
        let name = name.into();
        self.places.push(Place { id: name.clone(), name, tokens });
        self.places.len() - 1
    }

    /// Adds a transition with arcs of weight one and returns its index.
    pub fn add_transition(&mut self, name: impl Into<String>, pre: &[usize], post: &[usize]) -> usize {
        self.add_weighted(name, once(pre), once(post))
    }

    /// Adds a transition and returns its index.
    pub(crate) fn add_weighted(
        &mut self,
        name: impl Into<String>,
        pre: BTreeMap<usize, u64>,
        post: BTreeMap<usize, u64>,
    ) -> usize {
        let name = name.into();
        self.transitions.push(Transition { id: name.clone(), name, pre, post });
        self.transitions.len() - 1
    }

    /// The place with this identifier or, failing that, with this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        let by_id = self.places.iter().position(|place| place.id == name);
        by_id.or_else(|| self.places.iter().position(|place| place.name == name))
    }

    /// The initial marking.
    pub fn initial(&self) -> Marking {
        let tokens = self.places.iter().enumerate().map(|(index, place)| (index, place.tokens));
        tokens.filter(|&(_, tokens)| tokens > 0).collect()
    }

    /// Whether a transition may fire.
    pub(crate) fn is_enabled(&self, marking: &Marking, transition: usize) -> bool {
        let mut pre = self.transitions[transition].pre.iter();
        pre.all(|(place, &weight)| marking.get(place).copied().unwrap_or(0) >= weight)
    }

    /// The marking after a firing; `None` when the transition is not enabled.
    pub fn fire(&self, marking: &Marking, transition: usize) -> Option<Marking> {
        if !self.is_enabled(marking, transition) {
            return None;
        }
        let Transition { pre, post, .. } = &self.transitions[transition];
        let mut next = marking.clone();
        for (place, weight) in pre {
            let tokens = next.get_mut(place).expect("an enabled transition finds its tokens");
            *tokens -= weight;
        }
        for (&place, &weight) in post {
            let tokens = next.entry(place).or_default();
            *tokens = tokens.saturating_add(weight);
        }
        next.retain(|_, tokens| *tokens > 0);
        Some(next)
    }

    /// The marking after a sequence of firings; otherwise the position of the first that is not enabled.
    pub fn replay(&self, firings: &[usize]) -> Result<Marking, usize> {
        firings.iter().enumerate().try_fold(self.initial(), |marking, (position, &transition)| {
            self.fire(&marking, transition).ok_or(position)
        })
    }

    /// The number of arcs.
    pub fn arcs(&self) -> usize {
        self.transitions.iter().map(|transition| transition.pre.len() + transition.post.len()).sum()
    }

    /// The names of places, in a sentence.
    pub fn named(&self, places: impl IntoIterator<Item = usize>) -> String {
        let names: Vec<&str> = places.into_iter().map(|place| self.places[place].name.as_str()).collect();
        if names.is_empty() { "nothing".into() } else { names.join(", ") }
    }
}

/// Arcs of weight one.
fn once(places: &[usize]) -> BTreeMap<usize, u64> {
    places.iter().map(|&place| (place, 1)).collect()
}

impl Transition {
    /// The places it takes tokens from and gives none back.
    pub fn consumed(&self) -> impl Iterator<Item = usize> + '_ {
        self.pre.keys().copied().filter(|place| !self.post.contains_key(place))
    }

    /// The places it gives tokens to and takes none from.
    pub fn produced(&self) -> impl Iterator<Item = usize> + '_ {
        self.post.keys().copied().filter(|place| !self.pre.contains_key(place))
    }
}

/// Whether every one of these places is marked.
pub fn covers(marking: &Marking, places: &[usize]) -> bool {
    places.iter().all(|place| marking.contains_key(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_firing_takes_and_gives() {
        let mut net = Net::new("n");
        let [p, q] = [net.add_place("p", 1), net.add_place("q", 0)];
        let a = net.add_transition("a", &[p], &[q]);
        let after = net.fire(&net.initial(), a).unwrap();
        assert_eq!(after, Marking::from([(q, 1)]));
        assert_eq!(net.fire(&after, a), None);
        assert_eq!(net.replay(&[a, a]), Err(1));
    }

    #[test]
    fn a_place_that_gives_and_takes_keeps_its_token() {
        let mut net = Net::new("n");
        let [p, q] = [net.add_place("p", 1), net.add_place("q", 0)];
        let a = net.add_transition("a", &[p], &[p, q]);
        assert_eq!(net.fire(&net.initial(), a), Some(Marking::from([(p, 1), (q, 1)])));
        assert_eq!(net.transitions[a].consumed().count(), 0);
        assert_eq!(net.transitions[a].produced().collect::<Vec<_>>(), [q]);
    }
}
