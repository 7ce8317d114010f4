//! Where an input is cut: it follows from the bytes alone, so that corpora are plain messages.

/// Cuts bytes into pieces, none of them empty; the same bytes are always cut the same way.
#[must_use]
pub fn cut(bytes: &[u8]) -> Vec<&[u8]> {
    let mut random = Random::of(bytes);
    let (mut pieces, mut rest) = (Vec::new(), bytes);
    // Mostly a few long pieces, sometimes single bytes.
    let longest = [1, 3, 16, 200][random.below(4)];
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(1 + random.below(longest)));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Xorshift, started by what FNV-1a makes of some bytes.
pub struct Random(u64);

impl Random {
    /// The numbers that belong to these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let hash = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash) | 1)
    }

    /// A number below the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }
}
