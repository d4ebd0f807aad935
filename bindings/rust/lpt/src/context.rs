use crate::callbacks::{self, Fixed, Log, Progress};
use crate::{
    ContextOptions, Error, GemmOptions, LogLevel, QuantizeOptions, Result, SparseDirection, SparseOptions, Tensor,
    WeightsOptions,
};
use lpt_sys as sys;
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::ptr::{null, null_mut, NonNull};

/// The worker: error text, threads, memory, choice of kernels. Handles may outlive it.
pub struct Context {
    raw: NonNull<sys::lpt_context>,
    log: Option<Fixed<Log>>,
    progress: Option<Fixed<Progress>>,
}

// It may be handed to another thread, and its callbacks with it; it is no Sync: it serves one at a time.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::lpt_context_destroy(self.raw.as_ptr()) }
    }
}

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

    /// The handle, for functions of `lpt_sys`.
    ///
    /// # Panics
    /// In a function that the library calls on this thread: it serves that call already.
    pub fn as_ptr(&self) -> *mut sys::lpt_context {
        assert!(!callbacks::is_inside(), "a function that LPT calls may not use a context");
        self.raw.as_ptr()
    }

    /// Fails with the text of the last call, unless it came to `LPT_OK`; and where a function that it called panicked.
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

    /// Has lines up to a level logged, on the thread that calls. Where `log` panics, the call does its work and fails with `INTERNAL`.
    pub fn set_log(&mut self, level: LogLevel, log: impl Fn(LogLevel, &str) + Send + 'static) -> Result<()> {
        let log: Fixed<Log> = Fixed::new(Box::new(log));
        let (raw, user) = (self.as_ptr(), log.as_ptr());
        let status = unsafe { sys::lpt_context_set_log(raw, level.0, Some(callbacks::log), user) };
        if status == sys::LPT_OK {
            self.log = Some(log);
        }
        self.check(status)
    }

    /// Logs no more.
    pub fn clear_log(&mut self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_set_log(self.as_ptr(), sys::LPT_LOG_LEVEL_NONE, None, null_mut()) })?;
        self.log = None;
        Ok(())
    }

    /// Has casts and products tell elements done and elements in all, on the thread that calls. One that is broken off, or whose
    /// `progress` panics, fails with `CANCELLED` and leaves outputs written in part.
    pub fn set_progress(&mut self, progress: impl Fn(i64, i64) -> ControlFlow<()> + Send + 'static) -> Result<()> {
        let progress: Fixed<Progress> = Fixed::new(Box::new(progress));
        let (raw, user) = (self.as_ptr(), progress.as_ptr());
        let status = unsafe { sys::lpt_context_set_progress(raw, Some(callbacks::progress), user) };
        if status == sys::LPT_OK {
            self.progress = Some(progress);
        }
        self.check(status)
    }

    /// Tells of no progress any more.
    pub fn clear_progress(&mut self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_set_progress(self.as_ptr(), None, null_mut()) })?;
        self.progress = None;
        Ok(())
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
    ) -> Result<sys::lpt_sparse_info> {
        let mut values = sys::lpt_sparse_info::default();
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
