//! The defects of streams: one table, from which names, help and tests are made.

use serde::{Deserialize, Serialize};

/// Declares the enum and its methods from the rows of the table.
macro_rules! defects {
    ($($variant:ident $name:literal $meaning:literal;)+) => {
        /// A way in which a stream with status 200 fails.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Defect {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl Defect {
            /// All defects, in the order of the table.
            pub const ALL: &[Defect] = &[$(Defect::$variant,)+];

            /// Returns the name in specs, in counts and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Defect::$variant => $name,)+ }
            }

            /// Returns a line of help about what the client receives.
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
