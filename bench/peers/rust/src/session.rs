// SPDX-License-Identifier: Apache-2.0

//! Sessions with the settings of the benchmarks.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::frame::Compression;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;

use crate::{Result, data};

/// A configuration of a client.
#[derive(Clone, Copy)]
pub struct Setting {
    pub tls: bool,
    pub lz4: bool,
    pub conns: usize,
}

/// Connects to the null server and waits for all connections.
pub async fn connect(setting: Setting) -> Result<Session> {
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let tls = match setting.tls {
        true => Some(client_tls(&variable("VECQL_NULL_SERVER_CERT")?)?),
        false => None,
    };
    let profile = ExecutionProfile::builder().consistency(Consistency::One).build();
    static BEFORE: OnceLock<usize> = OnceLock::new(); // sockets of the program without a session
    let before = *BEFORE.get_or_init(|| sockets().unwrap_or(0));
    wait(|n| n <= before).await?; // until the last session has closed
    let session = SessionBuilder::new()
        .known_node(variable("VECQL_NULL_SERVER")?)
        .pool_size(PoolSize::PerHost(NonZeroUsize::new(setting.conns).ok_or("no connections")?))
        .compression(setting.lz4.then_some(Compression::Lz4))
        .tls_context(tls)
        .default_execution_profile_handle(profile.into_handle())
        .build()
        .await?;
    wait(|n| n > before + setting.conns).await?; // one more is for control
    Ok(session)
}

/// Waits until the number of open sockets is right. It does not wait on systems without /proc.
async fn wait(right: impl Fn(usize) -> bool) -> Result<()> {
    for _ in 0..5000 {
        if sockets().is_none_or(&right) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err(format!("{:?} sockets are open", sockets()).into())
}

/// Returns the number of open sockets of this process, None on systems without /proc.
fn sockets() -> Option<usize> {
    let links = std::fs::read_dir("/proc/self/fd").ok()?.filter_map(|f| std::fs::read_link(f.ok()?.path()).ok());
    Some(links.filter(|to| to.to_string_lossy().starts_with("socket:")).count())
}

/// Returns a configuration that verifies servers. cert is the certificate of the server's issuer, base64 of its DER.
pub fn client_tls(cert: &str) -> Result<Arc<rustls::ClientConfig>> {
    let pem = format!("-----BEGIN CERTIFICATE-----\n{cert}\n-----END CERTIFICATE-----\n");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes())?)?;
    let config = rustls::ClientConfig::builder_with_protocol_versions(&[&rustls::version::TLS13]);
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

pub async fn prepare(s: &Session, text: &str) -> Result<PreparedStatement> {
    let mut p = s.prepare(text).await?;
    p.set_use_cached_result_metadata(true); // recommended by its manual
    p.set_page_size(data::PAGE_SIZE as i32);
    Ok(p)
}
