//! Checks a certificate that somebody else made: nothing in it is trusted, and nothing is searched for.
//!
//! ```text
//! podreach check -f cluster.yaml POD NODE -o json > certificate.json
//! cargo run --example verify cluster.yaml certificate.json
//! ```

use std::error::Error;

use podreach::Analysis;

/// Checks the certificate of the arguments, or one about the demo of the repository.
pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (cluster, certificate) = match &arguments[..] {
        [cluster, certificate] => {
            (Analysis::from_yaml(std::fs::read_to_string(cluster)?)?, std::fs::read_to_string(certificate)?)
        }
        _ => {
            let cluster = Analysis::from_yaml(include_str!("../../../examples/demo.yaml"))?;
            let certificate = cluster.ask("ledger", "edge-1")?.decide().certificate();
            (cluster, certificate)
        }
    };
    for verified in cluster.verify(&certificate)? {
        println!("{verified}");
        if !verified.is_proved() {
            return Err("the certificate does not prove what it says".into());
        }
    }
    Ok(())
}
