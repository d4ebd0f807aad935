use crate::handle::handle;
use crate::{Context, Error, OptimizerOptions, OptimizerParameter, Result, StepOptions, Tensor};
use lpt_sys as sys;
use std::ptr::null_mut;

handle! {
    /// Holds the state of many parameters, never the parameters.
    Optimizer, lpt_optimizer, lpt_optimizer_destroy
}
unsafe impl Send for Optimizer {}
unsafe impl Sync for Optimizer {}

impl Optimizer {
    /// An optimizer without parameters.
    pub fn new(context: &Context, options: &OptimizerOptions) -> Result<Optimizer> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_optimizer_create(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Optimizer::from_raw(raw))
    }

    /// Adds a parameter with zero moments: 0 for the first, then 1, 2, …
    pub fn add(&mut self, context: &Context, parameter: &OptimizerParameter) -> Result<i64> {
        let mut index = -1;
        context
            .check(unsafe { sys::lpt_optimizer_add(context.as_ptr(), self.as_ptr(), &parameter.raw, &mut index) })?;
        Ok(index)
    }

    /// Steps parameters; clipping and skipping is of all of them together.
    pub fn step(
        &mut self,
        context: &Context,
        indices: &[i64],
        gradients: &[&Tensor],
        parameters: &mut [&mut Tensor],
        options: &StepOptions,
    ) -> Result<()> {
        if gradients.len() != indices.len() || parameters.len() != indices.len() {
            let (gradients, parameters, indices) = (gradients.len(), parameters.len(), indices.len());
            return Err(Error::invalid(format!(
                "gradients are {gradients} and parameters {parameters}: expected as many as indices, {indices}"
            )));
        }
        let gradients: Vec<*const sys::lpt_tensor> = gradients.iter().map(|one| one.as_ptr() as *const _).collect();
        let parameters: Vec<*mut sys::lpt_tensor> = parameters.iter().map(|one| one.as_ptr()).collect();
        context.check(unsafe {
            sys::lpt_optimizer_step(
                context.as_ptr(),
                self.as_ptr(),
                indices.as_ptr(),
                indices.len() as i64,
                gradients.as_ptr(),
                &options.raw,
                parameters.as_ptr(),
            )
        })
    }

    /// One parameter's state as bytes for a file.
    pub fn state_save(&self, context: &Context, index: i64) -> Result<Vec<u8>> {
        let mut bytes = 0;
        context.check(unsafe { sys::lpt_optimizer_state_size(context.as_ptr(), self.as_ptr(), index, &mut bytes) })?;
        let mut state = vec![0u8; bytes];
        context.check(unsafe {
            sys::lpt_optimizer_state_save(context.as_ptr(), self.as_ptr(), index, state.as_mut_ptr().cast(), bytes)
        })?;
        Ok(state)
    }

    /// One parameter's state from such bytes.
    pub fn state_load(&mut self, context: &Context, index: i64, state: &[u8]) -> Result<()> {
        context.check(unsafe {
            sys::lpt_optimizer_state_load(context.as_ptr(), self.as_ptr(), index, state.as_ptr().cast(), state.len())
        })
    }
}
