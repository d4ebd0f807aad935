use crate::callbacks::guarded;
use crate::{Error, ReduceOptions, Result};
use lpt_sys as sys;
use std::collections::HashMap;
use std::num::NonZeroI32;
use std::os::raw::{c_char, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Encoding of a [`Codec`]. Threads of a context call the functions at the same time.
///
/// All ranks get the same bits if equal bytes decode to equal numbers. If a function returns an error or panics, the
/// reduction fails with `ABORTED`. Its text contains the function, the number of the error and the text of the panic.
pub trait Compression: Send + Sync {
    /// Returns the number of bytes that encode `count` elements, the same on all ranks; called once for each count.
    fn bytes_for(&self, count: usize) -> usize;
    /// Encodes `numbers` and writes all of `bytes`, whose initial content is unspecified.
    fn encode(&self, numbers: &[f32], bytes: &mut [u8]) -> std::result::Result<(), NonZeroI32>;
    /// Decodes `bytes` and writes all of `numbers`, whose initial content is unspecified.
    fn decode(&self, bytes: &[u8], numbers: &mut [f32]) -> std::result::Result<(), NonZeroI32>;
}

/// A named compression for the messages of reductions. All ranks use the same codec.
pub struct Codec {
    pub(crate) raw: sys::lpt_comm_codec,
    state: Arc<State>,
}

// The C functions access the state by a pointer; Compression is Send and Sync.
unsafe impl Send for Codec {}
unsafe impl Sync for Codec {}

pub(crate) struct State {
    compression: Box<dyn Compression>,
    // The first size for each count is kept, because it determines the sizes of slices.
    sizes: Mutex<HashMap<i64, i64>>,
    panic: Mutex<Option<String>>,
}

impl Codec {
    /// Creates a codec with a name of 1 to 12 bytes of ASCII.
    pub fn new(name: &str, compression: impl Compression + 'static) -> Result<Codec> {
        if !(1..=12).contains(&name.len()) || !name.is_ascii() || name.contains('\0') {
            return Err(Error::invalid(format!("name is \"{name}\": expected 1 to 12 bytes of ASCII")));
        }
        let (sizes, panic) = (Mutex::default(), Mutex::default());
        let state = Arc::new(State { compression: Box::new(compression), sizes, panic });
        let mut raw = sys::lpt_comm_codec::default();
        for (target, byte) in raw.name.iter_mut().zip(name.bytes()) {
            *target = byte as c_char;
        }
        raw.bytes_for = Some(bytes_for);
        raw.encode = Some(encode);
        raw.decode = Some(decode);
        raw.user = Arc::as_ptr(&state) as *mut c_void;
        Ok(Codec { raw, state })
    }

    /// Appends the text of a panic to an error.
    pub(crate) fn with_panic<T>(&self, result: Result<T>) -> Result<T> {
        self.state.with_panic(result)
    }
}

impl<'a> ReduceOptions<'a> {
    /// Sets the codec of the messages.
    pub fn codec(mut self, codec: &'a Codec) -> Self {
        self.raw.codec = &codec.raw;
        self
    }

    /// Returns the state of the codec, which must outlive a reduction in the background.
    pub(crate) fn codec_state(&self) -> Option<Arc<State>> {
        // The options borrow the Codec, and `user` is the pointer of its Arc.
        let user = unsafe { self.raw.codec.as_ref() }?.user as *const State;
        unsafe {
            Arc::increment_strong_count(user);
            Some(Arc::from_raw(user))
        }
    }
}

impl State {
    pub(crate) fn with_panic<T>(&self, result: Result<T>) -> Result<T> {
        let panic = lock(&self.panic).take();
        result.map_err(|error| match panic {
            Some(panic) => Error { text: format!("{}; {panic}", error.text), ..error },
            None => error,
        })
    }

    fn size_for(&self, count: i64) -> i64 {
        match guarded(|| self.compression.bytes_for(count as usize)) {
            Ok(bytes) => i64::try_from(bytes).unwrap_or(-1),
            Err(panic) => self.note("bytes_for", panic),
        }
    }

    fn note(&self, function: &str, panic: String) -> i64 {
        lock(&self.panic).get_or_insert(format!("{function} panicked: {panic}"));
        -1
    }

    fn status_of(&self, function: &str, result: std::result::Result<CodecResult, String>) -> i32 {
        match result {
            Ok(Ok(())) => 0,
            Ok(Err(number)) => number.get(),
            Err(panic) => self.note(function, panic) as i32,
        }
    }

    /// Returns the bytes of a count; the library calls bytes_for() before encode() and decode().
    fn size(&self, count: i64) -> usize {
        lock(&self.sizes).get(&count).map_or(0, |&bytes| bytes as usize)
    }
}

type CodecResult = std::result::Result<(), NonZeroI32>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn bytes_for(user: *mut c_void, count: i64) -> i64 {
    let state = unsafe { &*user.cast::<State>() };
    if let Some(&bytes) = lock(&state.sizes).get(&count) {
        return bytes;
    }
    let bytes = state.size_for(count);
    // Only sizes are kept, no failures.
    if bytes < 0 {
        return bytes;
    }
    *lock(&state.sizes).entry(count).or_insert(bytes)
}

unsafe extern "C" fn encode(user: *mut c_void, numbers: *const f32, count: i64, bytes: *mut c_void) -> i32 {
    let state = unsafe { &*user.cast::<State>() };
    let size = state.size(count);
    // The library keeps both arrays valid during the call. Even an empty slice must not have a null pointer.
    let numbers = unsafe { from_raw_parts(numbers, count as usize) };
    let bytes = if size == 0 { &mut [] } else { unsafe { from_raw_parts_mut(bytes.cast::<u8>(), size) } };
    state.status_of("encode", guarded(|| state.compression.encode(numbers, bytes)))
}

unsafe extern "C" fn decode(user: *mut c_void, bytes: *const c_void, count: i64, numbers: *mut f32) -> i32 {
    let state = unsafe { &*user.cast::<State>() };
    let size = state.size(count);
    let bytes = if size == 0 { &[] } else { unsafe { from_raw_parts(bytes.cast::<u8>(), size) } };
    let numbers = unsafe { from_raw_parts_mut(numbers, count as usize) };
    state.status_of("decode", guarded(|| state.compression.decode(bytes, numbers)))
}
