//! NumPy's `SeedSequence`: turns a seed of any length into well mixed state.
//!
//! Follows `numpy/random/bit_generator.pyx` (NumPy 2.4) word for word. It
//! never touches the operating system's entropy: the seed is all there is.

const POOL_SIZE: usize = 4;
const INIT_A: u32 = 0x43b0_d7e5;
const MULT_A: u32 = 0x931e_8875;
const INIT_B: u32 = 0x8b51_f9dd;
const MULT_B: u32 = 0x58f3_8ded;
const MIX_MULT_L: u32 = 0xca01_f9dd;
const MIX_MULT_R: u32 = 0x4973_f715;
const XSHIFT: u32 = 16;

/// The mixed entropy pool of one seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedSequence {
    pool: [u32; POOL_SIZE],
}

/// The running hash constant of the pool mixing.
struct HashMix(u32);

impl HashMix {
    fn mix(&mut self, value: u32) -> u32 {
        let mut v = value ^ self.0;
        self.0 = self.0.wrapping_mul(MULT_A);
        v = v.wrapping_mul(self.0);
        v ^ (v >> XSHIFT)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let r = MIX_MULT_L
        .wrapping_mul(x)
        .wrapping_sub(MIX_MULT_R.wrapping_mul(y));
    r ^ (r >> XSHIFT)
}

impl SeedSequence {
    /// Mixes a seed given as 32-bit words, least significant first.
    ///
    /// An empty slice means seed 0. NumPy drops leading zero words of an
    /// integer seed, so pass the words without high zeros.
    #[must_use]
    pub fn from_words(entropy: &[u32]) -> Self {
        let mut hash = HashMix(INIT_A);
        let mut pool = [0_u32; POOL_SIZE];
        for (i, slot) in pool.iter_mut().enumerate() {
            *slot = hash.mix(entropy.get(i).copied().unwrap_or(0));
        }
        for src in 0..POOL_SIZE {
            for dst in 0..POOL_SIZE {
                if src != dst {
                    pool[dst] = mix(pool[dst], hash.mix(pool[src]));
                }
            }
        }
        for word in entropy.iter().skip(POOL_SIZE) {
            for slot in &mut pool {
                *slot = mix(*slot, hash.mix(*word));
            }
        }
        Self { pool }
    }

    /// Mixes a 64-bit seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let low = seed as u32;
        let high = (seed >> 32) as u32;
        if high == 0 {
            Self::from_words(&[low])
        } else {
            Self::from_words(&[low, high])
        }
    }

    /// The four 32-bit words of the pool.
    #[must_use]
    pub fn pool(&self) -> [u32; POOL_SIZE] {
        self.pool
    }

    /// The first four 64-bit words of `generate_state`, which seed a PCG64.
    #[must_use]
    pub fn generate_state(&self) -> [u64; 4] {
        let mut hash = INIT_B;
        let mut word = |i: usize| {
            let mut v = self.pool[i % POOL_SIZE] ^ hash;
            hash = hash.wrapping_mul(MULT_B);
            v = v.wrapping_mul(hash);
            u64::from(v ^ (v >> XSHIFT))
        };
        let mut state = [0_u64; 4];
        for (k, slot) in state.iter_mut().enumerate() {
            let low = word(2 * k);
            let high = word(2 * k + 1);
            *slot = low | (high << 32);
        }
        state
    }
}
