//! Asks one question about a cluster, and prints the answer with its evidence.
//!
//! ```text
//! cargo run --example ask [FILE POD NODE]
//! ```

use std::error::Error;
use std::time::Duration;

use podreach::Analysis;

/// Asks what the arguments say, or about the demo of the repository.
pub fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (text, pod, node) = match &arguments[..] {
        [file, pod, node] => (std::fs::read_to_string(file)?, pod.as_str(), node.as_str()),
        _ => (include_str!("../../../examples/demo.yaml").to_owned(), "web", "edge-1"),
    };
    let cluster = Analysis::from_yaml(text)?;
    let answer = cluster.ask(pod, node)?.within(Duration::from_secs(10)).decide();
    println!("{answer}");
    Ok(())
}
