//! Activations that ranks share in part, and sequences that they split.
use crate::handle::handle;
use crate::{Comm, Context, PartialPass, PartialPlanOptions, Result, Tensor};
use lpt_sys as sys;
use std::ptr::{null, null_mut};

handle! {
    /// Which columns of activations ranks share. Many contexts may use it at a time.
    PartialPlan, lpt_partial_plan, lpt_partial_plan_destroy
}
unsafe impl Send for PartialPlan {}
unsafe impl Sync for PartialPlan {}

impl PartialPlan {
    /// A plan as the options say.
    pub fn new(context: &Context, options: &PartialPlanOptions) -> Result<PartialPlan> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_partial_plan_create(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(PartialPlan::from_raw(raw))
    }
}

impl Comm {
    /// Adds up the shared columns of all ranks, and scales this rank's private ones, in place.
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

    /// Gathers the rows of all ranks before a column-parallel layer; `row_counts` None: equal numbers.
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

    /// Adds up what ranks have of all rows, and gives each its own: the backward of a gather, and that is its backward.
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
