//! One connection to an API server: requests by path, answers as JSON, failures in words.
//!
//! Everything that logs in (kubeconfig, exec plugins, tokens, certificates, the service account inside a cluster) is the client's; this
//! file only lets flags override it, as kubectl does. It blocks: commands are sequential, and nothing else here is asynchronous.

use std::time::Duration;

use http::{HeaderValue, Method, Request};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::failure::{ConnectError, Failure, address};
use crate::args::Flags;

/// A connection.
pub(crate) struct Connection {
    runtime: Runtime,
    client: Client,
    timeout: Duration,
    /// The address of the server.
    pub(crate) server: String,
    /// The namespace of the flags, or else of the context.
    pub(crate) namespace: String,
}

impl Connection {
    /// Connects as the flags say; nothing is sent yet, though an exec plugin may run.
    pub(crate) fn open(flags: &Flags) -> Result<Self, ConnectError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ConnectError::System)?;
        let (client, server, namespace) = runtime.block_on(async {
            let config = config(flags).await?;
            let facts = (config.cluster_url.to_string(), config.default_namespace.clone());
            let client = Client::try_from(config).map_err(|error| ConnectError::of_client(&error))?;
            Ok::<_, ConnectError>((client, facts.0, facts.1))
        })?;
        Ok(Self { runtime, client, timeout: flags.request_timeout, server: address(&server), namespace })
    }

    /// What the server has at a path.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::GET, path, None)
    }

    /// Sends a document; a patch is a merge patch.
    pub(crate) fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        let request = request.header("accept", "application/json");
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = request.body(body).map_err(|error| Failure::Silence(error.to_string()))?;
        let text = self.runtime.block_on(self.answer(request))?;
        serde_json::from_str(&text).map_err(|error| Failure::Silence(format!("the answer is not JSON: {error}")))
    }

    async fn answer(&self, request: Request<Vec<u8>>) -> Result<String, Failure> {
        let asked = self.client.request_text(request);
        let answered = if self.timeout.is_zero() {
            asked.await
        } else {
            tokio::time::timeout(self.timeout, asked)
                .await
                .map_err(|_| Failure::Silence(format!("no answer within {:?}", self.timeout)))?
        };
        answered.map_err(Failure::from)
    }
}

async fn config(flags: &Flags) -> Result<Config, ConnectError> {
    let mut config = base(flags).await?;
    if let Some(server) = &flags.server {
        config.cluster_url = server
            .parse()
            .map_err(|error: http::uri::InvalidUri| ConnectError::Server(address(server), error.to_string()))?;
    }
    let auth = &mut config.auth_info;
    if let Some(token) = &flags.token {
        auth.token = Some(token.clone().into());
        (auth.token_file, auth.exec) = (None, None);
    }
    if let (Some(certificate), Some(key)) = (&flags.client_certificate, &flags.client_key) {
        auth.client_certificate = Some(certificate.to_string_lossy().into_owned());
        auth.client_key = Some(key.to_string_lossy().into_owned());
        (auth.client_certificate_data, auth.client_key_data) = (None, None);
    }
    auth.impersonate = flags.as_user.clone().or(auth.impersonate.take());
    auth.impersonate_uid = flags.as_uid.clone().or(auth.impersonate_uid.take());
    if !flags.as_group.is_empty() {
        auth.impersonate_groups = Some(flags.as_group.clone());
    }
    if let Some(path) = &flags.certificate_authority {
        config.root_cert_file = Some(path.clone());
    }
    config.tls_server_name = flags.tls_server_name.clone().or(config.tls_server_name);
    config.accept_invalid_certs |= flags.insecure_skip_tls_verify;
    if let Some(namespace) = &flags.namespace {
        config.default_namespace.clone_from(namespace);
    }
    sendable(&config.auth_info).map(|()| config)
}

/// Refuses a token that cannot be sent, on which the client would panic.
fn sendable(login: &AuthInfo) -> Result<(), ConnectError> {
    let login = serde_json::to_value(login).unwrap_or_default();
    match login["token"].as_str().map(HeaderValue::from_str) {
        Some(Err(_)) => Err(ConnectError::Token),
        _ => Ok(()),
    }
}

/// The kubeconfig's cluster, or else the one around us; with `--server` neither is needed.
async fn base(flags: &Flags) -> Result<Config, ConnectError> {
    let choice =
        KubeConfigOptions { context: flags.context.clone(), cluster: flags.cluster.clone(), user: flags.user.clone() };
    let named = flags.context.is_some() || flags.cluster.is_some() || flags.user.is_some();
    let read = match &flags.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let from_file = match read {
        Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &choice).await,
        Err(error) => Err(error),
    };
    match from_file {
        Ok(config) => Ok(config),
        Err(error) if flags.kubeconfig.is_some() || named => Err(ConnectError::of_client(&error)),
        Err(error) => Config::incluster().map_err(|_| ConnectError::of_client(&error)).or_else(|why| {
            let address = flags.server.as_deref().and_then(|server| server.parse().ok());
            address.map(Config::new).ok_or(why)
        }),
    }
}
