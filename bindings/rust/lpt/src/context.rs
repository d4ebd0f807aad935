use crate::callbacks::{self, Fixed, Log, Progress};
use crate::{
    ContextOptions, Error, GemmOptions, LogLevel, QuantizeOptions, Result, SparseDirection, SparseOptions, Tensor,
    WeightsOptions,
};
use lpt_sys as sys;
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::ptr::{null, null_mut, NonNull};

/// Runs operations: holds threads, memory, error text and the choice of kernels. Handles may outlive the context.
pub struct Context {
    raw: NonNull<sys::lpt_context>,
    log: Option<Fixed<Log>>,
    progress: Option<Fixed<Progress>>,
}

// A context and its callbacks may move to another thread. It is not Sync, because it runs one call at a time.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::lpt_context_destroy(self.raw.as_ptr()) }
    }
}

impl Context {
    /// Creates a context with the default options.
    pub fn new() -> Result<Context> {
        Context::with_options(&ContextOptions::default())
    }

    /// Creates a context with options.
    pub fn with_options(options: &ContextOptions) -> Result<Context> {
        let mut text = [0u8; 256];
        let mut raw_options = options.raw;
        raw_options.error_text = text.as_mut_ptr().cast();
        raw_options.error_text_bytes = text.len();
        let mut raw = null_mut();
        match unsafe { sys::lpt_context_create(&raw_options, &mut raw) } {
            sys::LPT_OK => {
                let raw = NonNull::new(raw).expect("the library returns handles that are not NULL");
                Ok(Context { raw, log: None, progress: None })
            }
            status => {
                let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
                Err(Error::new(status, String::from_utf8_lossy(&text[..end]).into_owned()))
            }
        }
    }

    /// Returns the handle, for functions of `lpt_sys`.
    ///
    /// # Panics
    /// In a callback on this thread, because the context is in use.
    pub fn as_ptr(&self) -> *mut sys::lpt_context {
        assert!(!callbacks::is_inside(), "a callback must not use a context");
        self.raw.as_ptr()
    }

    /// Converts the status of the last call to a result.
    ///
    /// An error has the text of the library. If a callback panicked in the call, the result is an error with its text.
    pub fn check(&self, status: sys::lpt_status) -> Result<()> {
        match (status, callbacks::take_panic()) {
            (sys::LPT_OK, None) => Ok(()),
            (sys::LPT_OK, Some(panic)) => Err(Error::new(sys::LPT_INTERNAL, panic)),
            (status, panic) => {
                let text = unsafe { CStr::from_ptr(sys::lpt_context_error(self.raw.as_ptr())) }.to_string_lossy();
                let text = panic.map_or_else(|| text.to_string(), |panic| format!("{text}; {panic}"));
                Err(Error::new(status, text))
            }
        }
    }

    /// Sets the log function, which receives lines up to a level on the calling thread.
    ///
    /// If `log` panics, the operation completes, and then fails with `INTERNAL`.
    pub fn set_log(&mut self, level: LogLevel, log: impl Fn(LogLevel, &str) + Send + 'static) -> Result<()> {
        let log: Fixed<Log> = Fixed::new(Box::new(log));
        let (raw, user) = (self.as_ptr(), log.as_ptr());
        let status = unsafe { sys::lpt_context_set_log(raw, level.0, Some(callbacks::log), user) };
        if status == sys::LPT_OK {
            self.log = Some(log);
        }
        self.check(status)
    }

    /// Removes the log function.
    pub fn clear_log(&mut self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_set_log(self.as_ptr(), sys::LPT_LOG_LEVEL_NONE, None, null_mut()) })?;
        self.log = None;
        Ok(())
    }

    /// Sets the progress function, which casts and GEMMs call on the calling thread.
    ///
    /// It receives the completed and the total number of elements. If it returns `Break` or panics, the call fails with
    /// `CANCELLED`, and outputs are incomplete.
    pub fn set_progress(&mut self, progress: impl Fn(i64, i64) -> ControlFlow<()> + Send + 'static) -> Result<()> {
        let progress: Fixed<Progress> = Fixed::new(Box::new(progress));
        let (raw, user) = (self.as_ptr(), progress.as_ptr());
        let status = unsafe { sys::lpt_context_set_progress(raw, Some(callbacks::progress), user) };
        if status == sys::LPT_OK {
            self.progress = Some(progress);
        }
        self.check(status)
    }

    /// Removes the progress function.
    pub fn clear_progress(&mut self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_set_progress(self.as_ptr(), None, null_mut()) })?;
        self.progress = None;
        Ok(())
    }

    /// Returns the kernel of the last operation, and the reason why each faster kernel was not used.
    pub fn explanation(&self) -> String {
        let text = unsafe { CStr::from_ptr(sys::lpt_context_explanation(self.as_ptr())) };
        text.to_string_lossy().into_owned()
    }

    /// Casts a tensor to the format of `quantized`, and computes its scales.
    pub fn quantize(&self, source: &Tensor, quantized: &mut Tensor, options: &QuantizeOptions) -> Result<()> {
        self.check(unsafe {
            sys::lpt_quantize(self.as_ptr(), source.as_ptr(), &options.raw, quantized.as_ptr(), null_mut())
        })
    }

    /// Casts a matrix and its transpose in one pass; `transposed` has the transposed shape.
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

    /// Decodes a tensor to the format of `output`: f64, f32, bf16 or f16.
    pub fn dequantize(&self, source: &Tensor, output: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_dequantize(self.as_ptr(), source.as_ptr(), null(), output.as_ptr()) })
    }

    /// Computes c = alpha · a · b + beta · c, with the bias, activation and residual of the options.
    pub fn gemm(&self, a: &Tensor, b: &Tensor, c: &mut Tensor, options: &GemmOptions) -> Result<()> {
        self.check(unsafe { sys::lpt_gemm(self.as_ptr(), a.as_ptr(), b.as_ptr(), &options.raw, c.as_ptr()) })
    }

    /// Packs weights (n × k) for GEMM, as a transposed b.
    pub fn weights_pack(&self, weights: &Tensor, options: &WeightsOptions) -> Result<Tensor<'static>> {
        let mut raw = null_mut();
        self.check(unsafe { sys::lpt_weights_pack(self.as_ptr(), weights.as_ptr(), &options.raw, &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }

    /// Converts packed weights to a matrix in the original order.
    pub fn weights_unpack(&self, packed: &Tensor, weights: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_weights_unpack(self.as_ptr(), packed.as_ptr(), weights.as_ptr()) })
    }

    /// Saves packed weights as bytes, which every later release can load.
    pub fn weights_state_save(&self, packed: &Tensor) -> Result<Vec<u8>> {
        let mut bytes = 0;
        self.check(unsafe { sys::lpt_weights_state_size(self.as_ptr(), packed.as_ptr(), &mut bytes) })?;
        let mut state = vec![0u8; bytes];
        let buffer = state.as_mut_ptr().cast();
        self.check(unsafe { sys::lpt_weights_state_save(self.as_ptr(), packed.as_ptr(), buffer, bytes) })?;
        Ok(state)
    }

    /// Loads packed weights from bytes of [`weights_state_save`](Self::weights_state_save).
    pub fn weights_state_load(&self, state: &[u8]) -> Result<Tensor<'static>> {
        let mut raw = null_mut();
        let buffer = state.as_ptr().cast();
        self.check(unsafe { sys::lpt_weights_state_load(self.as_ptr(), buffer, state.len(), &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }

    /// Selects N of every M elements: `mask`, uint8, is 1 for kept elements. Returns statistics of the selection.
    pub fn sparse_mask_select(
        &self,
        source: &Tensor,
        mask: &mut Tensor,
        options: &SparseOptions,
    ) -> Result<sys::lpt_sparse_info> {
        let mut values = sys::lpt_sparse_info::default();
        self.check(unsafe {
            let raw = &options.raw;
            sys::lpt_sparse_mask_select(self.as_ptr(), source.as_ptr(), raw, mask.as_ptr(), null_mut(), &mut values)
        })?;
        Ok(values)
    }

    /// Counts the groups of `of` elements that keep more than `kept`.
    pub fn sparse_mask_check(&self, mask: &Tensor, kept: i32, of: i32, direction: SparseDirection) -> Result<i64> {
        let mut count = 0;
        self.check(unsafe {
            sys::lpt_sparse_mask_check(self.as_ptr(), mask.as_ptr(), kept, of, direction.0, &mut count)
        })?;
        Ok(count)
    }
}
