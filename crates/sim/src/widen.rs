//! Cells of every size as the engines see them: in 64 bits.

/// A value that a cell may hold.
pub(crate) trait Widen {
    /// The same number in 64 bits.
    fn widen(self) -> u64;
}

macro_rules! widen {
    ($($value:ty)*) => {$(
        impl Widen for $value {
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
        }
    )*};
}

widen!(u8 u16 u32);

impl Widen for usize {
    #[inline(always)]
    fn widen(self) -> u64 {
        self as u64
    }
}
