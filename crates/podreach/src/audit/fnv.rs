//! FNV-1a of 64 bits (Fowler, Noll and Vo): numbers for documents and caches. They tell texts apart, and keep nothing secret.

/// Where the number starts.
pub const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// What each byte multiplies it by.
pub const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The number of some bytes.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}
