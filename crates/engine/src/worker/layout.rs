//! The slots and connections of a worker, in the order of its groups.

use super::WorkerShare;
use super::connections::ConnectionEntry;
use super::group::GroupState;
use super::slot::Slot;
use crate::random::mix;

/// The slots and connections of the groups.
pub(super) struct Layout<S> {
    pub(super) slots: Vec<Slot>,
    pub(super) connections: Vec<ConnectionEntry<S>>,
    pub(super) groups: Vec<GroupState>,
}

impl<S> Layout<S> {
    pub(super) fn of(share: &WorkerShare) -> Self {
        let mut layout = Self { slots: Vec::new(), connections: Vec::new(), groups: Vec::new() };
        layout.connections.reserve(share.plan.connections() as usize);
        let pairs = share.plan.groups.iter().zip(&share.prepared.groups);
        for ((group, prepared), number) in pairs.zip(0_u16..) {
            let endpoint = share.prepared.requests[usize::from(prepared.first)].endpoint;
            let protocol = &share.prepared.endpoints[usize::from(endpoint)].protocol;
            let first_slot = layout.slots.len() as u32;
            let seed = mix(share.plan.seed, number.into());
            let state = GroupState::new(group, prepared, first_slot, seed);
            let mut left = if state.has_a_slot_for_each_user() {
                group.pace.connections()
            } else {
                group.pace.connections() * u32::from(protocol.slots())
            };
            while left > 0 {
                // At most as many as there are slots on a connection, which fits 16 bits.
                let count = left.min(protocol.slots().into()) as u16;
                let connection = layout.connections.len() as u32;
                let first = layout.slots.len() as u32;
                layout.connections.push(ConnectionEntry::new(first, count, endpoint, protocol));
                let slot = |place| Slot::new(number, prepared.first, (connection, place));
                layout.slots.extend((0..count).map(slot));
                left -= u32::from(count);
            }
            layout.groups.push(state);
        }
        layout
    }
}
