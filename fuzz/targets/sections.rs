//! Recordings whose checksums are right, whatever a fuzzer did to what they are of.

/// The same bytes, each section of them with its own sum behind it.
pub(crate) fn summed(bytes: &[u8]) -> Vec<u8> {
    let mut summed = bytes.to_vec();
    let mut at = 12;
    while let Some(length) = summed.get(at + 4..at + 12).and_then(|length| length.first_chunk()) {
        let length = u64::from_le_bytes(*length).min(summed.len() as u64) as usize;
        let Some((section, behind)) = summed[at..].split_at_mut_checked(12 + length) else { break };
        let Some(sum) = behind.first_chunk_mut() else { break };
        *sum = crc32fast::hash(section).to_le_bytes();
        at += 12 + length + 4;
    }
    summed
}
