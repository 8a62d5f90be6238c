//! SHA-256, in base64, as a content security policy names the one script and the one style that may run.
//!
//! FIPS 180-4, sections 5 and 6; the texts are our own and short, so plain code is fast enough.

/// The digest of a text, in base64.
pub(super) fn digest(text: &str) -> String {
    base64(&sha256(text.as_bytes()))
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, by integer arithmetic.
fn constants() -> [u32; 64] {
    let mut primes = (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    // ⌊∛p · 2³²⌋ is the largest x with x³ ≤ p · 2⁹⁶.
    std::array::from_fn(|_| root(primes.next().expect("there are enough primes"), 3) as u32)
}

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
fn initial() -> [u32; 8] {
    let mut primes = [2, 3, 5, 7, 11, 13, 17, 19].into_iter();
    std::array::from_fn(|_| root(primes.next().expect("there are eight"), 2) as u32)
}

/// `⌊p^(1/degree) · 2³²⌋`, bit by bit.
fn root(p: u128, degree: u32) -> u64 {
    let mut found: u128 = 0;
    for bit in (0..36).rev() {
        let guess = found | 1 << bit;
        // guess < 2³⁶, so its cube has at most 108 bits; p · 2⁹⁶ has at most 105.
        if guess.pow(degree) <= p << (32 * degree) {
            found = guess;
        }
    }
    found as u64
}

fn sha256(message: &[u8]) -> [u8; 32] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() < message.len() + 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len();
    padded[end - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    let (constants, mut state) = (constants(), initial());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut w = [0u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for t in 16..64 {
        let small = |x: u32, a: u32, b: u32, shift: u32| x.rotate_right(a) ^ x.rotate_right(b) ^ (x >> shift);
        let (before, earlier) = (small(w[t - 15], 7, 18, 3), small(w[t - 2], 17, 19, 10));
        w[t] = w[t - 16].wrapping_add(before).wrapping_add(w[t - 7]).wrapping_add(earlier);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for t in 0..64 {
        let one = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let zero = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let choice = (e & f) ^ (!e & g);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let first = h.wrapping_add(one).wrapping_add(choice).wrapping_add(constants[t]).wrapping_add(w[t]);
        (h, g, f, e, d, c, b, a) =
            (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(zero.wrapping_add(majority)));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        sha256(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_digests_of_the_standard() {
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(long), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }

    #[test]
    fn base64_pads() {
        assert_eq!(["", "f", "fo", "foo"].map(|text| base64(text.as_bytes())), ["", "Zg==", "Zm8=", "Zm9v"]);
    }
}
