// SPDX-License-Identifier: Apache-2.0

//! Requests as services send them: the family Production of workload/production.go. The driver has v4 only, so that
//! settings of v5 are measured with v4.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::session::Session;
use scylla::statement::prepared::PreparedStatement;
use scylla_cql::frame::{Compression, compress_append, decompress};
use uuid::Uuid;

use vecql_bench_rust::data::{self, uuid, vector};
use vecql_bench_rust::measure::{Options, Request, bench, in_flight};
use vecql_bench_rust::rows::{SmallRow, VectorRow};
use vecql_bench_rust::session::{Setting, connect, prepare};
use vecql_bench_rust::{Result, rows};

use crate::{INSERT_VECTOR, READ_VECTOR, SCAN_VECTORS};

const INSERT_TEN: &str = "INSERT INTO ks.small (id, age, name, active, price, created, parent, score, level, note) \
                          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const TIMEOUT: Duration = Duration::from_secs(10);

/// A setting of star.txt with the numbers of requests in flight that are measured.
struct Arm {
    setting: Setting,
    deadline: bool,
    scan: bool,
    name: String,
    in_flights: Vec<usize>,
}

/// Returns the settings of star.txt in v4. Those that differ in the version alone are one.
fn star() -> Result<Vec<Arm>> {
    let mut arms: Vec<Arm> = Vec::new();
    for line in include_str!("../../../workload/star.txt").lines().filter(|line| !line.starts_with('#')) {
        let f: Vec<&str> = line.split_whitespace().collect();
        let [net, compress, conns, deadline, _, scan, _, in_flights @ ..] = f.as_slice() else {
            return Err(format!("star.txt: {line:?}").into());
        };
        let name = format!("net={net}/compress={compress}/conns={conns}/deadline={deadline}/version=4");
        let i = arms.iter().position(|a| a.name == name).unwrap_or_else(|| {
            let setting = Setting { tls: *net == "tls", lz4: *compress == "lz4", conns: 0 };
            arms.push(Arm { setting, deadline: *deadline != "none", scan: false, name, in_flights: Vec::new() });
            arms.len() - 1
        });
        arms[i].setting.conns = conns.parse()?;
        arms[i].scan |= *scan == "scan";
        for n in in_flights.iter() {
            arms[i].in_flights.push(n.parse()?);
        }
        arms[i].in_flights.sort_unstable();
        arms[i].in_flights.dedup();
    }
    Ok(arms)
}

#[derive(Clone, Copy)]
enum Kind {
    InsertSmall,
    InsertVector,
    ReadVector,
}

/// The requests with their names and the most requests in flight.
const OPS: [(Kind, &str, usize); 3] = [
    (Kind::InsertSmall, "insert-small", 4096),
    (Kind::InsertVector, "insert-vector", 256),
    (Kind::ReadVector, "read-vector", 256),
];

/// The rows of the requests, in turn.
struct Rows {
    small: Vec<SmallRow>,
    vectors: Vec<(Uuid, Vec<f32>)>,
}

/// A request of one kind, shared by the tasks that send it.
struct Op {
    session: Arc<Session>,
    stmt: PreparedStatement,
    kind: Kind,
    rows: Arc<Rows>,
}

impl Request for Op {
    async fn send(&self, i: usize) -> Result<()> {
        let (id, v) = &self.rows.vectors[i % self.rows.vectors.len()];
        match self.kind {
            Kind::InsertSmall => {
                let r = &self.rows.small[i % self.rows.small.len()];
                let values = (r.id, r.age, &r.name, r.active, r.price, r.created, r.parent, r.score, r.level, &r.note);
                self.session.execute_unpaged(&self.stmt, values).await?;
            }
            Kind::InsertVector => {
                self.session.execute_unpaged(&self.stmt, (id, v)).await?;
            }
            Kind::ReadVector => {
                let rows = self.session.execute_unpaged(&self.stmt, (id,)).await?.into_rows_result()?;
                let r = rows.single_row::<VectorRow>()?;
                if r.id != *id || r.v.len() != data::DIM || r.v[data::DIM - 1] != v[data::DIM - 1] {
                    return Err("another row".into());
                }
            }
        }
        Ok(())
    }
}

/// Measures the settings of the star, and the driver's LZ4 alone.
pub async fn run(o: &Options) -> Result<()> {
    let rows = Arc::new(Rows {
        small: (0..1024).map(SmallRow::new).collect(),
        vectors: (0..32).map(|i| (uuid(i), vector(i))).collect(),
    });
    for arm in star()? {
        arm.run(o, &rows).await?;
    }
    for (kind, op, _) in OPS {
        compressor(o, op, kind, &rows).await?;
    }
    Ok(())
}

impl Arm {
    /// Measures all requests of a setting with one session, after a check of them and of the rows of two pages.
    async fn run(&self, o: &Options, rows: &Arc<Rows>) -> Result<()> {
        let name = |op: &str, n: usize| format!("Production/driver=rust/op={op}/{}/inflight={n}", self.name);
        let of = |op: &str, most: usize| {
            let all = self.in_flights.iter().filter(|n| **n <= most).map(|n| (*n, name(op, *n)));
            all.filter(|(_, name)| o.wants(name)).collect::<Vec<_>>()
        };
        let scan = name("scan-vector", 1);
        if !(self.scan && o.wants(&scan)) && OPS.iter().all(|(_, op, most)| of(op, *most).is_empty()) {
            return Ok(());
        }
        let session = Arc::new(connect(self.setting).await?);
        for (kind, op, most) in OPS {
            let text = match kind {
                Kind::InsertSmall => INSERT_TEN,
                Kind::InsertVector => INSERT_VECTOR,
                Kind::ReadVector => READ_VECTOR,
            };
            let mut stmt = prepare(&session, text).await?;
            if self.deadline {
                stmt.set_request_timeout(Some(TIMEOUT));
            }
            let request = Arc::new(Op { session: session.clone(), stmt, kind, rows: rows.clone() });
            in_flight(64, 16, &request).await?;
            for (n, name) in of(op, most) {
                bench(o, &name, async |count| in_flight(count, n, &request).await.expect("requests")).await;
            }
        }
        if self.scan && o.wants(&scan) {
            let stmt = prepare(&session, SCAN_VECTORS).await?;
            let read = crate::scan::<rows::VectorRow>(&session, &stmt, 2, u64::MAX, true).await?;
            if read != 2 * data::PAGE_SIZE as u64 {
                return Err(format!("{read} rows").into());
            }
            bench(o, &scan, async |n| crate::measured::<VectorRow>(&session, &stmt, n).await.expect("a scan")).await;
        }
        Ok(())
    }
}

/// Compresses the body of a request and decompresses that of its response, as the driver does, without the driver.
async fn compressor(o: &Options, op: &str, kind: Kind, rows: &Rows) -> Result<()> {
    let setting = "net=none/compress=lz4/conns=1/deadline=none/version=4/inflight=1";
    let name = format!("Production/driver=rust-compressor/op={op}/{setting}");
    if !o.wants(&name) {
        return Ok(());
    }
    let (request, response) = bodies(kind, rows);
    let mut packed = Vec::new();
    compress_append(&response, Compression::Lz4, &mut packed)?;
    bench(o, &name, async |n| {
        for _ in 0..n {
            let mut out = Vec::new();
            compress_append(&request, Compression::Lz4, &mut out).expect("a block");
            std::hint::black_box(out);
            std::hint::black_box(decompress(&packed, Compression::Lz4).expect("a body"));
        }
    })
    .await;
    Ok(())
}

/// Returns the bodies of an EXECUTE and of its response.
fn bodies(kind: Kind, rows: &Rows) -> (Vec<u8>, Vec<u8>) {
    let r = &rows.small[0];
    let (id, v) = &rows.vectors[0];
    let v: Vec<u8> = v.iter().flat_map(|x| x.to_be_bytes()).collect();
    let ten: [&[u8]; 10] = [
        &r.id.to_be_bytes(),
        &r.age.to_be_bytes(),
        r.name.as_bytes(),
        &[r.active as u8],
        &r.price.to_be_bytes(),
        &r.created.0.to_be_bytes(),
        r.parent.as_bytes(),
        &r.score.to_be_bytes(),
        &r.level.to_be_bytes(),
        r.note.as_bytes(),
    ];
    let void = b"\x00\x00\x00\x01";
    let row = b"\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x01"; // of two columns without metadata
    match kind {
        Kind::InsertSmall => (execute(&ten), void.to_vec()),
        Kind::InsertVector => (execute(&[id.as_bytes(), &v]), void.to_vec()),
        Kind::ReadVector => (execute(&[id.as_bytes()]), cells(row, &[id.as_bytes(), &v])),
    }
}

/// Returns the body of an EXECUTE with consistency ONE, values and skip_metadata.
fn execute(values: &[&[u8]]) -> Vec<u8> {
    cells(&[b"\x00\x04\x00\x00\x00\x02\x00\x01\x03\x00".as_slice(), &[values.len() as u8]].concat(), values)
}

/// Returns head and the values, each after its length.
fn cells(head: &[u8], values: &[&[u8]]) -> Vec<u8> {
    let mut b = head.to_vec();
    for v in values {
        b.extend((v.len() as i32).to_be_bytes());
        b.extend(*v);
    }
    b
}
