use crate::handle::handle;
use crate::{CommOptions, Context, Error, ReduceOptions, Result, Tensor};
use lpt_sys as sys;
use std::ptr::null_mut;

handle! {
    /// The meeting place of ranks that are threads of one process. Any thread may use it at any time.
    CommGroup, lpt_comm_group, lpt_comm_group_destroy
}
unsafe impl Send for CommGroup {}
unsafe impl Sync for CommGroup {}

handle! {
    /// One rank's end of a communicator. It stays on the thread that made it.
    Comm, lpt_comm, lpt_comm_destroy
}

impl CommGroup {
    /// A meeting place for so many ranks.
    pub fn new(rank_count: i32) -> Result<CommGroup> {
        let mut raw = null_mut();
        match unsafe { sys::lpt_comm_group_create(rank_count, &mut raw) } {
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

    /// Waits for all ranks.
    pub fn barrier(&mut self, context: &Context) -> Result<()> {
        context.check(unsafe { sys::lpt_barrier(context.as_ptr(), self.as_ptr()) })
    }

    /// Reduces a tensor of every rank in place.
    pub fn all_reduce(&mut self, context: &Context, tensor: &mut Tensor, options: &ReduceOptions) -> Result<()> {
        let raw = tensor.as_ptr();
        context
            .check(unsafe { sys::lpt_all_reduce(context.as_ptr(), self.as_ptr(), raw, &options.raw, raw, null_mut()) })
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
        Ok(Future { raw: future, context, tensor: Some(tensor) })
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
}

impl Future<'_> {
    /// Waits, and gives the tensor back.
    pub fn wait(mut self) -> Result<Tensor<'static>> {
        self.context.check(unsafe { sys::lpt_future_wait(self.context.as_ptr(), self.raw) })?;
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
