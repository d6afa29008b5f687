// SPDX-License-Identifier: Apache-2.0

//! Runs a benchmark and prints its result in the way of Go's testing package.

use std::time::{Duration, Instant};

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
            let rows = match name.starts_with("Scan") {
                true => format!("\t{:12.0} rows/s", n as f64 / took.as_secs_f64()),
                false => String::new(),
            };
            println!("Benchmark{name}\t{n:9}\t{:12.1} ns/op\t{:12.3} cpu-us/op{rows}", per(took), per(used) / 1000.0);
            return;
        }
        let wanted = o.time.as_nanos() as f64 / took.as_nanos().max(1) as f64 * n as f64 * 1.2;
        n = (wanted as u64).clamp(n + 1, n * 100);
    }
}
