use crate::handle::handle;
use crate::{
    Comm, Context, Error, LossScalerOptions, OptimizerOptions, OptimizerParameter, OptimizerStepOptions, ReduceOptions,
    Result, Tensor,
};
use lpt_sys as sys;
use std::ffi::CString;
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

handle! {
    /// An optimizer, which owns the state of many parameters, not the parameters.
    Optimizer, lpt_optimizer, lpt_optimizer_destroy
}
unsafe impl Send for Optimizer {}
unsafe impl Sync for Optimizer {}

handle! {
    /// A factor of the loss, which the options of a step borrow. The step divides the gradients by it.
    LossScaler, lpt_loss_scaler, lpt_loss_scaler_destroy
}
unsafe impl Send for LossScaler {}

/// State of a [`LossScaler`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossScalerInfo {
    /// Factor of the loss until the next update.
    pub scale: f64,
    /// Updates without a skipped step since the last growth, skipped step or creation.
    pub finite_count: i64,
    /// Updates with a skipped step.
    pub skipped_count: i64,
    /// Whether a step since the last update was skipped.
    pub is_skipped: bool,
}

impl LossScaler {
    /// Creates a loss scaler.
    pub fn new(context: &Context, options: &LossScalerOptions) -> Result<LossScaler> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_loss_scaler_create(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(LossScaler::from_raw(raw))
    }

    /// Backs off if a step since the last update was skipped, and grows after enough updates without one.
    pub fn update(&mut self, context: &Context) -> Result<()> {
        context.check(unsafe { sys::lpt_loss_scaler_update(context.as_ptr(), self.as_ptr()) })
    }

    /// Reads the scale and the counts.
    pub fn read(&self, context: &Context) -> Result<LossScalerInfo> {
        let mut info = sys::lpt_loss_scaler_info::default();
        context.check(unsafe { sys::lpt_loss_scaler_read(context.as_ptr(), self.as_ptr(), &mut info) })?;
        let sys::lpt_loss_scaler_info { scale, finite_count, skipped_count, is_skipped, .. } = info;
        Ok(LossScalerInfo { scale, finite_count, skipped_count, is_skipped: is_skipped != 0 })
    }

    /// Saves the state as bytes.
    pub fn state_save(&self, context: &Context) -> Result<Vec<u8>> {
        let mut bytes = 0;
        context.check(unsafe { sys::lpt_loss_scaler_state_size(context.as_ptr(), self.as_ptr(), &mut bytes) })?;
        let mut state = vec![0u8; bytes];
        context.check(unsafe {
            sys::lpt_loss_scaler_state_save(context.as_ptr(), self.as_ptr(), state.as_mut_ptr().cast(), bytes)
        })?;
        Ok(state)
    }

    /// Restores the state from saved bytes.
    pub fn state_load(&mut self, context: &Context, state: &[u8]) -> Result<()> {
        context.check(unsafe {
            sys::lpt_loss_scaler_state_load(context.as_ptr(), self.as_ptr(), state.as_ptr().cast(), state.len())
        })
    }
}

fn text_of(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid("name has a zero byte: expected a name".into()))
}

impl Optimizer {
    /// Creates an optimizer without parameters.
    pub fn new(context: &Context, options: &OptimizerOptions) -> Result<Optimizer> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_optimizer_create(context.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Optimizer::from_raw(raw))
    }

    /// Adds a parameter with zero moments, and returns its index: 0, 1, 2, …
    pub fn add(&mut self, context: &Context, parameter: &OptimizerParameter) -> Result<i64> {
        self.add_raw(context, null(), parameter)
    }

    /// Adds a parameter as [`Optimizer::add`] does, with a name that saved states contain.
    pub fn add_named(&mut self, context: &Context, name: &str, parameter: &OptimizerParameter) -> Result<i64> {
        let name = text_of(name)?;
        self.add_raw(context, name.as_ptr(), parameter)
    }

    fn add_raw(&mut self, context: &Context, name: *const c_char, parameter: &OptimizerParameter) -> Result<i64> {
        let mut index = -1;
        context.check(unsafe {
            sys::lpt_optimizer_add(context.as_ptr(), self.as_ptr(), name, &parameter.raw, &mut index)
        })?;
        Ok(index)
    }

    /// Returns the index of the parameter with this name.
    pub fn find(&self, context: &Context, name: &str) -> Result<i64> {
        let (name, mut index) = (text_of(name)?, -1);
        context.check(unsafe {
            sys::lpt_optimizer_find(context.as_ptr(), self.as_ptr(), name.as_ptr(), &mut index)
        })?;
        Ok(index)
    }

    /// Steps parameters; clipping and skipping apply to all of them together.
    pub fn step(
        &mut self,
        context: &Context,
        indices: &[i64],
        gradients: &[&Tensor],
        parameters: &mut [&mut Tensor],
        options: &OptimizerStepOptions,
    ) -> Result<()> {
        let (gradients, parameters) = raw_operands(indices, gradients, parameters)?;
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

    /// Adds this rank's shards of full parameters. All ranks add the same parameters and get the same indices.
    pub fn add_shards(
        &mut self,
        context: &Context,
        comm: &Comm,
        parameters: &[OptimizerParameter],
    ) -> Result<Vec<i64>> {
        let parameters: Vec<*const sys::lpt_optimizer_parameter> = parameters.iter().map(|one| &one.raw as _).collect();
        let (mut indices, count) = (vec![-1; parameters.len()], parameters.len() as i64);
        context.check(unsafe {
            let (raw, comm, given) = (self.as_ptr(), comm.as_ptr(), parameters.as_ptr());
            sys::lpt_optimizer_add_shards(context.as_ptr(), comm, raw, null(), given, count, indices.as_mut_ptr())
        })?;
        Ok(indices)
    }

    /// Steps full parameters whose state is sharded over ranks; all ranks call it.
    ///
    /// `reduce` None: gradients are the same on all ranks (ZeRO 1). Otherwise the step reduces them with these options
    /// (ZeRO 2).
    #[allow(clippy::too_many_arguments)] // the arguments of the C function
    pub fn step_shards(
        &mut self,
        context: &Context,
        comm: &mut Comm,
        indices: &[i64],
        gradients: &[&Tensor],
        parameters: &mut [&mut Tensor],
        options: &OptimizerStepOptions,
        reduce: Option<&ReduceOptions>,
    ) -> Result<()> {
        let (gradients, parameters) = raw_operands(indices, gradients, parameters)?;
        let shards =
            sys::lpt_optimizer_shard_options { reduce: reduce.map_or(null(), |one| &one.raw), ..Default::default() };
        let result = context.check(unsafe {
            sys::lpt_optimizer_step_shards(
                context.as_ptr(),
                comm.as_ptr(),
                self.as_ptr(),
                indices.as_ptr(),
                indices.len() as i64,
                gradients.as_ptr(),
                &options.raw,
                &shards,
                parameters.as_ptr(),
            )
        });
        match reduce.and_then(ReduceOptions::codec_state) {
            Some(codec) => codec.with_panic(result),
            None => result,
        }
    }

    /// Saves the state of one parameter as bytes.
    pub fn state_save(&self, context: &Context, index: i64) -> Result<Vec<u8>> {
        let mut bytes = 0;
        context.check(unsafe { sys::lpt_optimizer_state_size(context.as_ptr(), self.as_ptr(), index, &mut bytes) })?;
        let mut state = vec![0u8; bytes];
        context.check(unsafe {
            sys::lpt_optimizer_state_save(context.as_ptr(), self.as_ptr(), index, state.as_mut_ptr().cast(), bytes)
        })?;
        Ok(state)
    }

    /// Restores the state of one parameter from saved bytes.
    pub fn state_load(&mut self, context: &Context, index: i64, state: &[u8]) -> Result<()> {
        context.check(unsafe {
            sys::lpt_optimizer_state_load(context.as_ptr(), self.as_ptr(), index, state.as_ptr().cast(), state.len())
        })
    }

    /// Restores the state of one parameter or shard from saved shards with other cuts, in any order.
    pub fn state_load_many(&mut self, context: &Context, index: i64, states: &[&[u8]]) -> Result<()> {
        let buffers: Vec<*const c_void> = states.iter().map(|state| state.as_ptr().cast()).collect();
        let sizes: Vec<usize> = states.iter().map(|state| state.len()).collect();
        context.check(unsafe {
            let (raw, count) = (self.as_ptr(), states.len() as i64);
            sys::lpt_optimizer_state_load_many(context.as_ptr(), raw, index, buffers.as_ptr(), sizes.as_ptr(), count)
        })
    }
}

type RawOperands = (Vec<*const sys::lpt_tensor>, Vec<*mut sys::lpt_tensor>);

fn raw_operands(indices: &[i64], gradients: &[&Tensor], parameters: &mut [&mut Tensor]) -> Result<RawOperands> {
    if gradients.len() != indices.len() || parameters.len() != indices.len() {
        let (gradients, parameters, indices) = (gradients.len(), parameters.len(), indices.len());
        return Err(Error::invalid(format!(
            "gradients has {gradients} elements, parameters has {parameters}: expected as many as indices, {indices}"
        )));
    }
    let gradients = gradients.iter().map(|one| one.as_ptr() as *const _).collect();
    Ok((gradients, parameters.iter().map(|one| one.as_ptr()).collect()))
}
