use crate::handle::handle;
use crate::{Context, Error, Format, LinearCast, LinearOptions, QuantizeOptions, Result, Tensor};
use lpt_sys as sys;
use std::ffi::CString;
use std::ptr::null_mut;

handle! {
    /// How a linear layer casts the operands of its three GEMMs, and runs these.
    Recipe, lpt_recipe, lpt_recipe_destroy
}
unsafe impl Send for Recipe {}
unsafe impl Sync for Recipe {}

handle! {
    /// A linear layer: its recipe, its scalers, and the casts of its weight. It does not own the weight.
    Linear, lpt_linear, lpt_linear_destroy
}
unsafe impl Send for Linear {}
unsafe impl Sync for Linear {}

impl Recipe {
    /// Creates a recipe by name, such as "mxfp8".
    pub fn new(context: &Context, name: &str) -> Result<Recipe> {
        let text = CString::new(name).map_err(|_| Error::invalid("name has a zero byte: expected a recipe".into()))?;
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_recipe_create(context.as_ptr(), text.as_ptr(), &mut raw) })?;
        Ok(Recipe::from_raw(raw))
    }

    /// Changes one cast. The library rejects options with handles.
    pub fn set_cast(
        &mut self,
        context: &Context,
        cast: LinearCast,
        format: Format,
        options: &QuantizeOptions,
    ) -> Result<()> {
        context
            .check(unsafe { sys::lpt_recipe_set_cast(context.as_ptr(), self.as_ptr(), cast.0, format.0, &options.raw) })
    }
}

impl Linear {
    /// Creates a layer with a copy of a recipe.
    pub fn new(context: &Context, recipe: &Recipe, input_columns: i64, output_columns: i64) -> Result<Linear> {
        let shape = sys::lpt_linear_shape { input_columns, output_columns, ..Default::default() };
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_linear_create(context.as_ptr(), recipe.as_ptr(), &shape, &mut raw) })?;
        Ok(Linear::from_raw(raw))
    }

    /// Casts the weight; call it after every change of the weight.
    pub fn prepare(&mut self, context: &Context, weight: &Tensor, options: &LinearOptions) -> Result<()> {
        context
            .check(unsafe { sys::lpt_linear_prepare(context.as_ptr(), self.as_ptr(), weight.as_ptr(), &options.raw) })
    }

    /// Creates a vector for the data that forward saves of `rows` rows; each micro-batch in flight requires one.
    pub fn new_saved(&self, context: &Context, rows: i64) -> Result<Tensor<'static>> {
        let mut bytes = 0;
        context.check(unsafe { sys::lpt_linear_saved_size(context.as_ptr(), self.as_ptr(), rows, &mut bytes) })?;
        Tensor::new(context, Format::UINT8, &[bytes as i64])
    }

    /// Computes y = x · wᵀ + bias, and saves the data that backward needs; `saved` None: inference.
    pub fn forward(
        &mut self,
        context: &Context,
        input: &Tensor,
        saved: Option<&mut Tensor>,
        output: &mut Tensor,
        options: &LinearOptions,
    ) -> Result<()> {
        context.check(unsafe {
            let (raw, saved) = (self.as_ptr(), raw_or_null(saved));
            sys::lpt_linear_forward(context.as_ptr(), raw, input.as_ptr(), &options.raw, saved, output.as_ptr())
        })
    }

    /// Computes the gradients of input, weight and bias that are not `None`.
    pub fn backward(
        &mut self,
        context: &Context,
        saved: &Tensor,
        output_gradient: &Tensor,
        gradients: [Option<&mut Tensor>; 3],
        options: &LinearOptions,
    ) -> Result<()> {
        let [input, weight, bias] = gradients.map(raw_or_null);
        context.check(unsafe {
            let (raw, options) = (self.as_ptr(), &options.raw);
            let given = output_gradient.as_ptr();
            sys::lpt_linear_backward(context.as_ptr(), raw, saved.as_ptr(), given, options, input, weight, bias)
        })
    }

    /// Completes an optimizer step for the scalers of the layer.
    pub fn update(&mut self, context: &Context) -> Result<()> {
        let raw = self.as_ptr();
        context.check(unsafe { sys::lpt_linear_update_scalers(context.as_ptr(), &raw, 1) })
    }
}

fn raw_or_null(tensor: Option<&mut Tensor>) -> *mut sys::lpt_tensor {
    tensor.map_or(null_mut(), |tensor| tensor.as_ptr())
}
