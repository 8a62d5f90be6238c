//! What the server answers: the page, the cluster, and everything that is asked about it.

use std::sync::Arc;

use podreach::answer::{Oracle, Sure};
use podreach::engine::Budget;
use podreach::matrix::Cell;
use podreach::report::{self, Answered, html};
use podreach::{question, sandbox};
use podreach_core::{Goal, NodeId, PodId, Problem};
use serde_json::{Value, json};

use super::exports;
use super::gate::Gate;
use super::http::{Request, Response};
use super::jobs::{Job, Jobs};
use super::orders::Order;
use super::world::{Variant, World};

/// The most flips that are listed.
const FLIPS: usize = 5_000;

/// Everything that a request may need.
#[derive(Debug)]
pub(super) struct Server {
    world: World,
    gate: Gate,
    jobs: Jobs,
}

impl Server {
    pub(super) fn new(world: World, gate: Gate) -> Self {
        Self { world, gate, jobs: Jobs::default() }
    }
}

/// The answer to a request.
pub(super) fn answer(server: &Arc<Server>, request: &Request) -> Response {
    answered(server, request).unwrap_or_else(|refused| refused)
}

fn answered(server: &Arc<Server>, request: &Request) -> Result<Response, Response> {
    server.gate.address(request)?;
    let (method, path) = (request.method.as_str(), request.path.as_str());
    if path == "/" {
        return match method {
            "GET" => Ok(Response { status: 200, kind: "text/html", body: html::document(None).into_bytes() }),
            _ => Err(Response::refusal(405, "the page is only read")),
        };
    }
    let Some(what) = path.strip_prefix("/api/") else { return Err(Response::refusal(404, "there is no such page")) };
    server.gate.token(request)?;
    if let Some(id) = what.strip_prefix("jobs/").map(str::parse::<u64>) {
        let gone = || Response::refusal(404, "there is no such job");
        let job = match (method, id) {
            ("GET", Ok(id)) => server.jobs.look(id),
            ("DELETE", Ok(id)) => server.jobs.cancel(id),
            _ => None,
        };
        return job.map(|job| Response::json(200, &job)).ok_or_else(gone);
    }
    match (method, what) {
        ("GET", "page") => Ok(Response::json(200, &page(&server.world)?)),
        ("POST", "cluster" | "why" | "ask" | "matrix" | "flips" | "report") => ordered(server, what, request),
        (_, "page" | "cluster" | "why" | "ask" | "matrix" | "flips" | "report") => {
            Err(Response::refusal(405, "this is asked in another way"))
        }
        _ => Err(Response::refusal(404, "there is no such thing to ask")),
    }
}

fn page(world: &World) -> Result<Value, Response> {
    let variant = world.variant(Vec::new()).map_err(|why| Response::refusal(400, &why))?;
    let diagnostics = report::diagnostics(&world.session.sources, &world.session.lowered.diagnostics);
    let assumptions = world.session.assumptions(variant.problem.model.semantics());
    Ok(html::data(&variant.problem, &world.title, (&diagnostics, assumptions), html::View::Cluster))
}

/// What is answered at once, or the job that will answer it.
fn ordered(server: &Arc<Server>, what: &str, request: &Request) -> Result<Response, Response> {
    if request.field("content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        return Err(Response::refusal(400, "the body is to be JSON"));
    }
    let bad = |why: String| Response::refusal(400, &why);
    let order = Order::read(&request.body).map_err(bad)?;
    let variant = server.world.variant(order.edits.clone()).map_err(bad)?;
    let asked = |order: &Order| asked(&variant, order).map_err(bad);
    match what {
        "cluster" => Ok(Response::json(200, &html::cluster(&variant.problem))),
        "why" => Ok(Response::json(200, &why(&server.world, &variant, asked(&order)?))),
        "ask" => {
            let (pod, node) = asked(&order)?;
            job(server, move |server, job| ask(&server.world, &variant, pod, node, job))
        }
        "report" => {
            let (pod, node) = asked(&order)?;
            job(server, move |server, job| {
                let decided = decided(&server.world, &variant, pod, node, job)?;
                Ok(exports::report(&server.world, &variant, &decided))
            })
        }
        "matrix" => job(server, move |server, job| {
            job.expect(variant.problem.model.pods().len());
            let matrix = server.world.matrix(&variant, job)?;
            Ok(html::matrix(&variant.problem, &matrix))
        }),
        _ => job(server, move |server, job| flips(&server.world, &variant, job)),
    }
}

fn job(
    server: &Arc<Server>,
    work: impl FnOnce(&Server, &Job) -> Result<Value, String> + Send + 'static,
) -> Result<Response, Response> {
    let own = Arc::clone(server);
    let id = server.jobs.start(server.world.limits.timeout, move |job| work(&own, job));
    let busy = || Response::refusal(429, "too many questions are being answered: wait for one, or cancel one");
    id.and_then(|id| server.jobs.look(id)).map(|job| Response::json(202, &job)).ok_or_else(busy)
}

/// The pod type and the node of a request.
fn asked(variant: &Variant, order: &Order) -> Result<(PodId, NodeId), String> {
    let cluster = &variant.lowered.cluster;
    let pod = order.pod.as_deref().ok_or("a question needs a pod")?;
    let node = order.node.as_deref().ok_or("a question needs a node")?;
    let pod = question::pod(cluster, pod).map_err(|error| error.to_string())?;
    Ok((pod, question::node(cluster, node).map_err(|error| error.to_string())?))
}

fn why(world: &World, variant: &Variant, (pod, node): (PodId, NodeId)) -> Value {
    let name = &variant.lowered.cluster.pods[pod].name;
    let problem = &variant.problem;
    let why = report::Why::new(&problem.model, &problem.start, pod, &[node]);
    let assumptions = world.session.assumptions(problem.model.semantics());
    report::why_json(&why.with_doubts(&variant.lowered.diagnostics, &[name]).assuming(assumptions))
}

/// A question and its answer.
pub(super) fn decided(
    world: &World,
    variant: &Variant,
    pod: PodId,
    node: NodeId,
    job: &Job,
) -> Result<(Problem, Sure), String> {
    let asked = question::asking(&variant.problem, Goal::atom((pod, node)));
    let problem = asked.map_err(|error| error.to_string())?;
    let budget = Budget {
        interrupt: &|| job.stop(),
        memory: world.limits.memory,
        threads: world.threads(),
        ..Budget::unlimited()
    };
    let decision = Oracle::new(&problem, &variant.lowered.diagnostics).answer(&problem.goal, &budget);
    Ok((problem, decision))
}

fn ask(world: &World, variant: &Variant, pod: PodId, node: NodeId, job: &Job) -> Result<Value, String> {
    let (problem, decision) = decided(world, variant, pod, node, job)?;
    let answered = Answered {
        problem: &problem,
        options: &world.session.options,
        decision: &decision,
        assumptions: world.session.assumptions(problem.model.semantics()),
    };
    let certificate = exports::certificate(world, variant, &answered);
    Ok(json!({"answer": html::answer(&answered, certificate), "exports": exports::texts(&answered)}))
}

fn flips(world: &World, variant: &Variant, job: &Job) -> Result<Value, String> {
    let base = world.variant(Vec::new())?;
    job.expect(base.problem.model.pods().len() + variant.problem.model.pods().len());
    let before = world.matrix(&base, job)?;
    let after = world.matrix(variant, job)?;
    let flips = sandbox::flips(&before, &after);
    let m = &variant.problem.model;
    let listed = flips.iter().take(FLIPS).map(|flip| {
        let from = flip.from.map_or("absent", Cell::name);
        json!({"pod": m.pod_name(flip.pod), "node": m.node_name(flip.node), "from": from, "to": flip.to.name()})
    });
    Ok(json!({"flips": listed.collect::<Vec<_>>(), "all": flips.len()}))
}
