// SPDX-License-Identifier: Apache-2.0

//! The rows of the scans and their comparison with the expected ones.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use scylla::DeserializeRow;
use scylla::value::{CqlDate, CqlTimestamp, CqlTimeuuid};
use uuid::Uuid;

use crate::data::{PAGE_SIZE, Random, text, uuid, vector};

pub trait Row {
    fn right(&self, i: usize) -> bool;
}

#[derive(DeserializeRow)]
pub struct VectorRow {
    pub id: Uuid,
    pub v: Vec<f32>,
}

impl Row for VectorRow {
    fn right(&self, i: usize) -> bool {
        let i = i % PAGE_SIZE;
        self.id == uuid(i) && self.v == vector(i)
    }
}

#[derive(DeserializeRow, PartialEq)]
pub struct SmallRow {
    pub id: i64,
    pub age: i32,
    pub name: String,
    pub active: bool,
    pub price: f64,
    pub created: CqlTimestamp,
    pub parent: Uuid,
    pub score: f32,
    pub level: i16,
    pub note: String,
}

impl SmallRow {
    pub fn new(i: usize) -> Self {
        let mut r = Random::new(i);
        SmallRow {
            id: i as i64,
            age: r.i32(),
            name: text(i, 10),
            active: i.is_multiple_of(2),
            price: r.f64(),
            created: CqlTimestamp((r.u64() & ((1 << 41) - 1)) as i64),
            parent: uuid(i),
            score: r.f32(),
            level: r.i32() as i16,
            note: text(i, 20),
        }
    }
}

impl Row for SmallRow {
    fn right(&self, i: usize) -> bool {
        *self == SmallRow::new(i % PAGE_SIZE)
    }
}

#[derive(DeserializeRow)]
pub struct MixedRow {
    id: Uuid,
    name: String,
    age: i32,
    views: i64,
    level: i16,
    kind: i8,
    active: bool,
    score: f32,
    price: f64,
    created: CqlTimestamp,
    day: CqlDate,
    addr: IpAddr,
    data: Vec<u8>,
    event: CqlTimeuuid,
    tags: Vec<String>,
    marks: Vec<i32>,
    counts: HashMap<String, i32>,
    note: String,
    parent: Uuid,
    total: i64,
}

impl Row for MixedRow {
    fn right(&self, i: usize) -> bool {
        let i = i % PAGE_SIZE;
        let n = i as i32;
        let mut r = Random::new(i);
        let mut event = uuid(i).into_bytes();
        event[6] = event[6] & 0x0F | 0x10;
        self.id == uuid(i)
            && self.name == text(i, 10)
            && self.age == r.i32()
            && self.views == (r.u64() & !(1 << 63)) as i64
            && self.level == r.i32() as i16
            && self.kind == r.i32() as i8
            && self.active == i.is_multiple_of(2)
            && self.score == r.f32()
            && self.price == r.f64()
            && self.created.0 == (r.u64() & ((1 << 41) - 1)) as i64
            && self.day.0 == (1 << 31) + r.below(20000)
            && self.addr == IpAddr::V4(Ipv4Addr::new(10, 0, (i >> 8) as u8, i as u8))
            && self.data == text(i, 16).into_bytes()
            && self.event.as_bytes() == &event
            && self.tags == [text(i, 5), text(i + 1, 6), text(i + 2, 7)]
            && self.marks == [n, n + 1, n + 2, n + 3]
            && self.counts == HashMap::from([("one".to_string(), n), ("two".to_string(), n + 1)])
            && self.note == text(i, 20)
            && self.parent == uuid(i + 1)
            && self.total == (r.u64() & !(1 << 63)) as i64
    }
}
