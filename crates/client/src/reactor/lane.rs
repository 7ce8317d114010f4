//! Where a caller's connections go, and those of them that are idle.

use std::net::IpAddr;
use std::sync::Arc;

use net::{Address, Driver, TlsClient};

use crate::{Connection, Reason, Tunnel};

/// Where connections go.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// Tried in this order; at least one.
    pub addresses: Vec<Address>,
    /// The secure layer, if there is one.
    pub tls: Option<TlsClient>,
    /// What a proxy is asked before anything else, if the way leads through one.
    pub connect: Option<Arc<[u8]>>,
    /// So many idle connections are kept.
    pub most_idle: usize,
}

/// A lane: places are used again, serials are not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaneId {
    place: usize,
    serial: u64,
}

/// One lane.
struct Lane {
    to: Destination,
    serial: u64,
    /// Slots with idle connections, the latest used last.
    idle: Vec<u32>,
}

/// All lanes.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Vec<Option<Lane>>,
    /// Places of lanes that were closed.
    spare: Vec<usize>,
    serial: u64,
}

impl Lanes {
    pub(super) fn open(&mut self, to: Destination) -> LaneId {
        self.serial += 1;
        let place = self.spare.pop().unwrap_or_else(|| {
            self.lanes.push(None);
            self.lanes.len() - 1
        });
        self.lanes[place] = Some(Lane { to, serial: self.serial, idle: Vec::new() });
        LaneId { place, serial: self.serial }
    }

    /// Forgets a lane; gives its idle slots.
    pub(super) fn close(&mut self, id: LaneId) -> Vec<u32> {
        if self.lane(id).is_none() {
            return Vec::new();
        }
        self.spare.push(id.place);
        self.lanes[id.place].take().map(|lane| lane.idle).unwrap_or_default()
    }

    /// Takes the idle slot that was used last.
    pub(super) fn take_idle(&mut self, id: LaneId) -> Option<u32> {
        self.lane(id)?.idle.pop()
    }

    /// Keeps an idle slot, if the lane is still there and has room for it.
    pub(super) fn keep_idle(&mut self, id: LaneId, slot: u32) -> bool {
        let lane = self.lane(id).filter(|lane| lane.idle.len() < lane.to.most_idle);
        lane.map(|lane| lane.idle.push(slot)).is_some()
    }

    /// Forgets an idle slot.
    pub(super) fn drop_idle(&mut self, id: LaneId, slot: u32) {
        if let Some(lane) = self.lane(id) {
            lane.idle.retain(|idle| *idle != slot);
        }
    }

    /// The address that is tried after so many others.
    pub(super) fn address(&mut self, id: LaneId, route: usize) -> Option<&Address> {
        self.lane(id)?.to.addresses.get(route)
    }

    /// Starts to connect.
    pub(super) fn connect<D: Driver>(
        &mut self,
        id: LaneId,
        driver: &mut D,
        (to, from): (&Address, Option<IpAddr>),
        token: u64,
    ) -> Result<Connection<D::Socket>, Reason> {
        let Some(lane) = self.lane(id) else { return Err(Reason::ConnectOther) };
        let layer = match &lane.to.tls {
            Some(tls) => Some(tls.session().map_err(|error| Reason::from(error.fault))?),
            None => None,
        };
        let socket = driver.dial(to, from, token).map_err(|error| Reason::of_dial(&error))?;
        let tunnel = lane.to.connect.as_ref().map(|request| Tunnel::new(Arc::clone(request)));
        Ok(Connection::dialled(socket, layer).through(tunnel))
    }

    fn lane(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.lanes.get_mut(id.place)?.as_mut().filter(|lane| lane.serial == id.serial)
    }
}
