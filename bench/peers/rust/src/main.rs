// SPDX-License-Identifier: Apache-2.0

//! Measures ScyllaDB's Rust driver with the same statements. VECQL_NULL_SERVER is the address of the null server.

mod data;
mod measure;
mod rows;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use futures::TryStreamExt;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

use measure::{Options, bench};
use rows::{MixedRow, Row, SmallRow, VectorRow};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const INSERT_VECTOR: &str = "INSERT INTO ks.vectors (id, v) VALUES (?, ?)";
const INSERT_SMALL: &str = "INSERT INTO ks.small (k, v) VALUES (?, ?)";
const READ_VECTOR: &str = "SELECT id, v FROM ks.vectors WHERE id = ?";
const SCAN_VECTORS: &str = "SELECT id, v FROM ks.vectors WHERE pages = ?";
const SCAN_SMALL: &str =
    "SELECT id, age, name, active, price, created, parent, score, level, note FROM ks.small WHERE pages = ?";
const SCAN_MIXED: &str = "SELECT id, name, age, views, level, kind, active, score, price, created, day, addr, data, event, tags, marks, \
                          counts, note, parent, total FROM ks.mixed WHERE pages = ?";

fn main() -> Result<()> {
    // On one core the single-threaded scheduler is faster.
    let runtime = match std::thread::available_parallelism()?.get() {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        _ => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
    };
    runtime.block_on(run())
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

impl Op {
    async fn run(&self) -> Result<()> {
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
    let s = Arc::new(connect().await?);
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
    scans::<MixedRow>(&o, &s, "mixed", SCAN_MIXED).await
}

async fn connect() -> Result<Session> {
    let profile = ExecutionProfile::builder().consistency(Consistency::One).build();
    Ok(SessionBuilder::new()
        .known_node(std::env::var("VECQL_NULL_SERVER").map_err(|_| "VECQL_NULL_SERVER has no address")?)
        .pool_size(PoolSize::PerHost(NonZeroUsize::MIN))
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await?)
}

async fn prepare(s: &Session, text: &str) -> Result<PreparedStatement> {
    let mut p = s.prepare(text).await?;
    p.set_use_cached_result_metadata(true); // recommended by its manual
    p.set_page_size(data::PAGE_SIZE as i32);
    Ok(p)
}

/// Measures one operation with 1, 16 and 256 tasks.
async fn requests(o: &Options, name: &str, row: &str, op: Arc<Op>) -> Result<()> {
    for _ in 0..3 {
        op.run().await?; // the server compares the values of the first requests
    }
    for in_flight in [1, 16, 256] {
        let name = format!("{name}/driver=rust/row={row}/inflight={in_flight}/version=4");
        if !o.wants(&name) {
            continue;
        }
        bench(o, &name, async |n| {
            let left = Arc::new(AtomicI64::new(n as i64));
            let tasks: Vec<_> = (0..in_flight)
                .map(|_| {
                    let (left, op) = (left.clone(), op.clone());
                    tokio::spawn(async move {
                        while left.fetch_sub(1, Ordering::Relaxed) > 0 {
                            op.run().await.expect("an operation");
                        }
                    })
                })
                .collect();
            for t in tasks {
                t.await.expect("a task");
            }
        })
        .await;
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
    bench(o, &name, async |n| {
        let mut left = n;
        while left > 0 {
            left -= scan::<T>(s, &stmt, 1000, left, false).await.expect("a scan");
        }
    })
    .await;
    Ok(())
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
