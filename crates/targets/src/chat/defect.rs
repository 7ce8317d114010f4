//! What can go wrong with a stream: one table, from which names, help and tests come.

use serde::{Deserialize, Serialize};

/// Builds the enum and everything that is generated from its rows.
macro_rules! defects {
    ($($variant:ident $name:literal $meaning:literal;)+) => {
        /// A way in which a streaming answer fails under status 200.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Defect {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl Defect {
            /// Every defect, in the order of the table.
            pub const ALL: &[Defect] = &[$(Defect::$variant,)+];

            /// The name used in specs, in counts and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Defect::$variant => $name,)+ }
            }

            /// One line that says what the client meets; for help texts.
            pub const fn meaning(self) -> &'static str {
                match self { $(Defect::$variant => $meaning,)+ }
            }
        }
    };
}

defects! {
    Error "error" "after half of the texts an error event, then the end of the body";
    Truncated "truncate" "after half of the texts the end of the body, without the event that ends a stream";
    Stall "stall" "after half of the texts nothing more, while the connection stays open";
    Endless "endless" "after half of the texts only comments, for ever";
    Reset "reset" "after half of the texts a reset";
    Malformed "malformed" "an event whose JSON is cut, in the middle of a stream that goes on";
    Compressed "compress" "the whole stream in gzip, which nobody asked for";
    Html "html" "a page of HTML instead of a stream";
}
