//! Which address of a target's name the next connection goes to: each in turn.
//!
//! An address that refused and was never open is passed over while another one works: the name
//! `localhost` has two addresses on most machines, and most servers listen on one.

use net::Address;

/// The addresses of one target.
#[derive(Debug)]
pub(super) struct Routes {
    routes: Vec<Route>,
    turn: usize,
}

#[derive(Debug)]
struct Route {
    address: Address,
    was_open: bool,
    has_failed: bool,
}

impl Routes {
    /// Every address, starting at a place of this worker's own.
    pub(super) fn new(addresses: &[Address], start: u32) -> Self {
        let route = |address: &Address| Route {
            address: address.clone(),
            was_open: false,
            has_failed: false,
        };
        Self { routes: addresses.iter().map(route).collect(), turn: start as usize }
    }

    /// The next address, with its number for [`Routes::ended`].
    pub(super) fn next(&mut self) -> (&Address, u16) {
        let count = self.routes.len();
        let order = (0..count).map(|step| (self.turn + step) % count);
        let place = order.clone().find(|at| self.is_hopeful(*at)).unwrap_or(self.turn % count);
        self.turn = place + 1;
        // A name with more addresses than fit 16 bits does not fit an answer of DNS.
        (&self.routes[place].address, place as u16)
    }

    /// A dial to this address has ended.
    pub(super) fn ended(&mut self, place: u16, is_open: bool) {
        let route = &mut self.routes[usize::from(place)];
        route.was_open |= is_open;
        route.has_failed |= !is_open;
    }

    /// Whether another address is worth a try before a failure is believed.
    pub(super) fn has_alternative(&self) -> bool {
        (0..self.routes.len()).any(|place| self.is_hopeful(place))
    }

    /// Addresses that never worked while another did.
    pub(super) fn unreachable_addresses(&self) -> Vec<String> {
        if !self.routes.iter().any(|route| route.was_open) {
            return Vec::new();
        }
        let dead = self.routes.iter().filter(|route| route.has_failed && !route.was_open);
        dead.map(|route| route.address.to_string()).collect()
    }

    /// How many addresses there are.
    pub(super) fn len(&self) -> u32 {
        // As many as the answer to one question about a name can hold.
        self.routes.len() as u32
    }

    /// The address with this number.
    pub(super) fn address(&self, place: u16) -> &Address {
        &self.routes[usize::from(place)].address
    }

    fn is_hopeful(&self, place: usize) -> bool {
        self.routes[place].was_open || !self.routes[place].has_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(start: u32) -> Routes {
        let addresses = ["[::1]:80", "127.0.0.1:80", "127.0.0.2:80"]
            .map(|text| Address::Ip(text.parse().unwrap()));
        Routes::new(&addresses, start)
    }

    fn places(routes: &mut Routes, count: usize) -> Vec<u16> {
        (0..count).map(|_| routes.next().1).collect()
    }

    #[test]
    fn every_address_is_used_in_turn() {
        assert_eq!(places(&mut routes(0), 5), [0, 1, 2, 0, 1]);
        assert_eq!(places(&mut routes(2), 4), [2, 0, 1, 2]);
    }

    #[test]
    fn an_address_that_never_worked_is_passed_over_and_one_that_did_is_not() {
        let mut routes = routes(0);
        routes.ended(0, false);
        routes.ended(1, true);
        routes.ended(1, false);
        assert_eq!(places(&mut routes, 4), [1, 2, 1, 2]);
    }

    #[test]
    fn when_none_works_all_are_tried_again() {
        let mut routes = routes(0);
        (0..3).for_each(|place| routes.ended(place, false));
        assert!(!routes.has_alternative());
        assert_eq!(places(&mut routes, 4), [0, 1, 2, 0]);
    }
}
