//! Containers: their requests and their host ports.

use std::net::IpAddr;

use podreach_core::cluster::HostPort;

use crate::lower::context::Context;
use crate::lower::errors;
use crate::lower::node::features;
use crate::lower::object::mapping::Object;
use crate::lower::resources::amount::{self, Amounts};
use crate::lower::schema::fields::{CONTAINER, CONTAINER_PORT, RESOURCE_REQUIREMENTS};

/// A container, as far as placement is concerned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) requests: Amounts,
    pub(crate) limits: Amounts,
    pub(crate) ports: Vec<HostPort>,
    /// The same in the words by which the API server tells them apart: no address and the one that stands for all are two.
    pub(crate) port_texts: Vec<String>,
    /// Whether it is an init container that goes on running beside the others.
    pub(crate) always: bool,
    /// The features that its node must declare.
    pub(crate) features: Vec<&'static str>,
}

/// The containers in a field of a pod.
pub(crate) fn read(cx: &mut Context, spec: &Object<'_, '_>, field: &str, host_network: bool) -> Vec<Container> {
    let containers = spec.objects(field, &CONTAINER, &mut cx.log);
    containers.iter().map(|container| read_one(cx, container, host_network)).collect()
}

fn read_one(cx: &mut Context, container: &Object<'_, '_>, host_network: bool) -> Container {
    let resources = container.object("resources", &RESOURCE_REQUIREMENTS, &mut cx.log);
    let (requests, limits) = resources.map(|resources| amounts(cx, &resources)).unwrap_or_default();
    let (ports, port_texts) = ports(cx, container, host_network);
    Container {
        name: container.text("name", &mut cx.log).unwrap_or_default().to_owned(),
        requests,
        limits,
        ports,
        port_texts,
        always: container.text("restartPolicy", &mut cx.log) == Some("Always"),
        features: features::of_container(container),
    }
}

/// Requests and limits. What has a limit and no request requests its limit, as the API server has it.
///
/// Kubernetes: `pkg/apis/core/v1/defaults.go`, `SetDefaults_Pod`.
pub(crate) fn amounts(cx: &mut Context, resources: &Object<'_, '_>) -> (Amounts, Amounts) {
    let limits = amount::read_requests(cx, resources, "limits");
    let requests = amount::read_requests(cx, resources, "requests");
    for (resource, request) in &requests {
        if limits.get(resource).is_some_and(|limit| limit < request) {
            cx.report(errors::above_limit(resources.span(), resource));
        }
    }
    (requests, limits)
}

fn ports(cx: &mut Context, container: &Object<'_, '_>, host_network: bool) -> (Vec<HostPort>, Vec<String>) {
    let ports = container.objects("ports", &CONTAINER_PORT, &mut cx.log);
    ports.iter().filter_map(|port| host_port(cx, port, host_network)).unzip()
}

/// The port of the host that a container port takes, if it takes one, and what the API server calls it.
///
/// Kubernetes: `pkg/apis/core/validation/validation.go`, `AccumulateUniqueHostPorts`.
fn host_port(cx: &mut Context, port: &Object<'_, '_>, host_network: bool) -> Option<(HostPort, String)> {
    if port.field("containerPort").is_none() {
        cx.report(errors::missing(port.span(), "ContainerPort", "containerPort"));
    }
    let inner = port.integer("containerPort", 1, 65535, &mut cx.log);
    let outer = port.integer("hostPort", 0, 65535, &mut cx.log).filter(|&number| number != 0);
    let protocol = port.text("protocol", &mut cx.log).filter(|text| !text.is_empty()).unwrap_or("TCP");
    if !["TCP", "UDP", "SCTP"].contains(&protocol) {
        cx.report(errors::not_one_of(port.place("protocol"), "protocol", protocol, &["TCP", "UDP", "SCTP"]));
    }
    let address = port.text("hostIP", &mut cx.log).filter(|text| !text.is_empty());
    if let Some(text) = address.filter(|text| text.parse::<IpAddr>().is_err()) {
        cx.report(errors::bad_address(port.span(), text));
    }
    let number = outer.or(inner.filter(|_| host_network && cx.admission))?;
    let text = format!("{protocol}/{}/{number}", address.unwrap_or_default());
    let address = address.filter(|&text| text != "0.0.0.0").map(|text| cx.symbol(text));
    Some((HostPort { address, protocol: cx.symbol(protocol), port: u16::try_from(number).ok()? }, text))
}
