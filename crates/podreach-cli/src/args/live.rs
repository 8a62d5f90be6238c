//! The flags of kubectl that say which cluster, as whom, and where.

#[cfg(feature = "live")]
use std::path::PathBuf;
#[cfg(feature = "live")]
use std::time::Duration;

use podreach::lower::Kind;

/// Which cluster is read, and as whom: as kubectl spells it.
#[cfg(feature = "live")]
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Live cluster (without -f)")]
pub(crate) struct Flags {
    /// The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The cluster of the kubeconfig, instead of the context's
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// The user of the kubeconfig, instead of the context's
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Where names without a namespace are looked up, also with -f; and all that is read if your rights end there
    #[arg(short = 'n', long, value_name = "NAMESPACE", conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,
    /// Look names up in all namespaces, which is the default
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    /// Act as this user
    #[arg(long = "as", value_name = "USER")]
    pub(crate) as_user: Option<String>,
    /// Act as a member of this group (repeatable)
    #[arg(long, value_name = "GROUP")]
    pub(crate) as_group: Vec<String>,
    /// Act as the user with this uid
    #[arg(long, value_name = "UID")]
    pub(crate) as_uid: Option<String>,
    /// The address of the API server
    #[arg(short = 's', long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// A bearer token
    #[arg(long, value_name = "TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// A file with the certificates that the server's may be signed by
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// A file with a client certificate
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// A file with the key of the client certificate
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    pub(crate) client_key: Option<PathBuf>,
    /// The name to expect in the server's certificate
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// Do not check the server's certificate: whoever is in between can read and change everything
    #[arg(long)]
    pub(crate) insecure_skip_tls_verify: bool,
    /// How long one request may take: 30, 30s, 5m; 0 for ever
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::units::duration)]
    pub(crate) request_timeout: Duration,
    /// How many objects to ask for at a time
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) chunk_size: u32,
}

/// Stands in for the flags of live clusters where they cannot be read.
#[cfg(not(feature = "live"))]
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Flags {
    /// Where names without a namespace are looked up
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

impl Flags {
    /// The name of a pod as it is looked up: one without a namespace is of the namespace that was given.
    pub(crate) fn qualified(&self, name: &str) -> String {
        let Some(namespace) = &self.namespace else { return name.to_owned() };
        match name.split_once('/') {
            None => format!("{namespace}/{name}"),
            Some((kind, rest)) if !rest.contains('/') && Kind::called(kind).is_some() => {
                format!("{kind}/{namespace}/{rest}")
            }
            Some(_) => name.to_owned(),
        }
    }
}
