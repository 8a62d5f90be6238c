//! Where a byte stands, in the words people use: line and column.

/// The line and the column of a byte, both from 1; columns count characters. A byte beyond the text counts as its end.
pub(super) fn line_and_column(text: &str, byte: u32) -> (usize, usize) {
    let before = &text.as_bytes()[..text.len().min(byte as usize)];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    (line, characters(&before[start..]) + 1)
}

/// How many characters start within `bytes` of a UTF-8 text.
pub(super) fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count()
}

/// The line that byte `at` stands on, without its line end, and the byte where it starts.
pub(super) fn line_around(text: &str, at: usize) -> (usize, &str) {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let start = bytes[..at].iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |newline| at + newline);
    (start, text[start..end].trim_end_matches('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_not_bytes() {
        let text = "ä: 1\nöö: 2\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 3), (1, 3));
        assert_eq!(line_and_column(text, 10), (2, 3));
        assert_eq!(line_and_column(text, 999), (3, 1));
    }

    #[test]
    fn a_line_comes_without_its_end() {
        assert_eq!(line_around("a\r\nbc\r\nd", 4), (3, "bc"));
        assert_eq!(line_around("a\nb", 3), (2, "b"));
        assert_eq!(line_around("a\n", 9), (2, ""));
    }
}
