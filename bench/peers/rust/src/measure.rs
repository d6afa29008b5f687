// SPDX-License-Identifier: Apache-2.0

//! Runs a benchmark and prints its result in the way of Go's testing package.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use crate::Result;

/// The arguments of a Go test binary that run.sh uses.
pub struct Options {
    names: Vec<String>,
    time: Duration,
    times: Option<u64>,
}

impl Options {
    pub fn from_args() -> Self {
        let mut o = Options { names: Vec::new(), time: Duration::from_secs(1), times: None };
        let args: Vec<String> = std::env::args().collect();
        for pair in args.windows(2) {
            match pair[0].as_str() {
                "-test.bench" => o.names = pair[1].split('|').map(|s| s.replace(['^', '$', '(', ')'], "")).collect(),
                "-test.benchtime" => match pair[1].strip_suffix('x') {
                    Some(n) => o.times = n.parse().ok(),
                    None => o.time = parse_time(&pair[1]),
                },
                _ => {}
            }
        }
        o
    }

    /// Each alternative is a part of a benchmark's name; "." selects all. Regular expressions are not supported.
    pub fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| n == "." || name.contains(n.as_str()))
    }
}

fn parse_time(s: &str) -> Duration {
    match s.strip_suffix("ms") {
        Some(ms) => Duration::from_millis(ms.parse().expect("-test.benchtime")),
        None => Duration::from_secs_f64(s.trim_end_matches('s').parse().expect("-test.benchtime")),
    }
}

fn cpu() -> Duration {
    // SAFETY: getrusage initializes the struct.
    let u = unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut u);
        u
    };
    let of = |t: libc::timeval| Duration::from_micros(t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64);
    of(u.ru_utime) + of(u.ru_stime)
}

/// Runs f, which performs the given number of operations, with growing numbers until it runs for the benchmark time.
pub async fn bench<F: AsyncFn(u64)>(o: &Options, name: &str, f: F) {
    let mut n = o.times.unwrap_or(1);
    loop {
        let (before, begin) = (cpu(), Instant::now());
        f(n).await;
        let (took, used) = (begin.elapsed(), cpu() - before);
        if o.times.is_some() || took >= o.time || n >= 1_000_000_000 {
            let per = |d: Duration| d.as_nanos() as f64 / n as f64;
            let rate = n as f64 / took.as_secs_f64();
            let more = match name.split('/').next() {
                Some("Scan") => format!("\t{rate:12.0} rows/s"),
                Some("Production") => format!("\t{rate:12.0} requests/s"), // /proc/self/io does not count send(2)
                _ => String::new(),
            };
            println!("Benchmark{name}\t{n:9}\t{:12.1} ns/op\t{:12.3} cpu-us/op{more}", per(took), per(used) / 1000.0);
            return;
        }
        let wanted = o.time.as_nanos() as f64 / took.as_nanos().max(1) as f64 * n as f64 * 1.2;
        n = (wanted as u64).clamp(n + 1, n * 100);
    }
}

/// An operation that tasks share.
pub trait Request: Send + Sync + 'static {
    /// Sends request i.
    fn send(&self, i: usize) -> impl Future<Output = Result<()>> + Send;
}

/// Sends n requests from the given number of tasks. Returns an error of one of them.
pub async fn in_flight<R: Request>(n: u64, tasks: usize, request: &Arc<R>) -> Result<()> {
    let left = Arc::new(AtomicI64::new(n as i64));
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let (left, request) = (left.clone(), request.clone());
            tokio::spawn(async move {
                loop {
                    let i = left.fetch_sub(1, Ordering::Relaxed) - 1;
                    if i < 0 {
                        return Ok(());
                    }
                    request.send(i as usize).await?;
                }
            })
        })
        .collect();
    let mut result = Ok(());
    for task in tasks {
        result = result.and(task.await?);
    }
    result
}
