// SPDX-License-Identifier: Apache-2.0

//! The rows of workload/data.go, from the same generator and seeds: Go's math/rand/v2 PCG.

use uuid::Uuid;

pub const DIM: usize = 1536;
pub const PAGE_SIZE: usize = 5000;

pub struct Random(u128);

impl Random {
    pub fn new(seed: usize) -> Self {
        Random((seed as u128) << 64 | 1)
    }

    pub fn u64(&mut self) -> u64 {
        const MUL: u128 = (2549297995355413924 << 64) | 4865540595714422341;
        const INC: u128 = (6364136223846793005 << 64) | 1442695040888963407;
        self.0 = self.0.wrapping_mul(MUL).wrapping_add(INC);
        let (mut hi, lo) = ((self.0 >> 64) as u64, self.0 as u64);
        hi ^= hi >> 32;
        hi = hi.wrapping_mul(0xda942042e4dd58b5);
        hi ^= hi >> 48;
        hi.wrapping_mul(lo | 1)
    }

    fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    pub fn i32(&mut self) -> i32 {
        (self.u64() >> 33) as i32
    }

    /// Returns a number below n. n is not a power of two.
    pub fn below(&mut self, n: u32) -> u32 {
        let mut product = self.u32() as u64 * n as u64;
        if (product as u32) < n {
            while (product as u32) < n.wrapping_neg() % n {
                product = self.u32() as u64 * n as u64;
            }
        }
        (product >> 32) as u32
    }

    pub fn f32(&mut self) -> f32 {
        (self.u32() << 8 >> 8) as f32 / (1u32 << 24) as f32
    }

    pub fn f64(&mut self) -> f64 {
        (self.u64() << 11 >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn uuid(i: usize) -> Uuid {
    let mut r = Random::new(i);
    let mut b = ((r.u64() as u128) << 64 | r.u64() as u128).to_be_bytes();
    b[6] = b[6] & 0x0F | 0x40;
    b[8] = b[8] & 0x3F | 0x80;
    Uuid::from_bytes(b)
}

pub fn vector(i: usize) -> Vec<f32> {
    let mut r = Random::new(i);
    (0..DIM).map(|_| r.f32() * 2.0 - 1.0).collect()
}

pub fn text(seed: usize, n: usize) -> String {
    let mut r = Random::new(seed);
    (0..n).map(|_| (b'a' + r.below(26) as u8) as char).collect()
}
