//! What fuzz targets share: how an input is cut, and readers written anew to compare with.
//!
//! The readers here are slow and plain. They follow the texts of the RFCs, not the code that they
//! judge, and share nothing with it but the names of what is wrong.

pub mod chunked;
pub mod cuts;
pub mod head;
pub mod sse;
