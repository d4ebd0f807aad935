//! Tensor parallelism with partially shared activations (CAAT), and sequence parallelism.
use crate::handle::handle;
use crate::{Comm, Context, PartialPass, PartialPlanOptions, Result, Tensor};
use lpt_sys as sys;
use std::ptr::{null, null_mut};

handle! {
    /// States which columns of activations ranks share. Several contexts may use it at the same time.
    PartialPlan, lpt_partial_plan, lpt_partial_plan_destroy
}
unsafe impl Send for PartialPlan {}
unsafe impl Sync for PartialPlan {}

impl PartialPlan {
    /// Creates a plan.
    pub fn new(context: &Context, options: &PartialPlanOptions) -> Result<PartialPlan> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_partial_plan_create(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(PartialPlan::from_raw(raw))
    }
}

impl Comm {
    /// Sums the shared columns over all ranks, and scales the private columns of this rank, in place.
    pub fn partial_all_reduce(
        &mut self,
        context: &Context,
        plan: &PartialPlan,
        pass: PartialPass,
        tensor: &mut Tensor,
    ) -> Result<()> {
        let (raw, tensor) = (plan.as_ptr(), tensor.as_ptr());
        context.check(unsafe {
            sys::lpt_partial_all_reduce(context.as_ptr(), self.as_ptr(), raw, pass.0, tensor, tensor, null_mut())
        })
    }

    /// Gathers the rows of all ranks before a column-parallel layer; `row_counts` None: all ranks have the same number.
    pub fn sequence_gather(
        &mut self,
        context: &Context,
        plan: Option<&PartialPlan>,
        input: &Tensor,
        row_counts: Option<&[i64]>,
        output: &mut Tensor,
    ) -> Result<()> {
        let (plan, counts) = (raw_or_null(plan), self.counts(context, row_counts)?);
        let (input, output) = (input.as_ptr(), output.as_ptr());
        context.check(unsafe {
            sys::lpt_sequence_gather(context.as_ptr(), self.as_ptr(), plan, input, counts, output, null_mut())
        })
    }

    /// Sums the rows of all ranks, and returns this rank's rows of the sum. It is the backward of
    /// [`sequence_gather`](Self::sequence_gather), and the reverse.
    pub fn sequence_scatter(
        &mut self,
        context: &Context,
        plan: Option<&PartialPlan>,
        pass: PartialPass,
        input: &Tensor,
        row_counts: Option<&[i64]>,
        output: &mut Tensor,
    ) -> Result<()> {
        let (plan, counts) = (raw_or_null(plan), self.counts(context, row_counts)?);
        let (comm, input, output) = (self.as_ptr(), input.as_ptr(), output.as_ptr());
        context.check(unsafe {
            sys::lpt_sequence_scatter(context.as_ptr(), comm, plan, pass.0, input, counts, output, null_mut())
        })
    }
}

fn raw_or_null(plan: Option<&PartialPlan>) -> *const sys::lpt_partial_plan {
    plan.map_or(null(), |plan| plan.as_ptr())
}
