//! Connection pools: a destination and its idle connections.

use std::net::IpAddr;
use std::sync::Arc;

use net::{Address, Driver, TlsClient};

use crate::{Connection, Protocol, Reason, Tunnel};

/// The destination of connections.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// Tried in this order; at least one.
    pub addresses: Vec<Address>,
    /// TLS, if it is used.
    pub tls: Option<TlsClient>,
    /// The CONNECT request for a proxy, if one is used.
    pub connect: Option<Arc<[u8]>>,
    /// The maximum number of idle connections.
    pub max_idle: usize,
}

/// The identity of a pool; indices are reused, serials are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoolId {
    index: usize,
    serial: u64,
}

/// One connection pool.
struct ConnectionPool {
    to: Destination,
    serial: u64,
    /// Slots with idle connections, the latest used last.
    idle: Vec<u32>,
}

/// All connection pools of a reactor.
#[derive(Default)]
pub(super) struct ConnectionPools {
    pools: Vec<Option<ConnectionPool>>,
    /// Indices of closed pools.
    free: Vec<usize>,
    serial: u64,
}

impl ConnectionPools {
    pub(super) fn open(&mut self, to: Destination) -> PoolId {
        self.serial += 1;
        let index = self.free.pop().unwrap_or_else(|| {
            self.pools.push(None);
            self.pools.len() - 1
        });
        self.pools[index] = Some(ConnectionPool { to, serial: self.serial, idle: Vec::new() });
        PoolId { index, serial: self.serial }
    }

    /// Removes a pool, and returns its idle slots.
    pub(super) fn close(&mut self, id: PoolId) -> Vec<u32> {
        if self.pool(id).is_none() {
            return Vec::new();
        }
        self.free.push(id.index);
        self.pools[id.index].take().map(|pool| pool.idle).unwrap_or_default()
    }

    /// Removes and returns the idle slot that was used last.
    pub(super) fn take_idle(&mut self, id: PoolId) -> Option<u32> {
        self.pool(id)?.idle.pop()
    }

    /// Adds an idle slot; returns false if the pool is closed or full.
    pub(super) fn keep_idle(&mut self, id: PoolId, slot: u32) -> bool {
        let pool = self.pool(id).filter(|pool| pool.idle.len() < pool.to.max_idle);
        pool.map(|pool| pool.idle.push(slot)).is_some()
    }

    /// Removes an idle slot.
    pub(super) fn drop_idle(&mut self, id: PoolId, slot: u32) {
        if let Some(pool) = self.pool(id) {
            pool.idle.retain(|idle| *idle != slot);
        }
    }

    /// Returns the address with an index.
    pub(super) fn address(&mut self, id: PoolId, route: usize) -> Option<&Address> {
        self.pool(id)?.to.addresses.get(route)
    }

    /// Starts to open a connection.
    pub(super) fn connect<D: Driver>(
        &mut self,
        id: PoolId,
        driver: &mut D,
        (to, from): (&Address, Option<IpAddr>),
        token: u64,
    ) -> Result<Connection<D::Socket>, Reason> {
        let Some(pool) = self.pool(id) else { return Err(Reason::ConnectOther) };
        let layer = match &pool.to.tls {
            Some(tls) => Some(tls.session().map_err(|error| Reason::from(error.fault))?),
            None => None,
        };
        let socket = driver.dial(to, from, token).map_err(|error| Reason::of_dial(&error))?;
        let tunnel = pool.to.connect.as_ref().map(|request| Tunnel::new(Arc::clone(request)));
        Ok(Connection::dialled(socket, layer, tunnel, (&Protocol::Http1, 0), driver.now()))
    }

    fn pool(&mut self, id: PoolId) -> Option<&mut ConnectionPool> {
        self.pools.get_mut(id.index)?.as_mut().filter(|pool| pool.serial == id.serial)
    }
}
