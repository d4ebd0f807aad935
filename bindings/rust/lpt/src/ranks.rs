use crate::handle::handle;
use crate::{codec, Codec, CommOptions, Context, Error, ReduceOptions, Result, Tensor};
use lpt_sys as sys;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::Arc;

handle! {
    /// A group of ranks that are threads of one process. Thread-safe.
    CommGroup, lpt_comm_group, lpt_comm_group_destroy
}
unsafe impl Send for CommGroup {}
unsafe impl Sync for CommGroup {}

handle! {
    /// What a comm and its buckets own together.
    OwnedComm, lpt_comm, lpt_comm_destroy
}

/// One rank's end of a communicator. It stays on the thread that made it.
pub struct Comm {
    own: Rc<OwnedComm>,
}

impl CommGroup {
    /// A group of so many ranks.
    pub fn new(rank_count: i32) -> Result<CommGroup> {
        let mut raw = null_mut();
        match unsafe { sys::lpt_comm_group_create(null_mut(), rank_count, &mut raw) } {
            sys::LPT_OK => Ok(CommGroup::from_raw(raw)),
            status => Err(Error::new(status, format!("rank_count is {rank_count}: no group could be made"))),
        }
    }

    /// Frees all ranks that wait, with `ABORTED`.
    pub fn abort(&self) {
        unsafe { sys::lpt_comm_group_abort(self.as_ptr()) }
    }
}

impl Comm {
    /// Takes a rank's place; returns when all ranks have come.
    pub fn local(context: &Context, group: &CommGroup, rank: i32, options: &CommOptions) -> Result<Comm> {
        let mut raw = null_mut();
        context.check(unsafe {
            sys::lpt_comm_create_local(context.as_ptr(), group.as_ptr(), rank, &options.raw, &mut raw)
        })?;
        Ok(Comm::from_raw(raw))
    }

    /// Takes a process's place among the processes of an MPI job; returns when all of them have come.
    pub fn mpi(context: &Context, options: &CommOptions) -> Result<Comm> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_comm_create_mpi(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Comm::from_raw(raw))
    }

    fn from_raw(raw: *mut sys::lpt_comm) -> Comm {
        Comm { own: Rc::new(OwnedComm::from_raw(raw)) }
    }

    pub(crate) fn owned(&self) -> Rc<OwnedComm> {
        self.own.clone()
    }

    /// The handle, for functions of `lpt_sys`.
    pub fn as_ptr(&self) -> *mut sys::lpt_comm {
        self.own.as_ptr()
    }

    /// Rank, ranks, engine and what was sent.
    pub fn values(&self, context: &Context) -> Result<sys::lpt_comm_info> {
        let mut values = sys::lpt_comm_info::default();
        context.check(unsafe { sys::lpt_comm_read(context.as_ptr(), self.as_ptr(), &mut values) })?;
        Ok(values)
    }

    /// C's array of a number for each rank, or NULL.
    pub(crate) fn counts(&self, context: &Context, counts: Option<&[i64]>) -> Result<*const i64> {
        let given = match counts {
            Some(given) => given,
            None => return Ok(null()),
        };
        let ranks = self.values(context)?.rank_count;
        if given.len() as i64 != i64::from(ranks) {
            return Err(Error::invalid(format!("counts are {}: expected one for each rank, {ranks}", given.len())));
        }
        Ok(given.as_ptr())
    }

    /// Waits for all ranks.
    pub fn barrier(&mut self, context: &Context) -> Result<()> {
        context.check(unsafe { sys::lpt_barrier(context.as_ptr(), self.as_ptr()) })
    }

    /// Reduces a tensor of every rank in place.
    pub fn all_reduce(&mut self, context: &Context, tensor: &mut Tensor, options: &ReduceOptions) -> Result<()> {
        let raw = tensor.as_ptr();
        let result = context
            .check(unsafe { sys::lpt_all_reduce(context.as_ptr(), self.as_ptr(), raw, &options.raw, raw, null_mut()) });
        match options.codec_state() {
            Some(codec) => codec.with_panic(result),
            None => result,
        }
    }

    /// Gives all ranks the parts of every rank, one after the other along the first axis; `counts` None: equal parts. With a
    /// codec each part travels by it.
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

    /// The same behind the caller's back. The future holds the tensor until it is waited for.
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

    /// Every rank's tensor becomes the root's.
    pub fn broadcast(&mut self, context: &Context, root: i32, tensor: &mut Tensor) -> Result<()> {
        context.check(unsafe { sys::lpt_broadcast(context.as_ptr(), self.as_ptr(), root, tensor.as_ptr(), null_mut()) })
    }
}

/// A collective that is under way, and its tensor. Dropping it waits for the end.
pub struct Future<'c> {
    raw: *mut sys::lpt_future,
    context: &'c Context,
    tensor: Option<Tensor<'static>>,
    codec: Option<Arc<codec::State>>,
}

impl Future<'_> {
    /// Waits, and gives the tensor back.
    pub fn wait(mut self) -> Result<Tensor<'static>> {
        let result = self.context.check(unsafe { sys::lpt_future_wait(self.context.as_ptr(), self.raw) });
        match &self.codec {
            Some(codec) => codec.with_panic(result),
            None => result,
        }?;
        Ok(self.tensor.take().expect("it is taken here alone"))
    }
}

impl Drop for Future<'_> {
    fn drop(&mut self) {
        unsafe {
            // Where the tensor was not given back: its memory must live until the end. A failure has nobody to be told.
            if self.tensor.is_some() {
                sys::lpt_future_wait(self.context.as_ptr(), self.raw);
            }
            sys::lpt_future_destroy(self.raw);
        }
    }
}
