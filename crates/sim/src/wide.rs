//! Cells of every size as the engines see them: in 64 bits.

/// A value that a cell may hold.
pub(crate) trait Wide {
    /// The same number in 64 bits.
    fn wide(self) -> u64;
}

macro_rules! wide {
    ($($value:ty)*) => {$(
        impl Wide for $value {
            #[inline(always)]
            fn wide(self) -> u64 {
                self.into()
            }
        }
    )*};
}

wide!(u8 u16 u32);

impl Wide for usize {
    #[inline(always)]
    fn wide(self) -> u64 {
        self as u64
    }
}
