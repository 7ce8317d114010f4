//! What an event of a stream carries, as far as tools that measure streams differ in what they count.

/// A set of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventParts(u8);

impl EventParts {
    /// None.
    pub const NONE: Self = Self(0);
    /// Text that a user reads, refusals left out.
    pub const CONTENT: Self = Self(1);
    /// A text of length 0 without a role: the text of a token that has none.
    pub const EMPTY: Self = Self(1 << 1);
    /// Reasoning in the field `reasoning`.
    pub const REASONING: Self = Self(1 << 2);
    /// Reasoning in the field `reasoning_content`.
    pub const REASONING_CONTENT: Self = Self(1 << 3);
    /// A piece of a tool's call.
    pub const TOOL: Self = Self(1 << 4);
    /// The same with some of its name or its arguments.
    pub const TOOL_TEXT: Self = Self(1 << 5);
    /// A piece of a call in its older form.
    pub const FUNCTION: Self = Self(1 << 6);

    /// Returns both sets together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns these parts where a condition holds.
    #[must_use]
    pub fn when(self, holds: bool) -> Self {
        if holds { self } else { Self::NONE }
    }

    /// Returns whether both sets have a part in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: [EventParts; 7] = [
        EventParts::CONTENT,
        EventParts::EMPTY,
        EventParts::REASONING,
        EventParts::REASONING_CONTENT,
        EventParts::TOOL,
        EventParts::TOOL_TEXT,
        EventParts::FUNCTION,
    ];

    #[test]
    fn each_part_meets_itself_alone() {
        for (at, part) in EACH.into_iter().enumerate() {
            let met: Vec<_> = (0..EACH.len()).filter(|&other| part.meets(EACH[other])).collect();
            assert_eq!(met, [at]);
            assert!(!part.meets(EventParts::NONE));
        }
    }

    #[test]
    fn two_sets_together_have_the_parts_of_both() {
        let both = EventParts::TOOL.and(EventParts::TOOL_TEXT);
        assert!(both.meets(EventParts::TOOL) && both.meets(EventParts::TOOL_TEXT));
        assert!(!both.meets(EventParts::CONTENT));
        assert_eq!(both.and(EventParts::TOOL), both);
        assert_eq!((both.when(true), both.when(false)), (both, EventParts::NONE));
    }
}
