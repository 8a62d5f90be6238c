//! Templates that nobody rendered: Helm charts and other Go templates look like broken YAML.
//!
//! Only a text that is refused anyway is searched, because `{{` is legal inside strings (alert annotations are full of it).

use super::place::line_around;

/// Where the template stands that explains an error at byte `at` of a stream, if the document around it has one.
pub(super) fn template(text: &str, at: usize) -> Option<usize> {
    on_line(text, at).or_else(|| {
        let (start, document) = document_around(text, at)?;
        Some(start + alone_on_a_line(document)?)
    })
}

/// The text between the document marks around byte `at`, and where it starts.
fn document_around(text: &str, at: usize) -> Option<(usize, &str)> {
    let start = text.get(..at)?.rfind("\n---").map_or(0, |mark| mark + 1);
    let end = text[at..].find("\n---").map_or(text.len(), |mark| at + mark);
    Some((start, &text[start..end]))
}

/// The error's own line, or the one before it, where a parser may have gone astray.
fn on_line(text: &str, at: usize) -> Option<usize> {
    let (start, line) = line_around(text, at);
    let (previous, before) = line_around(text, start.saturating_sub(1));
    line.find("{{").map(|i| start + i).or_else(|| before.find("{{").map(|i| previous + i))
}

/// A line that consists of a template action, such as `{{- if .Values.enabled }}`.
fn alone_on_a_line(document: &str) -> Option<usize> {
    let mut start = 0;
    for line in document.split_inclusive('\n') {
        let action = line.trim();
        if action.starts_with("{{") && action.ends_with("}}") {
            return Some(start + line.find("{{")?);
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_on_the_line_of_the_error_explains_it() {
        assert_eq!(template("a: 1\nb: {{ .x }}-c\n", 17), Some(8));
        assert_eq!(template("a: {{ .x }}-c\nb: 1\n", 14), Some(3));
    }

    #[test]
    fn a_control_line_explains_an_error_anywhere() {
        assert_eq!(template("{{- if .x }}\na: 1\n\n\n b: 2\n", 20), Some(0));
    }

    #[test]
    fn a_control_line_of_another_document_does_not() {
        assert_eq!(template("{{- if .x }}\n---\na: 1\n\n\n b: 2\n---\n{{ end }}\n", 26), None);
    }

    #[test]
    fn a_string_elsewhere_does_not() {
        assert_eq!(template("a: '{{ x }}'\n\n\n\tb: 1\n", 15), None);
    }
}
