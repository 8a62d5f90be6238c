//! Why a cluster cannot be read, in words that hold no credentials.
//!
//! What the client says of its errors has in it what they are about: lines of the kubeconfig, all that a credential plugin printed, the address
//! of a proxy with its password. Of those errors only what went wrong is reported, and where.

use std::error::Error;

use kube::client::AuthError;
use kube::config::KubeconfigError;

use crate::gather;

/// Why a request was not answered as hoped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server said no, with this status and message.
    Status(u16, String),
    /// There was no answer.
    Silence(String),
}

impl Failure {
    /// Whether the server answered with a status.
    pub(crate) fn is(&self, status: u16) -> bool {
        matches!(self, Self::Status(code, _) if *code == status)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status, message) => write!(f, "{message} ({status})"),
            Self::Silence(why) => f.write_str(why),
        }
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Status(status.code, status.message.clone()),
            other => Self::Silence(without_credentials(&other)),
        }
    }
}

impl Error for Failure {}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// The system has no means for it.
    System(std::io::Error),
    /// `--server` is not an address: without its credentials, and what is wrong with it.
    Server(String, String),
    /// The token cannot be sent.
    Token,
    /// The client says no; in words without credentials.
    Client(String),
}

impl std::fmt::Display for ConnectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::Server(address, why) => write!(f, "--server {address}: {why}"),
            Self::Token => write!(f, "the token has characters that no token has"),
            Self::Client(words) => f.write_str(words),
        }
    }
}

impl Error for ConnectError {}

impl ConnectError {
    /// What the client says, without credentials.
    pub(crate) fn of_client(error: &(dyn Error + 'static)) -> Self {
        Self::Client(without_credentials(error))
    }
}

/// An error with its causes, each said once; of one that may have credentials in it, what went wrong.
fn without_credentials(error: &(dyn Error + 'static)) -> String {
    if let Some(words) = causes(error).find_map(confidential) {
        return words;
    }
    causes(error).map(ToString::to_string).fold(String::new(), |text, more| match text.as_str() {
        "" => more,
        _ if text.contains(&more) => text,
        _ => format!("{text}: {more}"),
    })
}

/// An error and what caused it.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// What is reported of an error that may have credentials in it.
fn confidential(error: &(dyn Error + 'static)) -> Option<String> {
    let of_client = error.downcast_ref::<kube::Error>().and_then(of_client);
    of_client
        .or_else(|| error.downcast_ref::<KubeconfigError>().and_then(of_kubeconfig))
        .or_else(|| error.downcast_ref::<AuthError>().map(of_login))
}

fn of_client(error: &kube::Error) -> Option<String> {
    match error {
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
            Some("proxies of this protocol are not supported".to_owned())
        }
        _ => None,
    }
}

fn of_kubeconfig(error: &KubeconfigError) -> Option<String> {
    match error {
        KubeconfigError::ReadConfig(error, path) => Some(gather::unreadable(path, error)),
        KubeconfigError::Parse(error) => {
            let place = error.location().map(|place| format!(" (line {}, column {})", place.line(), place.column()));
            Some(format!("the kubeconfig is not YAML, or not a kubeconfig{}", place.unwrap_or_default()))
        }
        _ => None,
    }
}

fn of_login(error: &AuthError) -> String {
    const PLUGIN: &str = "the credential plugin of the kubeconfig";
    match error {
        AuthError::AuthExecStart(error) => format!("{PLUGIN} cannot be run: {error}"),
        AuthError::AuthExecRun { out, .. } => format!("{PLUGIN} failed ({}); run it by hand to see why", out.status),
        AuthError::AuthExecParse(_) => format!("{PLUGIN} prints something else than credentials"),
        AuthError::ExecPluginFailed => format!("{PLUGIN} gave no credentials"),
        AuthError::ReadTokenFile(error, path) => gather::unreadable(path, error),
        AuthError::InvalidBearerToken(_) => "the token has characters that no token has".to_owned(),
        AuthError::InvalidBasicAuth(_) => "the user name or password has characters that cannot be sent".to_owned(),
        _ => "the credentials of the kubeconfig cannot be used".to_owned(),
    }
}

/// An address without what it may say about who asks: no user, no password, no query.
pub(crate) fn address(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (scheme, rest) = url[..end].split_once("://").unwrap_or(("", &url[..end]));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{host}{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_nobody_else() {
        for (given, expected) in [
            ("https://host:6443/", "https://host:6443"),
            ("https://user:hunter2@host/k8s/c-1", "https://host/k8s/c-1"),
            ("https://a@b:hunter2@host?token=hunter2", "https://host"),
            ("https://host/path?token=hunter2#hunter2", "https://host/path"),
            ("hunter2@host:80", "host:80"),
            ("", ""),
        ] {
            assert_eq!(address(given), expected);
        }
    }
}
