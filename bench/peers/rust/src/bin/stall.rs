// SPDX-License-Identifier: Apache-2.0

//! The load program of ScyllaDB's Rust driver: an open loop of requests at a fixed rate. Flags and output are those of
//! the Go programs (bench/stall/load).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

use vecql_bench_rust::session::client_tls;
use vecql_bench_rust::timer::Timer;
use vecql_bench_rust::{Result, data, runtime};

struct Options {
    hosts: Vec<String>,
    table: String,
    case: Case,
    rate: i64,
    duration: Duration,
    warmup: Duration,
    timeout: Duration,
    keys: i64,
    closed: usize, // tasks of a closed loop; 0 means an open loop
    cert: String,  // of the server's issuer, base64 of its DER; "" means no TLS
}

#[derive(Clone, Copy)]
enum Case {
    Read,
    Insert,
    Vector,
}

impl Options {
    fn from_args() -> Result<Self> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let given: HashMap<&str, &str> =
            args.chunks_exact(2).map(|pair| (pair[0].trim_start_matches('-'), pair[1].as_str())).collect();
        let get = |name: &str, default| given.get(name).copied().unwrap_or(default).to_string();
        Ok(Options {
            hosts: get("hosts", "").split(',').map(with_port).collect(),
            table: get("table", "stall.t"),
            case: match get("case", "read").as_str() {
                "insert" => Case::Insert,
                "vector" => Case::Vector,
                _ => Case::Read,
            },
            rate: get("rate", "500").parse()?,
            duration: parse_duration(&get("duration", "10s"))?,
            warmup: parse_duration(&get("warmup", "3s"))?,
            timeout: parse_duration(&get("timeout", "1s"))?,
            keys: get("keys", "1000").parse()?,
            closed: get("closed", "0").parse()?,
            cert: get("cert", ""),
        })
    }
}

fn with_port(host: &str) -> String {
    if host.contains(':') { host.to_string() } else { format!("{host}:9042") }
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
    case: Case,
    keys: i64,
}

impl Client {
    async fn connect(o: &Options) -> Result<Self> {
        let profile =
            ExecutionProfile::builder().consistency(Consistency::LocalQuorum).request_timeout(Some(o.timeout)).build();
        let tls = if o.cert.is_empty() { None } else { Some(client_tls(&o.cert)?) };
        let session = SessionBuilder::new()
            .known_nodes(&o.hosts)
            .tls_context(tls)
            .default_execution_profile_handle(profile.into_handle())
            .build()
            .await?;
        let mut statement = session
            .prepare(match o.case {
                Case::Read => format!("SELECT v FROM {} WHERE k = ?", o.table),
                Case::Insert => format!("INSERT INTO {} (k, v) VALUES (?, ?)", o.table),
                Case::Vector => format!("SELECT v FROM {}_vectors WHERE k = ?", o.table),
            })
            .await?;
        statement.set_use_cached_result_metadata(true); // recommended by its manual
        Ok(Client { session, statement, case: o.case, keys: o.keys })
    }

    /// Sends request i and checks the row that was read.
    async fn request(&self, i: i64) -> Result<()> {
        let key = (i.wrapping_mul(7919)).rem_euclid(self.keys) as i32;
        if let Case::Insert = self.case {
            self.session.execute_unpaged(&self.statement, (key, key)).await?;
            return Ok(());
        }
        let rows = self.session.execute_unpaged(&self.statement, (key,)).await?.into_rows_result()?;
        if let Case::Vector = self.case {
            let (value,) = rows.single_row::<(Vec<f32>,)>()?;
            return if value.len() == data::DIM { Ok(()) } else { Err("wrong row".into()) };
        }
        let (value,) = rows.single_row::<(i32,)>()?;
        if value == key { Ok(()) } else { Err(format!("wrong row: {value}").into()) }
    }
}

/// The results of the requests.
struct Results {
    latencies: Vec<AtomicI64>,
    errors: Mutex<HashMap<String, u64>>,
}

fn main() -> Result<()> {
    runtime()?.block_on(run())
}

async fn run() -> Result<()> {
    let o = Options::from_args()?;
    let client = Arc::new(Client::connect(&o).await?);
    if o.closed > 0 {
        return closed(&o, client).await;
    }
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
    let watcher = std::thread::spawn({
        let (peak, stop, metrics) = (peak.clone(), stop.clone(), tokio::runtime::Handle::current().metrics());
        move || {
            while !stop.load(Relaxed) {
                if Instant::now() > start {
                    peak.fetch_max(metrics.num_alive_tasks(), Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let (warm, rate) = ((o.warmup.as_secs_f64() * o.rate as f64) as i64, o.rate as u64);
    tokio::spawn(send_when_due(client, results.clone(), start, -warm..total, rate)).await??;
    stop.store(true, Relaxed);
    watcher.join().map_err(|_| "the watcher has panicked")?;
    print(&o, start_us, o.rate, Some(&results), peak.load(Relaxed));
    Ok(())
}

/// Sends each request when it is due, and returns after the last response. Requests below 0 do not count.
async fn send_when_due(
    client: Arc<Client>,
    results: Arc<Results>,
    start: Instant,
    requests: std::ops::Range<i64>,
    rate: u64,
) -> Result<()> {
    let timer = Timer::new()?;
    let mut tasks = Vec::with_capacity((requests.end - requests.start) as usize);
    for i in requests {
        let offset = Duration::from_nanos(i.unsigned_abs() * 1_000_000_000 / rate);
        let due = if i < 0 { start - offset } else { start + offset };
        let wait = due.saturating_duration_since(Instant::now());
        if !wait.is_zero() {
            timer.sleep(wait).await?;
        }
        let (client, results) = (client.clone(), results.clone());
        tasks.push(tokio::spawn(async move {
            let result = client.request(i).await;
            if i < 0 {
                return;
            }
            let mut took = due.elapsed().as_micros() as i64;
            if let Err(err) = result {
                took = -took.max(1);
                *results.errors.lock().expect("errors").entry(shorten(&err.to_string())).or_insert(0) += 1;
            }
            results.latencies[i as usize].store(took, Relaxed);
        }));
    }
    for task in tasks {
        task.await?;
    }
    Ok(())
}

/// Sends requests from o.closed tasks, each after the response to its last one, and prints the rate reached.
async fn closed(o: &Options, client: Arc<Client>) -> Result<()> {
    let start_us = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_micros();
    println!("{start_us}");
    let (begin, duration, sent) = (Instant::now(), o.duration, Arc::new(AtomicI64::new(0)));
    let tasks: Vec<_> = (0..o.closed)
        .map(|_| {
            let (client, sent) = (client.clone(), sent.clone());
            tokio::spawn(async move {
                while begin.elapsed() < duration {
                    client.request(sent.fetch_add(1, Relaxed)).await?;
                }
                Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let rate = sent.load(Relaxed) as f64 / begin.elapsed().as_secs_f64();
    print(o, start_us, rate as i64, None, 0);
    Ok(())
}

/// Prints the result as one line of JSON. A closed loop has no latencies.
fn print(o: &Options, start_us: u128, rate: i64, results: Option<&Results>, peak: usize) {
    let (mut latencies, mut errors) = (Vec::new(), Vec::new());
    if let Some(results) = results {
        latencies = results.latencies.iter().map(|l| l.load(Relaxed).to_string()).collect();
        errors = results.errors.lock().expect("errors").iter().map(|(text, n)| format!("\"{text}\":{n}")).collect();
    }
    println!(
        "{{\"driver\":\"rust\",\"version\":\"{}\",\"start_us\":{start_us},\"rate\":{rate},\"timeout_us\":{},\"peak\":{peak},\
         \"peak_of\":\"tasks\",\"errors\":{{{}}},\"latencies_us\":[{}]}}",
        version(),
        o.timeout.as_micros(),
        errors.join(","),
        latencies.join(",")
    );
}

/// Returns the version of the driver in Cargo.toml.
fn version() -> &'static str {
    include_str!("../../Cargo.toml")
        .split_once("scylla = { version = \"=")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(version, _)| version)
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
