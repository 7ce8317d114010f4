//! The addresses of a target's name, to which connections are opened in turn.
//!
//! An address that refused and was never open is skipped while another one works: the name
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
    /// Takes all addresses; `start` is the first, which differs between workers.
    pub(super) fn new(addresses: &[Address], start: u32) -> Self {
        let route = |address: &Address| Route {
            address: address.clone(),
            was_open: false,
            has_failed: false,
        };
        Self { routes: addresses.iter().map(route).collect(), turn: start as usize }
    }

    /// Returns the next address, with its number for [`Routes::ended`].
    pub(super) fn next(&mut self) -> (&Address, u16) {
        let count = self.routes.len();
        let order = (0..count).map(|step| (self.turn + step) % count);
        let place = order.clone().find(|at| self.is_hopeful(*at)).unwrap_or(self.turn % count);
        self.turn = place + 1;
        // A response of DNS has fewer addresses than 16 bits can count.
        (&self.routes[place].address, place as u16)
    }

    /// Takes note that a dial to an address has ended.
    pub(super) fn ended(&mut self, place: u16, is_open: bool) {
        let route = &mut self.routes[usize::from(place)];
        route.was_open |= is_open;
        route.has_failed |= !is_open;
    }

    /// Returns whether another address is to be tried before a failure counts.
    pub(super) fn has_alternative(&self) -> bool {
        (0..self.routes.len()).any(|place| self.is_hopeful(place))
    }

    /// Returns the addresses to which no connection was ever opened, while one to another address was.
    pub(super) fn unreachable_addresses(&self) -> Vec<String> {
        if !self.routes.iter().any(|route| route.was_open) {
            return Vec::new();
        }
        let dead = self.routes.iter().filter(|route| route.has_failed && !route.was_open);
        dead.map(|route| route.address.to_string()).collect()
    }

    /// Returns the number of addresses.
    pub(super) fn len(&self) -> u32 {
        // A response of DNS has few of them.
        self.routes.len() as u32
    }

    /// Returns the address with a number.
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
    fn an_address_that_never_worked_is_skipped_and_one_that_did_is_not() {
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
