// SPDX-License-Identifier: Apache-2.0

//! The load program of ScyllaDB's Rust driver: an open loop of requests at a fixed rate. Flags and output are those of
//! the Go programs (bench/stall/load).

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant, SystemTime};

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Options {
    hosts: Vec<String>,
    table: String,
    insert: bool,
    rate: i64,
    duration: Duration,
    warmup: Duration,
    timeout: Duration,
    keys: i64,
}

impl Options {
    fn from_args() -> Result<Self> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let given: HashMap<&str, &str> =
            args.chunks_exact(2).map(|pair| (pair[0].trim_start_matches('-'), pair[1].as_str())).collect();
        let get = |name: &str, default| given.get(name).copied().unwrap_or(default).to_string();
        Ok(Options {
            hosts: get("hosts", "").split(',').map(|host| format!("{host}:9042")).collect(),
            table: get("table", "stall.t"),
            insert: get("case", "read") == "insert",
            rate: get("rate", "500").parse()?,
            duration: parse_duration(&get("duration", "10s"))?,
            warmup: parse_duration(&get("warmup", "3s"))?,
            timeout: parse_duration(&get("timeout", "1s"))?,
            keys: get("keys", "1000").parse()?,
        })
    }
}

/// Parses a duration as Go prints it: "1m2.5s", "500ms".
fn parse_duration(text: &str) -> Result<Duration> {
    let (mut total, mut number) = (0.0, String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let unit = match c {
            'h' => 3600.0,
            'm' if chars.next_if_eq(&'s').is_some() => 0.001,
            'm' => 60.0,
            's' => 1.0,
            _ => {
                number.push(c);
                continue;
            }
        };
        total += std::mem::take(&mut number).parse::<f64>()? * unit;
    }
    Ok(Duration::from_secs_f64(total))
}

struct Client {
    session: Session,
    statement: PreparedStatement,
    insert: bool,
}

impl Client {
    /// Sends a request and checks the row that was read.
    async fn request(&self, key: i32) -> Result<()> {
        if self.insert {
            self.session.execute_unpaged(&self.statement, (key, key)).await?;
            return Ok(());
        }
        let rows = self.session.execute_unpaged(&self.statement, (key,)).await?.into_rows_result()?;
        let (value,) = rows.single_row::<(i32,)>()?;
        if value != key {
            return Err(format!("wrong row: {value}").into());
        }
        Ok(())
    }
}

/// The results of the requests.
struct Results {
    latencies: Vec<AtomicI64>,
    errors: Mutex<HashMap<String, u64>>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let o = Options::from_args()?;
    let profile =
        ExecutionProfile::builder().consistency(Consistency::LocalQuorum).request_timeout(Some(o.timeout)).build();
    let session = SessionBuilder::new()
        .known_nodes(&o.hosts)
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await?;
    let statement = match o.insert {
        true => session.prepare(format!("INSERT INTO {} (k, v) VALUES (?, ?)", o.table)).await?,
        false => session.prepare(format!("SELECT v FROM {} WHERE k = ?", o.table)).await?,
    };
    let client = Arc::new(Client { session, statement, insert: o.insert });

    let total = (o.duration.as_secs_f64() * o.rate as f64) as i64;
    let start = Instant::now() + o.warmup;
    let start_us = (SystemTime::now() + o.warmup).duration_since(SystemTime::UNIX_EPOCH)?.as_micros();
    println!("{start_us}");
    let results = Arc::new(Results {
        latencies: (0..total).map(|_| AtomicI64::new(0)).collect(),
        errors: Mutex::new(HashMap::new()),
    });

    let peak = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Handle::current();
    let watcher = std::thread::spawn({
        let (peak, stop, metrics) = (peak.clone(), stop.clone(), runtime.metrics());
        move || {
            while !stop.load(Relaxed) {
                if Instant::now() > start {
                    peak.fetch_max(metrics.num_alive_tasks(), Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });

    // A thread sends the requests when they are due: tokio's timers have a resolution of one millisecond.
    let (sender, receiver) = mpsc::channel();
    let scheduler = std::thread::spawn({
        let results = results.clone();
        let (warm, rate, keys) = ((o.warmup.as_secs_f64() * o.rate as f64) as i64, o.rate as u64, o.keys);
        move || {
            for i in -warm..total {
                let offset = Duration::from_nanos(i.unsigned_abs() * 1_000_000_000 / rate);
                let due = if i < 0 { start - offset } else { start + offset };
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let (client, results) = (client.clone(), results.clone());
                let task = runtime.spawn(async move {
                    let result = client.request((i * 7919).rem_euclid(keys) as i32).await;
                    if i < 0 {
                        return;
                    }
                    let mut took = due.elapsed().as_micros() as i64;
                    if let Err(err) = result {
                        took = -took.max(1);
                        *results.errors.lock().expect("errors").entry(shorten(&err.to_string())).or_insert(0) += 1;
                    }
                    results.latencies[i as usize].store(took, Relaxed);
                });
                sender.send(task).expect("the receiver waits for all tasks");
            }
        }
    });
    tokio::task::spawn_blocking(move || scheduler.join()).await?.map_err(|_| "the scheduler has panicked")?;
    for task in receiver {
        task.await?;
    }
    stop.store(true, Relaxed);
    watcher.join().map_err(|_| "the watcher has panicked")?;
    print(&o, start_us, &results, peak.load(Relaxed));
    Ok(())
}

/// Prints the result as one line of JSON.
fn print(o: &Options, start_us: u128, results: &Results, peak: usize) {
    let latencies: Vec<String> = results.latencies.iter().map(|l| l.load(Relaxed).to_string()).collect();
    let errors: Vec<String> =
        results.errors.lock().expect("errors").iter().map(|(text, n)| format!("\"{text}\":{n}")).collect();
    println!(
        "{{\"driver\":\"rust\",\"version\":\"{}\",\"start_us\":{start_us},\"rate\":{},\"timeout_us\":{},\"peak\":{peak},\
         \"peak_of\":\"tasks\",\"errors\":{{{}}},\"latencies_us\":[{}]}}",
        version(),
        o.rate,
        o.timeout.as_micros(),
        errors.join(","),
        latencies.join(",")
    );
}

/// Returns the version of the driver in Cargo.toml.
fn version() -> &'static str {
    include_str!("../../Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix("scylla = \"="))
        .map_or("", |version| version.trim_end_matches('"'))
}

/// Returns the text of an error without numbers, so that errors of one kind are one, and without what JSON escapes.
fn shorten(text: &str) -> String {
    let mut short = String::new();
    for c in text.lines().next().unwrap_or("").chars().take(160) {
        match c {
            '0'..='9' if short.ends_with('0') => {}
            '0'..='9' => short.push('0'),
            '"' => short.push('\''),
            '\\' => short.push('/'),
            c if c.is_control() => {}
            c => short.push(c),
        }
    }
    short
}
