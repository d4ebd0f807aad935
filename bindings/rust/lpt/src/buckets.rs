use crate::codec::State;
use crate::ranks::OwnedComm;
use crate::{Comm, Context, Error, GradientBucketsOptions, ReduceOptions, Result, Tensor, TensorPart};
use lpt_sys as sys;
use std::ptr::{null_mut, NonNull};
use std::rc::Rc;
use std::sync::Arc;

/// Gradients that ranks reduce in place while backward continues.
///
/// Call [`begin`](Self::begin), then [`ready`](Self::ready) for each gradient as soon as it is computed, then
/// [`wait`](Self::wait). [`gradient`](Self::gradient) gives access to gradients that are not in reduction.
///
/// ```
/// use lpt::{Comm, CommGroup, Context, Format, GradientBuckets, Tensor};
/// let context = Context::new()?;
/// let mut comm = Comm::local(&context, &CommGroup::new(1)?, 0, &Default::default())?;
/// let gradients = vec![Tensor::new(&context, Format::F32, &[4, 4])?];
/// let mut buckets = GradientBuckets::new(&context, &mut comm, gradients, &Default::default())?;
/// buckets.begin(&context, true, &Default::default())?;
/// buckets.gradient(&context, 0)?.bytes_mut(&context)?.fill(0); // backward writes it
/// buckets.ready(&context, 0)?;
/// buckets.wait(&context)?;
/// assert!(buckets.gradient(&context, 0)?.bytes(&context)?.iter().all(|&byte| byte == 0));
/// # Ok::<(), lpt::Error>(())
/// ```
/// A gradient cannot be accessed after [`ready`](Self::ready); this does not compile:
/// ```compile_fail,E0499
/// # fn of(context: &lpt::Context, buckets: &mut lpt::GradientBuckets) -> lpt::Result<()> {
/// let gradient = buckets.gradient(context, 0)?;
/// buckets.ready(context, 0)?;
/// gradient.bytes(context)?;
/// # Ok(())
/// # }
/// ```
pub struct GradientBuckets {
    raw: NonNull<sys::lpt_gradient_buckets>,
    gradients: Vec<Tensor<'static>>,
    pass: Option<BackwardPass>,
    _comm: Rc<OwnedComm>,
}

struct BackwardPass {
    is_last: bool,
    is_ready: Vec<bool>,
    codec: Option<Arc<State>>,
}

impl GradientBuckets {
    /// Creates buckets of gradients in the order of forward, the same on all ranks. The buckets keep the comm alive.
    pub fn new(
        context: &Context,
        comm: &mut Comm,
        gradients: Vec<Tensor<'static>>,
        options: &GradientBucketsOptions,
    ) -> Result<GradientBuckets> {
        let tensors: Vec<_> = gradients.iter().map(|one| one.as_ptr()).collect();
        let mut raw = null_mut();
        context.check(unsafe {
            let (comm, count) = (comm.as_ptr(), tensors.len() as i64);
            sys::lpt_gradient_buckets_create(context.as_ptr(), comm, tensors.as_ptr(), count, &options.raw, &mut raw)
        })?;
        let raw = NonNull::new(raw).expect("the library returns handles that are not NULL");
        Ok(GradientBuckets { raw, gradients, pass: None, _comm: comm.owned() })
    }

    /// Returns the handle, for functions of `lpt_sys`.
    pub fn as_ptr(&self) -> *mut sys::lpt_gradient_buckets {
        self.raw.as_ptr()
    }

    /// Returns a gradient for reading and writing; fails while the gradient is in reduction.
    pub fn gradient(&mut self, context: &Context, index: usize) -> Result<Tensor<'_>> {
        let one = self.gradients.get(index).ok_or_else(|| self.no_gradient(index))?;
        let is_in_reduction = |pass: &BackwardPass| pass.is_last && pass.is_ready[index];
        if self.pass.as_ref().map_or(false, is_in_reduction) {
            return Err(Error::invalid(format!("gradients[{index}] is in reduction: call wait() first")));
        }
        // Return another handle of the memory, because the buckets own theirs.
        one.any_part(context, TensorPart::PAYLOAD)
    }

    /// Starts a backward pass.
    ///
    /// With `is_last`, gradients are reduced as they become ready; the options are the same on all ranks. Otherwise, later
    /// micro-batches accumulate to the gradients, and nothing is sent.
    pub fn begin(&mut self, context: &Context, is_last: bool, options: &ReduceOptions) -> Result<()> {
        context.check(unsafe {
            sys::lpt_gradient_buckets_begin(context.as_ptr(), self.as_ptr(), i32::from(is_last), &options.raw)
        })?;
        let is_ready = vec![false; self.gradients.len()];
        self.pass = Some(BackwardPass { is_last, is_ready, codec: options.codec_state() });
        Ok(())
    }

    /// Marks a gradient as ready, and starts the reduction of its bucket if it is complete.
    pub fn ready(&mut self, context: &Context, index: usize) -> Result<()> {
        if index >= self.gradients.len() {
            return Err(self.no_gradient(index));
        }
        if let Some(pass) = &mut self.pass {
            pass.is_ready[index] = true;
        }
        context.check(unsafe { sys::lpt_gradient_buckets_ready(context.as_ptr(), self.as_ptr(), index as i64) })
    }

    /// Waits until all gradients are reduced, and ends the pass.
    ///
    /// Fails with `INVALID_ARGUMENT` if some gradients are not ready; the pass then continues.
    pub fn wait(&mut self, context: &Context) -> Result<()> {
        let result = context.check(unsafe { sys::lpt_gradient_buckets_wait(context.as_ptr(), self.as_ptr()) });
        if matches!(&result, Err(error) if error.status == crate::Status::INVALID_ARGUMENT) {
            return result;
        }
        match self.pass.take().and_then(|pass| pass.codec) {
            Some(codec) => codec.with_panic(result),
            None => result,
        }
    }

    /// Returns the state of the buckets.
    pub fn values(&self, context: &Context) -> Result<sys::lpt_gradient_buckets_info> {
        let mut values = sys::lpt_gradient_buckets_info::default();
        context.check(unsafe { sys::lpt_gradient_buckets_read(context.as_ptr(), self.as_ptr(), &mut values) })?;
        Ok(values)
    }

    fn no_gradient(&self, index: usize) -> Error {
        Error::invalid(format!("index is {index}: expected less than gradients, {}", self.gradients.len()))
    }
}

impl Drop for GradientBuckets {
    fn drop(&mut self) {
        unsafe { sys::lpt_gradient_buckets_destroy(self.as_ptr()) }
        // Reductions in flight continue and may call the codec: never free its state.
        std::mem::forget(self.pass.take().and_then(|pass| pass.codec));
    }
}
