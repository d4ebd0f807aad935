use crate::handle::handle;
use crate::{
    ContextOptions, Error, GemmOptions, QuantizeOptions, Result, SparseDirection, SparseOptions, Tensor, WeightsOptions,
};
use lpt_sys as sys;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

handle! {
    /// The worker: error text, threads, memory, choice of kernels. Handles may outlive it.
    Context, lpt_context, lpt_context_destroy
}

// It may be handed to another thread, and is no Sync: it serves one at a time.
unsafe impl Send for Context {}

impl Context {
    /// A context with the library's defaults.
    pub fn new() -> Result<Context> {
        Context::with_options(&ContextOptions::default())
    }

    /// A context as the options say.
    pub fn with_options(options: &ContextOptions) -> Result<Context> {
        let mut text = [0u8; 256];
        let mut raw_options = options.raw;
        raw_options.error_text = text.as_mut_ptr().cast();
        raw_options.error_text_bytes = text.len();
        let mut raw = null_mut();
        match unsafe { sys::lpt_context_create(&raw_options, &mut raw) } {
            sys::LPT_OK => Ok(Context::from_raw(raw)),
            status => {
                let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
                Err(Error::new(status, String::from_utf8_lossy(&text[..end]).into_owned()))
            }
        }
    }

    /// Fails with the text of the last call, unless it came to `LPT_OK`.
    pub fn check(&self, status: sys::lpt_status) -> Result<()> {
        if status == sys::LPT_OK {
            return Ok(());
        }
        let text = unsafe { CStr::from_ptr(sys::lpt_context_error(self.as_ptr())) };
        Err(Error::new(status, text.to_string_lossy().into_owned()))
    }

    /// Which kernel the last operation took, and why each faster one was passed over.
    pub fn explanation(&self) -> String {
        let text = unsafe { CStr::from_ptr(sys::lpt_context_explanation(self.as_ptr())) };
        text.to_string_lossy().into_owned()
    }

    /// Casts numbers to the format of `quantized`.
    pub fn quantize(&self, source: &Tensor, quantized: &mut Tensor, options: &QuantizeOptions) -> Result<()> {
        self.check(unsafe {
            sys::lpt_quantize(self.as_ptr(), source.as_ptr(), &options.raw, quantized.as_ptr(), null_mut())
        })
    }

    /// Casts both ways from one read; `transposed` has the transposed shape.
    pub fn quantize_both(
        &self,
        source: &Tensor,
        quantized: &mut Tensor,
        transposed: &mut Tensor,
        options: &QuantizeOptions,
    ) -> Result<()> {
        self.check(unsafe {
            sys::lpt_quantize(self.as_ptr(), source.as_ptr(), &options.raw, quantized.as_ptr(), transposed.as_ptr())
        })
    }

    /// Writes a tensor's numbers out.
    pub fn dequantize(&self, source: &Tensor, output: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_dequantize(self.as_ptr(), source.as_ptr(), null(), output.as_ptr()) })
    }

    /// c = alpha · a · b + beta · c, and what else the options say.
    pub fn gemm(&self, a: &Tensor, b: &Tensor, c: &mut Tensor, options: &GemmOptions) -> Result<()> {
        self.check(unsafe { sys::lpt_gemm(self.as_ptr(), a.as_ptr(), b.as_ptr(), &options.raw, c.as_ptr()) })
    }

    /// Lays out weights for products: as b, transposed.
    pub fn weights_pack(&self, weights: &Tensor, options: &WeightsOptions) -> Result<Tensor<'static>> {
        let mut raw = null_mut();
        self.check(unsafe { sys::lpt_weights_pack(self.as_ptr(), weights.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }

    /// Writes packed weights back in their order.
    pub fn weights_unpack(&self, packed: &Tensor, weights: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_weights_unpack(self.as_ptr(), packed.as_ptr(), weights.as_ptr()) })
    }

    /// Packed weights as bytes for a file.
    pub fn weights_state_save(&self, packed: &Tensor) -> Result<Vec<u8>> {
        let mut bytes = 0;
        self.check(unsafe { sys::lpt_weights_state_size(self.as_ptr(), packed.as_ptr(), &mut bytes) })?;
        let mut state = vec![0u8; bytes];
        let buffer = state.as_mut_ptr().cast();
        self.check(unsafe { sys::lpt_weights_state_save(self.as_ptr(), packed.as_ptr(), buffer, bytes) })?;
        Ok(state)
    }

    /// Packed weights of such bytes.
    pub fn weights_state_load(&self, state: &[u8]) -> Result<Tensor<'static>> {
        let mut raw = null_mut();
        let buffer = state.as_ptr().cast();
        self.check(unsafe { sys::lpt_weights_state_load(self.as_ptr(), buffer, state.len(), &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }

    /// Selects N of every M numbers: `mask`, uint8, is 1 where one stays. Returns what it did.
    pub fn sparse_mask_select(
        &self,
        source: &Tensor,
        mask: &mut Tensor,
        options: &SparseOptions,
    ) -> Result<sys::lpt_sparse_values> {
        let mut values = sys::lpt_sparse_values::default();
        self.check(unsafe {
            let raw = &options.raw;
            sys::lpt_sparse_mask_select(self.as_ptr(), source.as_ptr(), raw, mask.as_ptr(), null_mut(), &mut values)
        })?;
        Ok(values)
    }

    /// Counts the groups that keep more than `kept` of `of`.
    pub fn sparse_mask_check(&self, mask: &Tensor, kept: i32, of: i32, direction: SparseDirection) -> Result<i64> {
        let mut count = 0;
        self.check(unsafe {
            sys::lpt_sparse_mask_check(self.as_ptr(), mask.as_ptr(), kept, of, direction.0, &mut count)
        })?;
        Ok(count)
    }
}
