//! What is said on standard error: one line, written at once. Nothing is ever said on standard output (IW1).

/// A line that grows up to a limit; what is beyond is left out.
pub(crate) struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; 512], length: 0 }
    }

    /// As much of the piece as there is room for.
    pub(crate) fn add(&mut self, piece: &[u8]) -> &mut Self {
        let end = (self.length + piece.len()).min(self.bytes.len() - 1);
        self.bytes[self.length..end].copy_from_slice(&piece[..end - self.length]);
        self.length = end;
        self
    }

    /// A number, in decimal.
    pub(crate) fn number(&mut self, mut number: u32) -> &mut Self {
        let mut digits = [0; 10];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return self.add(&digits[first..]);
            }
        }
    }

    pub(crate) fn say(&mut self) {
        self.bytes[self.length] = b'\n';
        // SAFETY: the bytes are there. Nothing can be done if they cannot be written.
        unsafe {
            libc::write(libc::STDERR_FILENO, self.bytes.as_ptr().cast(), self.length + 1);
        }
    }
}

/// One line of several pieces.
pub(crate) fn say(pieces: &[&[u8]]) {
    let mut line = Line::new();
    for piece in pieces {
        line.add(piece);
    }
    line.say();
}

/// Says one line of several pieces, and ends the process.
pub(crate) fn die(pieces: &[&[u8]]) -> ! {
    say(pieces);
    // SAFETY: `abort` has no preconditions.
    unsafe { libc::abort() }
}
