//! What the server answers: the page, the cluster, and everything that is asked about it.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use podreach::matrix::Cell;
use podreach::report::{self, html};
use podreach::{question, sandbox};
use podreach_core::{NodeId, PodId, cancel};
use serde_json::{Value, json};

use super::access::Access;
use super::attended::Attended;
use super::exports;
use super::http::{Request, Response};
use super::jobs::{Job, Jobs};
use super::orders::Order;
use super::refused::Refused;
use super::world::{Variant, World};
use crate::budget;
use crate::output::ending::Exit;

/// The most flips that are listed.
const FLIPS: usize = 5_000;

/// How often limits are looked at, and how many times in a row memory may be over its limit before work is given up.
const TICK: Duration = Duration::from_millis(20);
const PATIENCE: u32 = 2;
/// What the program itself takes.
const PROGRAM: usize = 32 << 20;

/// Everything that a request may need.
#[derive(Debug)]
pub(super) struct Server {
    world: World,
    access: Access,
    jobs: Jobs,
    /// What is answered at once.
    attended: Attended,
    /// The page without its data.
    shell: Arc<str>,
}

impl Server {
    pub(super) fn new(world: World, access: Access) -> Self {
        Self { world, access, jobs: Jobs::default(), attended: Attended::default(), shell: html::document(None).into() }
    }

    /// Sees to the limits of all jobs, and of the process as a whole, until it is to end.
    pub(super) fn watch(&self) {
        let most = self.world.limits.memory.saturating_add(PROGRAM);
        let mut over = 0_u32;
        while !budget::is_interrupted() {
            self.jobs.watch();
            self.attended.watch();
            over = if budget::resident().is_some_and(|held| held > most) { over + 1 } else { 0 };
            // What is remembered goes first; if that is not enough, what is asked.
            if over > 0 {
                self.world.shed();
                self.jobs.shed(over > PATIENCE);
            }
            if over > PATIENCE {
                self.attended.shed();
            }
            std::thread::sleep(TICK);
        }
        std::process::exit(Exit::Yes as i32);
    }
}

/// The answer to a request that came by a connection, or why there is none within the limits.
pub(super) fn answer(server: &Arc<Server>, stream: &Arc<TcpStream>, request: &Request) -> Response {
    let answered = server.attended.during(stream, server.world.limits.timeout, || answered(server, request));
    answered
        .map(|answered| answered.unwrap_or_else(|refused| refused))
        .unwrap_or_else(|stop| Response::refusal(503, &Refused::Stopped(stop).to_string()))
}

fn answered(server: &Arc<Server>, request: &Request) -> Result<Response, Response> {
    server.access.address(request)?;
    let (method, path) = (request.method.as_str(), request.path.as_str());
    if path == "/" {
        return match method {
            "GET" => Ok(Response { status: 200, kind: "text/html", body: vec![Arc::clone(&server.shell)] }),
            _ => Err(Response::refusal(405, "the page is only read")),
        };
    }
    let Some(what) = path.strip_prefix("/api/") else { return Err(Response::refusal(404, "there is no such page")) };
    server.access.token(request)?;
    if let Some(id) = what.strip_prefix("jobs/").map(str::parse::<u64>) {
        let job = match (method, id) {
            ("GET", Ok(id)) => server.jobs.look(id),
            ("DELETE", Ok(id)) => server.jobs.leave(id),
            _ => None,
        };
        return job.map(|job| Response::text(200, job)).ok_or_else(|| Response::refusal(404, "there is no such job"));
    }
    match (method, what) {
        ("GET", "page") => {
            let page = server.world.page().map_err(bad)?;
            Ok(Response::text(200, vec![page]))
        }
        ("POST", "cluster" | "why" | "ask" | "matrix" | "flips" | "file") => ordered(server, what, request),
        (_, "page" | "cluster" | "why" | "ask" | "matrix" | "flips" | "file") => Err(Response::refusal(
            405,
            if what == "page" { "method not allowed; use GET" } else { "method not allowed; use POST" },
        )),
        _ => Err(Response::refusal(404, "there is no such thing to ask")),
    }
}

/// That a request makes no sense.
fn bad(why: impl Into<Refused>) -> Response {
    Response::refusal(400, &why.into().to_string())
}

/// What is answered at once, or the job that will answer it.
fn ordered(server: &Arc<Server>, what: &str, request: &Request) -> Result<Response, Response> {
    if request.field("content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        return Err(Response::refusal(400, "the body is to be JSON"));
    }
    let order = Order::read(&request.body).map_err(bad)?;
    let variant = server.world.variant(order.edits.clone()).map_err(bad)?;
    let asked = |order: &Order| asked(&variant, order).map_err(bad);
    // The same question about the same cluster is the same job.
    let question = format!("{what} {order:?}");
    match what {
        "cluster" => Ok(Response::text(200, vec![variant.cluster()])),
        "why" => Ok(Response::json(200, &why(&server.world, &variant, asked(&order)?))),
        "ask" => {
            let atom = asked(&order)?;
            job(server, question, move |server, job| ask(&server.world, &variant, atom, job))
        }
        "file" => {
            let (atom, file) = (asked(&order)?, order.file.ok_or_else(|| bad(Refused::Lacks("file")))?);
            job(server, question, move |server, job| {
                let decided = server.world.decided(&variant, atom, job)?;
                exports::file(&server.world, &variant, &decided, &file)
            })
        }
        "matrix" => job(server, question, move |server, job| {
            job.expect(variant.problem.model.pods().len());
            let matrix = server.world.matrix(&variant, job);
            Ok(cancel::exempt(|| html::matrix(&matrix)))
        }),
        _ => job(server, question, move |server, job| flips(&server.world, &variant, job)),
    }
}

fn job(
    server: &Arc<Server>,
    question: String,
    work: impl FnOnce(&Server, &Job) -> Result<Value, Refused> + Send + 'static,
) -> Result<Response, Response> {
    let own = Arc::clone(server);
    let id = server.jobs.start(question, server.world.limits.timeout, move |job| work(&own, job));
    id.and_then(|id| server.jobs.look(id))
        .map(|job| Response::text(202, job))
        .ok_or_else(|| Response::refusal(429, "too many questions are being answered: wait for one, or cancel one"))
}

/// The pod type and the node of a request.
fn asked(variant: &Variant, order: &Order) -> Result<(PodId, NodeId), Refused> {
    let cluster = &variant.lowered.cluster;
    let pod = order.pod.as_deref().ok_or(Refused::Lacks("pod"))?;
    let node = order.node.as_deref().ok_or(Refused::Lacks("node"))?;
    Ok((question::pod(cluster, pod)?, question::node(cluster, node)?))
}

fn why(world: &World, variant: &Variant, (pod, node): (PodId, NodeId)) -> Value {
    let why = report::Why::new(&variant.problem, &variant.lowered.diagnostics, pod, &[node]);
    report::why_json(&why.assuming(world.session.assumptions(variant.problem.model.semantics())))
}

/// An answer with its evidence, and the files that can be made of it.
fn ask(world: &World, variant: &Variant, asked: (PodId, NodeId), job: &Job) -> Result<Value, Refused> {
    let decided = world.decided(variant, asked, job)?;
    let answered = decided.answered(world);
    Ok(cancel::exempt(|| {
        let certificate = exports::certificate(world, variant, &answered);
        json!({"answer": html::answer(&answered, certificate), "files": exports::files(&decided)})
    }))
}

fn flips(world: &World, variant: &Variant, job: &Job) -> Result<Value, Refused> {
    let base = world.variant(Vec::new())?;
    job.expect(base.problem.model.pods().len() + variant.problem.model.pods().len());
    let (before, after) = (world.matrix(&base, job), world.matrix(variant, job));
    let stopped = before.stopped.or(after.stopped).map(|stop| stop.to_string());
    let (flips, all) = cancel::exempt(|| sandbox::flips(&before, &after, FLIPS));
    let m = &variant.problem.model;
    let listed = flips.iter().map(|flip| {
        let from = flip.from.map_or("absent", Cell::name);
        json!({"pod": m.pod_name(flip.pod), "node": m.node_name(flip.node), "from": from, "to": flip.to.name()})
    });
    Ok(json!({"flips": listed.collect::<Vec<_>>(), "all": all, "stopped": stopped}))
}
