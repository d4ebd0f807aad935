//! Declarations of lpt.h, which documents the contracts.
#![allow(non_camel_case_types)]

mod functions;
mod kinds;
mod structs;

pub use functions::*;
pub use kinds::*;
pub use structs::*;

/// Declarations that bindgen generated from the installed header, with the feature `bindgen`.
#[cfg(feature = "bindgen")]
#[allow(clashing_extern_declarations, non_snake_case, non_upper_case_globals)]
pub mod bindgen {
    include!(concat!(env!("OUT_DIR"), "/bindgen.rs"));
}
