//! LPT, the low-precision training toolkit, for Rust.
//!
//! A safe layer over `liblpt` with the contracts of `lpt.h`. A [`Context`] runs operations, handles own data, and options
//! configure one call. [`Default`] of options gives the defaults of the library; builder methods change members.
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
//! Threads: a [`Context`] is [`Send`], but not [`Sync`]. Many threads may read tensors, recipes, layers and optimizers, or
//! one thread may write them, as `&` and `&mut` require. A [`Comm`] and its [`GradientBuckets`] stay on their thread. Other
//! functions of lpt.h are available in `lpt_sys`; `as_ptr()` returns the handles.
//!
//! Callbacks: the library calls the functions of [`Context::set_log`] and [`Context::set_progress`] on the calling thread,
//! and a [`Compression`] on any thread of the context. If a callback panics, the call returns an [`Error`] with the text of
//! the panic. A callback must not use a context on its thread.
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
//! let tensor = lpt::Tensor::from_mut(&context, &mut vec![0f32; 4], 2, 2).unwrap(); // the memory is freed
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
pub use optimizer::{LossScaler, LossScalerInfo, Optimizer};
pub use options::*;
pub use partial::PartialPlan;
pub use ranks::{Comm, CommGroup, Future};
pub use tensor::{Number, ReadOnly, Tensor};

use lpt_sys as sys;

// The compiler checks the thread safety that is documented above.
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
    is_send::<LossScaler>();
    is_send::<PartialPlan>();
    is_sync::<PartialPlan>();
    is_send::<Codec>();
    is_sync::<Codec>();
    is_send::<CommGroup>();
    is_sync::<CommGroup>();
    is_send::<Error>();
    is_sync::<Error>();
};

/// Returns the level of the binary interface of the loaded library.
pub fn abi_level() -> i32 {
    unsafe { sys::lpt_abi_level() }
}

/// Returns the release of the loaded library: major · 10000 + minor · 100 + patch.
pub fn version() -> i32 {
    unsafe { sys::lpt_version() }
}
