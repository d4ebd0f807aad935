use crate::handle::handle;
use crate::{codec, Codec, CommOptions, Context, Error, ReduceOptions, Result, Tensor};
use lpt_sys as sys;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;

handle! {
    /// A group of ranks that are threads of one process. It is thread-safe.
    CommGroup, lpt_comm_group, lpt_comm_group_destroy
}
unsafe impl Send for CommGroup {}
unsafe impl Sync for CommGroup {}

handle! {
    /// The handle that a comm and its buckets share.
    OwnedComm, lpt_comm, lpt_comm_destroy
}

/// One rank of a communicator. It stays on the thread that created it.
pub struct Comm {
    shared: Rc<OwnedComm>,
}

impl CommGroup {
    /// Creates a group of `rank_count` ranks.
    pub fn new(rank_count: i32) -> Result<CommGroup> {
        let mut raw = null_mut();
        match unsafe { sys::lpt_comm_group_create(null_mut(), rank_count, &mut raw) } {
            sys::LPT_OK => Ok(CommGroup::from_raw(raw)),
            status => Err(Error::new(status, format!("rank_count is {rank_count}: cannot create a group"))),
        }
    }

    /// Aborts the current and all later collectives of the group, which fail with `ABORTED`.
    pub fn abort(&self) {
        unsafe { sys::lpt_comm_group_abort(self.as_ptr()) }
    }
}

impl Comm {
    /// Creates a rank of a local group; returns after all ranks have called it.
    pub fn local(context: &Context, group: &CommGroup, rank: i32, options: &CommOptions) -> Result<Comm> {
        let mut raw = null_mut();
        context.check(unsafe {
            sys::lpt_comm_create_local(context.as_ptr(), group.as_ptr(), rank, &options.raw, &mut raw)
        })?;
        Ok(Comm::from_raw(raw))
    }

    /// Creates the rank of this process in an MPI job; returns after all processes have called it.
    pub fn mpi(context: &Context, options: &CommOptions) -> Result<Comm> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_comm_create_mpi(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Comm::from_raw(raw))
    }

    /// Creates a rank over functions of the caller; returns after all ranks have called it.
    ///
    /// # Safety
    ///
    /// The functions follow the rules of `lpt_comm_functions`. They get `user`, which `close` may free.
    pub unsafe fn custom(
        context: &Context,
        functions: &sys::lpt_comm_functions,
        user: *mut c_void,
        rank: i32,
        rank_count: i32,
        options: &CommOptions,
    ) -> Result<Comm> {
        let mut raw = null_mut();
        context.check(unsafe {
            sys::lpt_comm_create_custom(context.as_ptr(), functions, user, rank, rank_count, &options.raw, &mut raw)
        })?;
        Ok(Comm::from_raw(raw))
    }

    fn from_raw(raw: *mut sys::lpt_comm) -> Comm {
        Comm { shared: Rc::new(OwnedComm::from_raw(raw)) }
    }

    pub(crate) fn owned(&self) -> Rc<OwnedComm> {
        self.shared.clone()
    }

    /// Returns the handle, for functions of `lpt_sys`.
    pub fn as_ptr(&self) -> *mut sys::lpt_comm {
        self.shared.as_ptr()
    }

    /// Returns rank, number of ranks, engine and counters of traffic.
    pub fn values(&self, context: &Context) -> Result<sys::lpt_comm_info> {
        let mut values = sys::lpt_comm_info::default();
        context.check(unsafe { sys::lpt_comm_read(context.as_ptr(), self.as_ptr(), &mut values) })?;
        Ok(values)
    }

    /// Returns the array of counts for C, one for each rank, or NULL.
    pub(crate) fn counts(&self, context: &Context, counts: Option<&[i64]>) -> Result<*const i64> {
        let given = match counts {
            Some(given) => given,
            None => return Ok(null()),
        };
        let ranks = self.values(context)?.rank_count;
        if given.len() as i64 != i64::from(ranks) {
            let count = given.len();
            return Err(Error::invalid(format!("counts has {count} elements: expected one for each rank, {ranks}")));
        }
        Ok(given.as_ptr())
    }

    /// Waits until all ranks have called it.
    pub fn barrier(&mut self, context: &Context) -> Result<()> {
        context.check(unsafe { sys::lpt_barrier(context.as_ptr(), self.as_ptr()) })
    }

    /// Reduces a tensor over all ranks, in place.
    pub fn all_reduce(&mut self, context: &Context, tensor: &mut Tensor, options: &ReduceOptions) -> Result<()> {
        let raw = tensor.as_ptr();
        let result = context
            .check(unsafe { sys::lpt_all_reduce(context.as_ptr(), self.as_ptr(), raw, &options.raw, raw, null_mut()) });
        match options.codec_state() {
            Some(codec) => codec.with_panic(result),
            None => result,
        }
    }

    /// Gathers the slices of all ranks along the first axis, in rank order.
    ///
    /// `counts` None: all slices are equal. With a codec, each rank encodes its slice, and all ranks decode it.
    pub fn all_gather(
        &mut self,
        context: &Context,
        codec: Option<&Codec>,
        input: &Tensor,
        counts: Option<&[i64]>,
        output: &mut Tensor,
    ) -> Result<()> {
        let counts = self.counts(context, counts)?;
        let (raw, comm, input, output) = (context.as_ptr(), self.as_ptr(), input.as_ptr(), output.as_ptr());
        let mut options = sys::lpt_all_gather_options::default();
        if let Some(codec) = codec {
            options.codec = &codec.raw;
        }
        let result =
            context.check(unsafe { sys::lpt_all_gather(raw, comm, input, counts, &options, output, null_mut()) });
        match codec {
            Some(codec) => codec.with_panic(result),
            None => result,
        }
    }

    /// Starts a reduction in the background. The future owns the tensor until [`Future::wait`].
    pub fn all_reduce_start<'c>(
        &mut self,
        context: &'c Context,
        tensor: Tensor<'static>,
        options: &ReduceOptions,
    ) -> Result<Future<'c>> {
        let (mut future, raw) = (null_mut(), tensor.as_ptr());
        context.check(unsafe {
            sys::lpt_all_reduce(context.as_ptr(), self.as_ptr(), raw, &options.raw, raw, &mut future)
        })?;
        Ok(Future { raw: future, context, tensor: Some(tensor), codec: options.codec_state() })
    }

    /// Copies the tensor of the rank `root` to all ranks, in place.
    pub fn broadcast(&mut self, context: &Context, root: i32, tensor: &mut Tensor) -> Result<()> {
        context.check(unsafe { sys::lpt_broadcast(context.as_ptr(), self.as_ptr(), root, tensor.as_ptr(), null_mut()) })
    }
}

/// A collective in progress, and its tensor. Its drop waits for completion.
pub struct Future<'c> {
    raw: *mut sys::lpt_future,
    context: &'c Context,
    tensor: Option<Tensor<'static>>,
    codec: Option<Arc<codec::State>>,
}

impl Future<'_> {
    /// Waits for completion and returns the tensor.
    pub fn wait(mut self) -> Result<Tensor<'static>> {
        let result = self.context.check(unsafe { sys::lpt_future_wait(self.context.as_ptr(), self.raw) });
        match &self.codec {
            Some(codec) => codec.with_panic(result),
            None => result,
        }?;
        Ok(self.tensor.take().expect("only wait() takes the tensor"))
    }
}

impl Drop for Future<'_> {
    fn drop(&mut self) {
        unsafe {
            // Without wait(), the memory of the tensor must stay valid until completion. A failure cannot be reported.
            if self.tensor.is_some() {
                sys::lpt_future_wait(self.context.as_ptr(), self.raw);
            }
            sys::lpt_future_destroy(self.raw);
        }
    }
}
