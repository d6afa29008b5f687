// SPDX-License-Identifier: Apache-2.0

//! Measures ScyllaDB's Rust driver with the same statements. VECQL_NULL_SERVER is the address of the null server.

mod production;

use std::sync::Arc;

use futures::TryStreamExt;
use scylla::client::session::Session;
use scylla::statement::prepared::PreparedStatement;

use vecql_bench_rust::measure::{Options, Request, bench, in_flight};
use vecql_bench_rust::rows::{MixedRow, Row, SmallRow, VectorRow};
use vecql_bench_rust::session::{Setting, connect, prepare};
use vecql_bench_rust::{Result, data, runtime};

const INSERT_VECTOR: &str = "INSERT INTO ks.vectors (id, v) VALUES (?, ?)";
const INSERT_SMALL: &str = "INSERT INTO ks.small (k, v) VALUES (?, ?)";
const READ_VECTOR: &str = "SELECT id, v FROM ks.vectors WHERE id = ?";
const SCAN_VECTORS: &str = "SELECT id, v FROM ks.vectors WHERE pages = ?";
const SCAN_SMALL: &str =
    "SELECT id, age, name, active, price, created, parent, score, level, note FROM ks.small WHERE pages = ?";
const SCAN_MIXED: &str = "SELECT id, name, age, views, level, kind, active, score, price, created, day, addr, data, event, tags, marks, \
                          counts, note, parent, total FROM ks.mixed WHERE pages = ?";

fn main() -> Result<()> {
    runtime()?.block_on(run())
}

#[derive(Clone, Copy)]
enum Kind {
    InsertVector,
    InsertSmall,
    ReadVector,
}

/// One operation, shared by the tasks that run it.
struct Op {
    session: Arc<Session>,
    stmt: PreparedStatement,
    kind: Kind,
    id: uuid::Uuid,
    v: Vec<f32>,
}

impl Request for Op {
    async fn send(&self, _: usize) -> Result<()> {
        match self.kind {
            Kind::InsertVector => self.session.execute_unpaged(&self.stmt, (self.id, &self.v)).await?,
            Kind::InsertSmall => self.session.execute_unpaged(&self.stmt, (0x0123456789ABCDEF_i64, -2_i64)).await?,
            Kind::ReadVector => {
                let rows = self.session.execute_unpaged(&self.stmt, (self.id,)).await?.into_rows_result()?;
                let r = rows.single_row::<VectorRow>()?;
                return match r.id == self.id && r.v.len() == data::DIM && r.v[data::DIM - 1] == self.v[data::DIM - 1] {
                    true => Ok(()),
                    false => Err("another row".into()),
                };
            }
        };
        Ok(())
    }
}

async fn run() -> Result<()> {
    let o = Options::from_args();
    let s = Arc::new(connect(Setting { tls: false, lz4: false, conns: 1 }).await?);
    for (kind, name, row, text) in [
        (Kind::InsertVector, "Insert", "vector", INSERT_VECTOR),
        (Kind::InsertSmall, "Insert", "small", INSERT_SMALL),
        (Kind::ReadVector, "ReadRow", "vector", READ_VECTOR),
    ] {
        let stmt = prepare(&s, text).await?;
        requests(&o, name, row, Arc::new(Op { session: s.clone(), stmt, kind, id: data::uuid(0), v: data::vector(0) }))
            .await?;
    }

    scans::<VectorRow>(&o, &s, "vector", SCAN_VECTORS).await?;
    scans::<SmallRow>(&o, &s, "small", SCAN_SMALL).await?;
    scans::<MixedRow>(&o, &s, "mixed", SCAN_MIXED).await?;
    drop(s);
    production::run(&o).await
}

/// Measures one operation with 1, 16 and 256 tasks.
async fn requests(o: &Options, name: &str, row: &str, op: Arc<Op>) -> Result<()> {
    for _ in 0..3 {
        op.send(0).await?; // the server compares the values of the first requests
    }
    for in_flights in [1, 16, 256] {
        let name = format!("{name}/driver=rust/row={row}/inflight={in_flights}/version=4");
        if !o.wants(&name) {
            continue;
        }
        bench(o, &name, async |n| in_flight(n, in_flights, &op).await.expect("requests")).await;
    }
    Ok(())
}

async fn scans<T>(o: &Options, s: &Session, rows: &str, text: &str) -> Result<()>
where
    T: Row + for<'f, 'm> scylla::deserialize::row::DeserializeRow<'f, 'm> + 'static,
{
    let name = format!("Scan/driver=rust/rows={rows}/version=4");
    if !o.wants(&name) {
        return Ok(());
    }
    let stmt = prepare(s, text).await?;
    let n = scan::<T>(s, &stmt, 2, u64::MAX, true).await?;
    if n != 2 * data::PAGE_SIZE as u64 {
        return Err(format!("{n} rows").into());
    }
    bench(o, &name, async |n| measured::<T>(s, &stmt, n).await.expect("a scan")).await;
    Ok(())
}

/// Reads n rows of a result that ends with the page of the last one.
async fn measured<T>(s: &Session, stmt: &PreparedStatement, n: u64) -> Result<()>
where
    T: Row + for<'f, 'm> scylla::deserialize::row::DeserializeRow<'f, 'm> + 'static,
{
    let got = scan::<T>(s, stmt, n.div_ceil(data::PAGE_SIZE as u64) as i32, n, false).await?;
    if got == n { Ok(()) } else { Err(format!("{got} rows, want {n}").into()) }
}

async fn scan<T>(s: &Session, stmt: &PreparedStatement, pages: i32, limit: u64, check: bool) -> Result<u64>
where
    T: Row + for<'f, 'm> scylla::deserialize::row::DeserializeRow<'f, 'm> + 'static,
{
    let mut stream = s.execute_iter(stmt.clone(), (pages,)).await?.rows_stream::<T>()?;
    let mut n = 0;
    while n < limit {
        let Some(row) = stream.try_next().await? else { break };
        if check && !row.right(n as usize) {
            return Err(format!("row {n} is not what it should be").into());
        }
        n += 1;
    }
    Ok(n)
}
