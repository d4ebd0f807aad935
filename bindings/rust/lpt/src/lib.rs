//! LPT, the low-precision training toolkit, for Rust.
//!
//! A safe layer over `liblpt`: the contracts are those of `lpt.h`. A [`Context`] is the worker, handles are data, options
//! configure one call: [`Default`] gives the library's, builder style changes them.
//!
//! ```
//! use lpt::{Context, Format, Tensor};
//! let context = Context::new()?;
//! let numbers = [0.1f32, -2.5, 3.0, 700.0, 0.004, 1.0];
//! let source = Tensor::from_slice(&context, &numbers, 2, 3)?;
//! let mut fp8 = Tensor::new(&context, Format::E4M3FN_ROW, &[2, 3])?;
//! context.quantize(&source, &mut fp8, &Default::default())?;
//! let mut restored = [0f32; 6];
//! context.dequantize(&fp8, &mut Tensor::from_mut(&context, &mut restored, 2, 3)?)?;
//! assert_eq!(restored[3], 700.0);
//! # Ok::<(), lpt::Error>(())
//! ```
//!
//! Threads: a [`Context`] may move to another thread, but serves one at a time. Tensors, recipes, layers and optimizers may
//! be read by many threads, written by one: what `&` and `&mut` say. A [`Comm`] and its [`GradientBuckets`] stay on their
//! thread. What has no safe function here is called through `lpt_sys` with the handles' `as_ptr()`.
//!
//! Functions that the library calls: [`Context::set_log`] and [`Context::set_progress`] on the thread that calls the library, a
//! [`Compression`] on any thread of the context. A panic ends in them and comes to an [`Error`] of the call, with its text. None may
//! use a context on the thread that it is called on.
//!
//! These do not compile:
//!
//! ```compile_fail
//! fn is_sync<T: Sync>() {}
//! is_sync::<lpt::Context>();
//! ```
//! ```compile_fail
//! fn is_send<T: Send>() {}
//! is_send::<lpt::Comm>();
//! ```
//! ```compile_fail
//! fn is_send<T: Send>() {}
//! is_send::<lpt::GradientBuckets>();
//! ```
//! ```compile_fail
//! let context = lpt::Context::new().unwrap();
//! let tensor = lpt::Tensor::from_mut(&context, &mut vec![0f32; 4], 2, 2).unwrap(); // of memory that has gone
//! tensor.extents(&context).unwrap();
//! ```
#![deny(unsafe_op_in_unsafe_fn, missing_docs)]

mod buckets;
mod callbacks;
mod codec;
mod context;
mod device;
mod error;
mod handle;
mod kinds;
mod linear;
mod optimizer;
mod options;
mod partial;
mod ranks;
mod tensor;

pub use buckets::GradientBuckets;
pub use codec::{Codec, Compression};
pub use context::Context;
pub use device::DeviceInfo;
pub use error::{Error, Result};
pub use kinds::*;
pub use linear::{Linear, Recipe};
pub use optimizer::Optimizer;
pub use options::*;
pub use partial::PartialPlan;
pub use ranks::{Comm, CommGroup, Future};
pub use tensor::{Number, ReadOnly, Tensor};

use lpt_sys as sys;

// What the page above says of threads, held by the compiler.
const _: () = {
    const fn is_send<T: Send>() {}
    const fn is_sync<T: Sync>() {}
    is_send::<Context>();
    is_send::<Tensor>();
    is_sync::<Tensor>();
    is_send::<ReadOnly>();
    is_sync::<ReadOnly>();
    is_send::<Recipe>();
    is_sync::<Recipe>();
    is_send::<Linear>();
    is_sync::<Linear>();
    is_send::<Optimizer>();
    is_sync::<Optimizer>();
    is_send::<PartialPlan>();
    is_sync::<PartialPlan>();
    is_send::<Codec>();
    is_sync::<Codec>();
    is_send::<CommGroup>();
    is_sync::<CommGroup>();
    is_send::<Error>();
    is_sync::<Error>();
};

/// The level of the binary interface of the library that is loaded.
pub fn abi_level() -> i32 {
    unsafe { sys::lpt_abi_level() }
}

/// The release of the library that is loaded: major · 10000 + minor · 100 + patch.
pub fn version() -> i32 {
    unsafe { sys::lpt_version() }
}
