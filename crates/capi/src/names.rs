//! Names as C has them: bytes with a zero at the end, made when the library is compiled.

/// How many bytes `texts` take, each with a zero at its end.
pub(crate) const fn bytes(texts: &[&str]) -> usize {
    let (mut at, mut sum) = (0, 0);
    while at < texts.len() {
        sum += texts[at].len() + 1;
        at += 1;
    }
    sum
}

/// Some texts, one after the other.
pub(crate) struct Names<const COUNT: usize, const BYTES: usize> {
    text: [u8; BYTES],
    starts: [usize; COUNT],
}

impl<const COUNT: usize, const BYTES: usize> Names<COUNT, BYTES> {
    /// Puts them together.
    pub(crate) const fn of(texts: [&str; COUNT]) -> Self {
        let (mut text, mut starts) = ([0; BYTES], [0; COUNT]);
        let (mut at, mut end) = (0, 0);
        while at < COUNT {
            starts[at] = end;
            let from = texts[at].as_bytes();
            let mut byte = 0;
            while byte < from.len() {
                text[end] = from[byte];
                end += 1;
                byte += 1;
            }
            end += 1;
            at += 1;
        }
        Self { text, starts }
    }

    /// That of number `index`, or null.
    pub(crate) fn at(&'static self, index: usize) -> *const core::ffi::c_char {
        self.starts.get(index).map_or(core::ptr::null(), |&start| self.text[start..].as_ptr().cast())
    }
}

/// The names of all entries of a list, in its order.
macro_rules! names_of {
    ([$all:path].$function:ident) => {{
        const COUNT: usize = $all.len();
        const TEXTS: [&str; COUNT] = {
            let mut texts = [""; COUNT];
            let mut at = 0;
            while at < COUNT {
                texts[at] = $all[at].$function();
                at += 1;
            }
            texts
        };
        static NAMES: $crate::names::Names<COUNT, { $crate::names::bytes(&TEXTS) }> =
            $crate::names::Names::of(TEXTS);
        &NAMES
    }};
}
pub(crate) use names_of;

/// The bytes of a name; `None` if `name` is null.
///
/// # Safety
///
/// `name` is null, or a string that ends with a zero and stays for `'a`.
pub(crate) unsafe fn read<'a>(name: *const core::ffi::c_char) -> Option<&'a [u8]> {
    if name.is_null() {
        return None;
    }
    // SAFETY: it is not null, so the caller promises that there is a string, which stays.
    Some(unsafe { core::ffi::CStr::from_ptr(name) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion::events::ALL;

    #[test]
    fn every_name_ends_with_a_zero() {
        let names = names_of!([ALL].name);
        for (index, event) in ALL.iter().enumerate() {
            // SAFETY: the table's strings end with a zero, or this test finds a wrong one, and are static.
            let name = unsafe { read(names.at(index)) };
            assert_eq!(name, Some(event.name().as_bytes()));
        }
        assert!(names.at(ALL.len()).is_null());
    }
}
