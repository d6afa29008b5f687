// SPDX-License-Identifier: Apache-2.0

//! The parts that the benchmarks and the load program share.

pub mod data;
pub mod measure;
pub mod rows;
pub mod session;
pub mod timer;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Returns a runtime. On one core the single-threaded scheduler is faster.
pub fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(match std::thread::available_parallelism()?.get() {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        _ => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
    })
}
