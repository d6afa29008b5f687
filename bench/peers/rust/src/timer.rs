// SPDX-License-Identifier: Apache-2.0

//! A timer that replaces tokio's, whose resolution is a millisecond, as in bench/stall/load.

use std::io::Result;
use std::time::Duration;

#[cfg(target_os = "linux")]
use tokio::io::unix::AsyncFd;

#[cfg(target_os = "linux")]
pub struct Timer(AsyncFd<std::os::fd::OwnedFd>);

#[cfg(target_os = "linux")]
impl Timer {
    pub fn new() -> Result<Self> {
        use std::os::fd::{FromRawFd, OwnedFd};
        // SAFETY: the call takes no pointers.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: the timer owns the descriptor, which stays open.
        Ok(Timer(unsafe { AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE) }?))
    }

    pub async fn sleep(&self, d: Duration) -> Result<()> {
        use std::os::fd::AsRawFd;
        // SAFETY: zeros are a valid itimerspec: no interval and no timeout.
        let mut spec: libc::itimerspec = unsafe { std::mem::zeroed() };
        spec.it_value.tv_sec = d.as_secs() as libc::time_t;
        spec.it_value.tv_nsec = d.subsec_nanos().max(1) as _; // 0 disarms the timer
        // SAFETY: the descriptor is open, and spec is valid for the call.
        if unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &spec, std::ptr::null_mut()) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        loop {
            let mut ready = self.0.readable().await?;
            let read = ready.try_io(|fd| {
                let mut expirations = 0u64;
                // SAFETY: the buffer has the 8 bytes that a read of a timerfd needs.
                match unsafe { libc::read(fd.as_raw_fd(), (&raw mut expirations).cast(), 8) } {
                    8 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
            if let Ok(result) = read {
                return result;
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub struct Timer;

#[cfg(not(target_os = "linux"))]
impl Timer {
    pub fn new() -> Result<Self> {
        Ok(Timer)
    }

    pub async fn sleep(&self, d: Duration) -> Result<()> {
        tokio::time::sleep(d).await;
        Ok(())
    }
}
