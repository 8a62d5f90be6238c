//! Drawings of a run: for the terminal, as SVG, as a Mermaid diagram, and as a trace in ITF.

pub(crate) mod frames;
pub(crate) mod itf;
pub(crate) mod mermaid;
pub(crate) mod svg;
