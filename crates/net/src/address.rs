//! Addresses of sockets: a port of a machine, or a socket in the file system.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The address to which a socket connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of a machine.
    Ip(SocketAddr),
    /// A Unix socket of this machine.
    Unix(Arc<Path>),
}

impl Address {
    /// Returns address and port, if it has them.
    #[must_use]
    pub fn ip(&self) -> Option<SocketAddr> {
        if let Self::Ip(address) = self { Some(*address) } else { None }
    }

    /// Returns whether its listener is on this machine.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.ip().is_none_or(|address| crate::is_own(address.ip()))
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Ip(address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(out),
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}
