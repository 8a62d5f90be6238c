//! Whether a pod may be deployed on a node: the rules of the scheduler, one by one, and admission.

use std::collections::BTreeMap;

use super::{Per, Quota, State, Type, World};

impl World {
    /// Whether all filters accept a new or waiting pod on a node.
    pub(super) fn accepts(&self, state: &State, of: usize, node: usize) -> bool {
        let (spec, here) = (&self.types[of].spec, self.node_in(state, node));
        state.there[node]
            && here.admits(spec)
            && spec.selects(here)
            && self.has_room(state, of, node)
            && self.has_ports(state, of, node)
            && self.is_near(state, of, node)
            && self.is_apart(state, of, node)
            && self.is_spread(state, of, node)
    }

    fn has_room(&self, state: &State, of: usize, node: usize) -> bool {
        let all = 0..self.types.len();
        let cpu: u64 = all.clone().map(|other| self.present(state, other, node) * self.types[other].spec.cpu).sum();
        let pods: u64 = all.map(|other| self.present(state, other, node)).sum();
        let asked = self.types[of].spec.cpu;
        let fits = cpu + asked <= self.nodes[node].cpu;
        let devices: u64 =
            (0..self.types.len()).map(|other| self.present(state, other, node) * self.types[other].spec.devices).sum();
        let wanted = self.types[of].spec.devices;
        let serves = devices + wanted <= self.node_in(state, node).devices;
        match self.options.paper {
            true => fits && serves,
            false => (asked == 0 || fits) && (wanted == 0 || serves) && pods < self.nodes[node].pods,
        }
    }

    fn has_ports(&self, state: &State, of: usize, node: usize) -> bool {
        let holds = |other: usize| self.tables.ports[of][other] && self.present(state, other, node) > 0;
        !(0..self.types.len()).any(holds)
    }

    /// Whether two nodes share a value of a key.
    fn are_near(&self, state: &State, key: &str, one: usize, other: usize) -> bool {
        let value = self.node_in(state, one).labels.get(key);
        value.is_some() && value == self.node_in(state, other).labels.get(key)
    }

    /// Whether a pod that passes a test there runs on a node that passes another.
    fn runs(&self, state: &State, pods: impl Fn(usize, usize) -> bool, nodes: impl Fn(usize) -> bool) -> bool {
        let on = |node: usize| (0..self.types.len()).any(|of| pods(of, node) && self.present(state, of, node) > 0);
        (0..self.nodes.len()).any(|node| nodes(node) && on(node))
    }

    fn is_near(&self, state: &State, of: usize, node: usize) -> bool {
        let (terms, table) = (&self.types[of].spec.near, &self.tables.near[of]);
        let nowhere = self.nodes.len();
        if self.options.paper {
            return terms.iter().zip(table).all(|(term, matches)| {
                self.runs(state, |other, on| matches[other][on], |other| self.are_near(state, &term.key, node, other))
                    || (matches[of][nowhere] && !self.runs(state, |other, on| matches[other][on], |_| true))
            });
        }
        let all = |other: usize, on: usize| table.iter().all(|matches| matches[other][on]);
        let has = |node: usize, key: &str| self.node_in(state, node).labels.contains_key(key);
        if !terms.iter().all(|term| has(node, &term.key)) {
            return false;
        }
        let served = |key: &str| self.runs(state, all, |other| self.are_near(state, key, node, other));
        let counted = |other: usize| terms.iter().any(|term| has(other, &term.key));
        terms.iter().all(|term| served(&term.key)) || (all(of, nowhere) && !self.runs(state, all, counted))
    }

    fn is_apart(&self, state: &State, of: usize, node: usize) -> bool {
        let own = self.types[of].spec.apart.iter().zip(&self.tables.apart[of]).any(|(term, matches)| {
            self.runs(state, |other, on| matches[other][on], |other| self.are_near(state, &term.key, node, other))
        });
        let nowhere = self.nodes.len();
        let theirs = |other: usize| {
            self.types[other].spec.apart.iter().zip(&self.tables.apart[other]).any(|(term, matches)| {
                matches[of][nowhere]
                    && self.runs(state, |one, _| one == other, |one| self.are_near(state, &term.key, node, one))
            })
        };
        !own && (self.options.paper || !(0..self.types.len()).any(theirs))
    }

    fn is_spread(&self, state: &State, of: usize, node: usize) -> bool {
        let spec = &self.types[of].spec;
        (0..spec.spread.len()).all(|at| self.keeps_skew(state, of, node, at))
    }

    fn keeps_skew(&self, state: &State, of: usize, node: usize, at: usize) -> bool {
        let spec = &self.types[of].spec;
        let (spread, matches) = (&spec.spread[at], &self.tables.spread[of][at]);
        let eligible = |node: usize| {
            let labels = &self.node_in(state, node).labels;
            let keyed = match self.options.paper {
                true => labels.contains_key(&spread.key),
                false => spec.spread.iter().all(|other| labels.contains_key(&other.key)),
            };
            keyed
                && state.there[node]
                && (!spread.honors_affinity || spec.selects(self.node_in(state, node)))
                && (!spread.honors_taints || self.node_in(state, node).tolerated_by(spec))
        };
        let Some(domain) = self.node_in(state, node).labels.get(&spread.key) else { return false };
        if self.options.paper && !eligible(node) {
            return false;
        }
        let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
        for other in (0..self.nodes.len()).filter(|other| eligible(*other)) {
            let count = counts.entry(&self.node_in(state, other).labels[&spread.key]).or_default();
            for counted in (0..self.types.len()).filter(|counted| matches[*counted][other]) {
                let at = self.at(counted, other);
                *count += u64::from(state.running[at]);
                *count += if self.options.paper { u64::from(state.leaving[at]) } else { 0 };
            }
        }
        let few = (counts.len() as u64) < spread.domains;
        let least = if few { 0 } else { counts.values().min().copied().unwrap_or(u64::MAX / 2) };
        let here = counts.get(domain).copied().unwrap_or_default() + u64::from(matches[of][self.nodes.len()]);
        here <= least + spread.skew
    }

    /// Whether the API server takes one more pod of a type, and a controller makes it.
    pub(super) fn is_admitted(&self, state: &State, of: usize, node: usize) -> bool {
        let own = &self.types[of];
        own.made
            && self.is_within_limit(state, of, node)
            && self.quotas.iter().all(|quota| self.leaves_room(quota, state, own))
    }

    /// How many of a type there are, on a node or anywhere, with or without those that terminate and those that wait.
    fn alive(&self, state: &State, of: usize, node: Option<usize>, leaving: bool) -> u64 {
        let on = |node: usize| {
            let at = self.at(of, node);
            u64::from(state.running[at]) + if leaving { u64::from(state.leaving[at]) } else { 0 }
        };
        match node {
            Some(node) => on(node),
            None => (0..self.nodes.len()).map(on).sum::<u64>() + u64::from(state.waiting[of]),
        }
    }

    fn is_within_limit(&self, state: &State, of: usize, node: usize) -> bool {
        // There is one pod of a name, also where it would come back as something else.
        let by_name = || self.types.iter().any(|other| other.part_of == Some(of) && self.types[of].is_lone());
        let limit = self.types[of].limit.filter(|_| self.options.declared || by_name());
        let Some((most, per, leaving)) = limit else { return true };
        let node = (per == Per::Node).then_some(node);
        let name = Some(&self.types[of].name);
        let counts = |other: &usize| *other == of || self.types[*other].former_of.as_ref() == name;
        let each = (0..self.types.len()).filter(counts);
        each.map(|other| self.alive(state, other, node, leaving || self.options.paper)).sum::<u64>() < most
    }

    fn leaves_room(&self, quota: &Quota, state: &State, of: &Type) -> bool {
        if quota.namespace != of.spec.namespace {
            return true;
        }
        let inside = (0..self.types.len()).filter(|other| self.types[*other].spec.namespace == quota.namespace);
        let (mut objects, mut pods, mut cpu) = (1, 1, of.spec.cpu);
        for other in inside {
            let count = self.alive(state, other, None, self.options.paper);
            objects += self.alive(state, other, None, true);
            pods += count;
            cpu += count * self.types[other].spec.cpu;
        }
        quota.objects.is_none_or(|most| objects <= most)
            && quota.pods.is_none_or(|most| pods <= most)
            && quota.cpu.is_none_or(|most| of.spec.cpu > 0 && cpu <= most)
    }
}
