//! The state of a user between its requests: its step, its data row, its captured values.

use crate::prepare::PreparedGroup;
use crate::prepare::variables::{Draw, Draws};

/// One user.
#[derive(Debug, Clone, Default)]
pub(super) struct UserState {
    pub(super) step: u16,
    pub(super) draw: Draw,
    pub(super) values: Vec<Vec<u8>>,
}

/// The users of one group; empty if they have no state.
#[derive(Debug)]
pub(super) struct UserStates {
    users: Vec<UserState>,
    /// The number of steps in an iteration, if there are steps.
    steps: Option<u16>,
    draws: Draws,
}

impl UserStates {
    pub(super) fn new(
        users: u32,
        steps: Option<u16>,
        group: &PreparedGroup,
        mut draws: Draws,
    ) -> Self {
        let keeps = steps.is_some() || group.captures > 0;
        let mut user = || UserState {
            step: 0,
            draw: if steps.is_some() { draws.next() } else { Draw::default() },
            values: vec![Vec::new(); group.captures],
        };
        let users = if keeps { (0..users).map(|_| user()).collect() } else { Vec::new() };
        Self { users, steps, draws }
    }

    /// Returns the step of a user.
    pub(super) fn step(&self, user: u32) -> u16 {
        self.users.get(user as usize).map_or(0, |session| session.step)
    }

    /// Returns data row and number of a user's next request.
    pub(super) fn draw(&mut self, user: u32) -> Draw {
        match (self.steps, self.users.get(user as usize)) {
            (Some(_), Some(session)) => session.draw,
            _ => self.draws.next(),
        }
    }

    /// Returns the captured values of a user.
    pub(super) fn values(&mut self, user: u32) -> &mut [Vec<u8>] {
        self.users.get_mut(user as usize).map_or(&mut [], |session| &mut session.values)
    }

    /// Takes note that a request of a user has ended: the next step follows, or a new iteration without
    /// values.
    pub(super) fn ended(&mut self, user: u32, is_ok: bool) {
        let (Some(steps), Some(session)) = (self.steps, self.users.get_mut(user as usize)) else {
            return;
        };
        session.step += 1;
        if !is_ok || session.step == steps {
            session.step = 0;
            session.draw = self.draws.next();
            session.values.iter_mut().for_each(Vec::clear);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_states(steps: Option<u16>, captures: usize) -> UserStates {
        let group = PreparedGroup { first: 0, count: 2, rows: None, captures };
        UserStates::new(2, steps, &group, Draws::new(0, 1))
    }

    #[test]
    fn an_iteration_has_one_row_and_its_values_and_the_next_has_others() {
        let mut user_states = user_states(Some(2), 1);
        user_states.values(1)[0] = b"token".to_vec();
        assert_eq!((user_states.draw(1).seq, user_states.step(1)), (1, 0));
        user_states.ended(1, true);
        assert_eq!((user_states.draw(1).seq, user_states.step(1)), (1, 1));
        assert_eq!(user_states.values(1)[0], b"token");
        user_states.ended(1, true);
        assert_eq!((user_states.draw(1).seq, user_states.step(1)), (2, 0));
        assert!(user_states.values(1)[0].is_empty());
        assert_eq!(user_states.draw(0).seq, 0);
    }

    #[test]
    fn a_user_whose_step_failed_begins_a_new_iteration() {
        let mut user_states = user_states(Some(2), 0);
        user_states.ended(0, true);
        user_states.ended(0, false);
        assert_eq!((user_states.step(0), user_states.draw(0).seq), (0, 2));
    }

    #[test]
    fn without_steps_each_request_has_its_own_row_and_values_stay() {
        let mut user_states = user_states(None, 1);
        user_states.values(0)[0] = b"token".to_vec();
        assert_eq!((user_states.draw(0).seq, user_states.draw(0).seq), (0, 1));
        user_states.ended(0, false);
        assert_eq!(user_states.values(0)[0], b"token");
    }

    #[test]
    fn users_without_state_need_no_memory() {
        let mut user_states = user_states(None, 0);
        assert!(user_states.users.is_empty() && user_states.values(7).is_empty());
        assert_eq!(user_states.step(7), 0);
    }
}
