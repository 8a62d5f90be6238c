//! Shortages of an audit read back: the demand, and the sums that fall short of it, by name and unchecked.
//!
//! The counterpart of `report/audit/shortage.rs`; reading is as strict as for the rest of a certificate.

use podreach_core::demand::{Argument, Demand, Inequality, Place, Want};
use podreach_core::resource::Amount;
use podreach_core::{Atom, Id, Model};

use super::certificate::strict::{Read, count, items, known, named_pod, refused, required, text};
use super::certificate::{Names, ResolveError, not_in_input};
use crate::read::{Tree, shown};

/// A demand and why it can never be met, with names that are not resolved yet.
#[derive(Clone, Debug)]
pub struct WrittenShortage {
    wants: Vec<(u64, Vec<(u64, Members)>)>,
    /// What each want is worth, and the inequalities; nothing where every choice is ruled out.
    sum: Option<(Vec<Amount>, Inequalities)>,
}

/// Inequalities, with how often each is added.
type Inequalities = Vec<(Written, Amount)>;

/// Pods on nodes, by pod; no nodes are all nodes.
type Members = Vec<(String, Option<Vec<String>>)>;

#[derive(Clone, Debug)]
enum Written {
    Capacity(String, String),
    Quota(String, String),
    Limit(String),
    Few(Members, u64),
    Below(String, String, u64),
    Place(usize, usize),
}

impl WrittenShortage {
    /// Reads what an audit writes.
    pub(crate) fn read(tree: &Tree<'_>) -> Read<Self> {
        known(tree, &["demand", "argument", "worth", "laws"])?;
        let wants = items(required(tree, "demand")?)?.iter().map(want).collect::<Read<_>>()?;
        let argument = required(tree, "argument")?;
        let sum = match text(argument)? {
            "cover" => None,
            "sum" => {
                let worth = items(required(tree, "worth")?)?.iter().map(amount).collect::<Read<_>>()?;
                Some((worth, items(required(tree, "laws")?)?.iter().map(inequality).collect::<Read<_>>()?))
            }
            other => {
                return Err(refused(argument.span, format!("an argument is a cover or a sum, not {}", shown(other))));
            }
        };
        Ok(Self { wants, sum })
    }

    /// The demand and the argument about a cluster; or what the cluster does not have.
    pub fn resolve(&self, m: &Model) -> Result<(Demand, Argument), ResolveError> {
        let names = Names::new(m);
        let mut demand = Demand::default();
        for (count, places) in &self.wants {
            let places = places
                .iter()
                .map(|(most, of)| Ok(Place { most: *most, atoms: atoms(m, &names, of)? }))
                .collect::<Result<_, ResolveError>>()?;
            demand.wants.push(Want { count: *count, places });
        }
        let Some((worth, inequalities)) = &self.sum else { return Ok((demand, Argument::Cover)) };
        let inequalities = inequalities
            .iter()
            .map(|(inequality, times)| Ok((resolved(m, &names, inequality)?, *times)))
            .collect::<Result<_, ResolveError>>()?;
        Ok((demand, Argument::Sum { worth: worth.clone(), inequalities }))
    }
}

fn atoms(m: &Model, names: &Names<'_>, members: &Members) -> Result<Vec<Atom>, ResolveError> {
    let mut atoms = Vec::new();
    for (pod, nodes) in members {
        let all: Vec<&str> = match nodes {
            Some(nodes) => nodes.iter().map(String::as_str).collect(),
            None => m.nodes().map(|node| m.node_name(node)).collect(),
        };
        for node in all {
            atoms.push(names.atom(pod, node)?);
        }
    }
    atoms.sort_unstable();
    Ok(atoms)
}

fn resolved(m: &Model, names: &Names<'_>, inequality: &Written) -> Result<Inequality, ResolveError> {
    let cluster = m.cluster();
    Ok(match inequality {
        Written::Capacity(node, resource) => {
            let known = (0..cluster.resources.entries().len()).map(Id::from_index);
            let found = known.into_iter().find(|&id| m.str(cluster.resources[id]) == resource);
            Inequality::Capacity(names.node(node)?, found.ok_or_else(|| not_in_input("resource", resource))?)
        }
        Written::Quota(name, resource) => {
            let found = cluster.quotas.iter().find(|(_, quota)| quota.name == *name && quota.resource == *resource);
            Inequality::Quota(found.ok_or_else(|| not_in_input("quota", name))?.0)
        }
        Written::Limit(name) => {
            let found = cluster.limits.iter().position(|limit| limit.name == *name);
            Inequality::Limit(found.ok_or_else(|| not_in_input("limit", name))?)
        }
        Written::Few(members, most) => Inequality::Few(atoms(m, names, members)?, *most),
        Written::Below(pod, node, count) => Inequality::Below(names.atom(pod, node)?, *count),
        &Written::Place(want, place) => Inequality::Place(want, place),
    })
}

fn want(tree: &Tree<'_>) -> Read<(u64, Vec<(u64, Members)>)> {
    known(tree, &["count", "places"])?;
    let wanted = count(required(tree, "count")?)?;
    Ok((wanted, items(required(tree, "places")?)?.iter().map(place).collect::<Read<_>>()?))
}

fn place(tree: &Tree<'_>) -> Read<(u64, Members)> {
    known(tree, &["most", "of"])?;
    Ok((count(required(tree, "most")?)?, members(required(tree, "of")?)?))
}

fn members(tree: &Tree<'_>) -> Read<Members> {
    items(tree)?.iter().map(member).collect()
}

fn member(tree: &Tree<'_>) -> Read<(String, Option<Vec<String>>)> {
    known(tree, &["pod", "nodes", "waited"])?;
    let nodes = required(tree, "nodes")?;
    let pod = named_pod(tree)?.into_owned();
    if nodes.str() == Some("*") {
        return Ok((pod, None));
    }
    let named = items(nodes)?.iter().map(|node| text(node).map(str::to_owned));
    Ok((pod, Some(named.collect::<Read<Vec<_>>>()?)))
}

fn amount(tree: &Tree<'_>) -> Read<Amount> {
    text(tree)?.parse().map_err(|_| refused(tree.span, "a whole number in quotes is expected here"))
}

fn inequality(tree: &Tree<'_>) -> Read<(Written, Amount)> {
    let kind = required(tree, "law")?;
    let name = |key: &str| text(required(tree, key)?).map(str::to_owned);
    let number = |key: &str| count(required(tree, key)?);
    let index = |key: &str| Ok(usize::try_from(number(key)?).unwrap_or(usize::MAX));
    let (keys, inequality): (&[&str], Written) = match text(kind)? {
        "capacity" => (&["node", "resource"], Written::Capacity(name("node")?, name("resource")?)),
        "quota" => (&["quota", "resource"], Written::Quota(name("quota")?, name("resource")?)),
        "limit" => (&["limit"], Written::Limit(name("limit")?)),
        "few" => (&["of", "most"], Written::Few(members(required(tree, "of")?)?, number("most")?)),
        "below" => {
            let pod = named_pod(tree)?.into_owned();
            (&["pod", "node", "count", "waited"], Written::Below(pod, name("node")?, number("count")?))
        }
        "place" => (&["want", "place"], Written::Place(index("want")?, index("place")?)),
        other => return Err(refused(kind.span, format!("there is no inequality {}", shown(other)))),
    };
    known(tree, &[&["law", "times"], keys].concat())?;
    Ok((inequality, amount(required(tree, "times")?)?))
}
