//! A source: the text of one file, whatever it was packed or marked with.
//!
//! Decoding is done once, here; everything after sees plain UTF-8 without a byte order mark, and all spans are offsets into that text.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use super::errors;
use super::limits::MAX_SOURCE_BYTES;
use crate::diagnostic::Diagnostic;

/// A named text: a file, standard input, the answer of an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What messages call it, usually its path.
    pub name: String,
    /// Its text, unpacked and without a byte order mark.
    pub text: String,
}

impl Source {
    /// Decodes `bytes`: gzip is unpacked, a UTF-8 byte order mark dropped, and any other encoding refused.
    ///
    /// The diagnostic has no span, since a source that cannot be decoded has no text to point into; it names the source instead.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        let name = name.into();
        let text = decoded(&name, unpacked(&name, bytes, MAX_SOURCE_BYTES)?)?;
        Ok(Self { name, text })
    }
}

fn unpacked(name: &str, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>, Diagnostic> {
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { gunzipped(name, &bytes, limit)? } else { bytes };
    if bytes.len() > limit { Err(errors::too_large(name)) } else { Ok(bytes) }
}

/// Unpacks at most one byte more than `limit`, so that a bomb costs no more memory than an honest file.
fn gunzipped(name: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, Diagnostic> {
    let mut out = Vec::new();
    let unpacked = MultiGzDecoder::new(bytes).take(limit as u64 + 1).read_to_end(&mut out);
    unpacked.map_err(|error| errors::damaged_gzip(name, &error))?;
    Ok(out)
}

fn decoded(name: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    if is_wide(&bytes) {
        return Err(errors::wide_encoding(name));
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = before.split('\n').next_back().unwrap_or_default();
        errors::not_utf8(name, before.matches('\n').count() + 1, line.chars().count() + 1)
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Whether the text is UTF-16 or UTF-32: it starts with their mark, or with an ASCII character of theirs.
fn is_wide(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 0, 0xfe, 0xff, ..])
        || matches!(bytes, [0, 1..=127, ..] | [1..=127, 0, ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn code(bytes: &[u8]) -> &'static str {
        Source::from_bytes("f", bytes.to_vec()).unwrap_err().code
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        assert_eq!(Source::from_bytes("f", b"\xef\xbb\xbfa: 1".to_vec()).unwrap().text, "a: 1");
    }

    #[test]
    fn gzip_is_unpacked_even_in_several_members() {
        let packed = [gzip(b"a: 1\n"), gzip(b"b: 2\n")].concat();
        assert_eq!(Source::from_bytes("f", packed).unwrap().text, "a: 1\nb: 2\n");
    }

    #[test]
    fn damaged_gzip_is_refused() {
        let packed = gzip(b"a: 1\n");
        assert_eq!(code(&packed[..packed.len() - 4]), "E0102");
        assert_eq!(code(b"\x1f\x8bnonsense"), "E0102");
    }

    #[test]
    fn a_gzip_bomb_stops_at_the_limit() {
        let packed = gzip(&vec![b'a'; 1 << 20]);
        assert!(packed.len() < 4096);
        assert_eq!(gunzipped("f", &packed, 1000).unwrap().len(), 1001);
        assert_eq!(unpacked("f", packed, 1000).unwrap_err().code, "E0101");
    }

    #[test]
    fn utf16_is_named_as_such() {
        assert_eq!(code(&utf16("\u{feff}kind: Pod")), "E0103");
        assert_eq!(code(&utf16("kind: Pod")), "E0103");
    }

    #[test]
    fn invalid_utf8_is_refused_with_its_line_and_column() {
        let error = Source::from_bytes("f", "a: 1\nü: ".bytes().chain([0xff]).collect()).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), ("E0104", "\"f\" is not valid UTF-8: line 2, column 4"));
    }
}
