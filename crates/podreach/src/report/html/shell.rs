//! The HTML around the data: one style, one script, and a policy that lets nothing else run.

use std::sync::LazyLock;

use serde_json::Value;

use super::digest::digest;

const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 9] = [
    include_str!("page/dom.js"),
    include_str!("page/store.js"),
    include_str!("page/cluster.js"),
    include_str!("page/film.js"),
    include_str!("page/proof.js"),
    include_str!("page/matrix.js"),
    include_str!("page/findings.js"),
    include_str!("page/serve.js"),
    include_str!("page/main.js"),
];

static SCRIPT: LazyLock<String> =
    LazyLock::new(|| format!("(() => {{\n'use strict';\n{}\nmain();\n}})();", SCRIPTS.concat()));

/// The content security policy of the page. A page by itself has it in its head; a server sends it, and allows itself to be asked.
pub static POLICY: LazyLock<String> = LazyLock::new(|| {
    let (script, style) = (digest(&SCRIPT), digest(STYLE));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
});

/// The page; without data it is the shell that asks for them.
pub fn document(data: Option<&Value>) -> String {
    let (policy, data) = match data {
        Some(data) => {
            (format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", *POLICY), embedded(data))
        }
        None => (String::new(), "null".to_owned()),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{policy}\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
        <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
        <title>podreach</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
        <a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<div id=\"app\"><noscript>This page draws its data with the script \
        it carries; please allow it to run.</noscript></div>\n\
        <script type=\"application/json\" id=\"data\">{data}</script>\n<script>{}</script>\n</body>\n</html>\n",
        *SCRIPT
    )
}

/// A value inside a script element: whatever could end it, or start a comment, is written as an escape.
fn embedded(data: &Value) -> String {
    let mut text = String::new();
    for c in data.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text += &format!("\\u{:04x}", c as u32),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_data_can_leave_its_element() {
        let hostile = json!({"name": "</script><script>alert(1)</script><!--", "line": "\u{2028}"});
        let text = embedded(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }
}
