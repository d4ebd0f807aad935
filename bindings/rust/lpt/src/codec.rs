use crate::callbacks::guarded;
use crate::{Error, ReduceOptions, Result};
use lpt_sys as sys;
use std::collections::HashMap;
use std::num::NonZeroI32;
use std::os::raw::{c_char, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How a [`Codec`] turns numbers into bytes and back. Threads of a context call it at the same time.
///
/// All ranks end with the same bits if equal bytes decode to equal numbers. An error's number, or a panic, ends the reduction with
/// `ABORTED`: the text names function and number, and what panicked.
pub trait Compression: Send + Sync {
    /// Bytes of `count` numbers: the same on all ranks. It is asked once for each count.
    fn bytes_for(&self, count: usize) -> usize;
    /// Writes all of the bytes; what they held before is of no meaning.
    fn encode(&self, numbers: &[f32], bytes: &mut [u8]) -> std::result::Result<(), NonZeroI32>;
    /// Writes all of the numbers; what they held before is of no meaning.
    fn decode(&self, bytes: &[u8], numbers: &mut [f32]) -> std::result::Result<(), NonZeroI32>;
}

/// A compression under a name, in which the numbers of reductions travel. The same on all ranks.
pub struct Codec {
    pub(crate) raw: sys::lpt_comm_codec,
    state: Arc<State>,
}

// The functions take it by a pointer, and share it as a Compression says.
unsafe impl Send for Codec {}
unsafe impl Sync for Codec {}

pub(crate) struct State {
    compression: Box<dyn Compression>,
    // The first size holds: slices are made by it.
    sizes: Mutex<HashMap<i64, i64>>,
    panic: Mutex<Option<String>>,
}

impl Codec {
    /// A codec by the name of 1 to 12 bytes of ASCII.
    pub fn new(name: &str, compression: impl Compression + 'static) -> Result<Codec> {
        if !(1..=12).contains(&name.len()) || !name.is_ascii() || name.contains('\0') {
            return Err(Error::invalid(format!("name is \"{name}\": expected 1 to 12 bytes of ASCII")));
        }
        let (sizes, panic) = (Mutex::default(), Mutex::default());
        let state = Arc::new(State { compression: Box::new(compression), sizes, panic });
        let mut raw = sys::lpt_comm_codec::default();
        for (place, byte) in raw.name.iter_mut().zip(name.bytes()) {
            *place = byte as c_char;
        }
        raw.bytes_for = Some(bytes_for);
        raw.encode = Some(encode);
        raw.decode = Some(decode);
        raw.user = Arc::as_ptr(&state) as *mut c_void;
        Ok(Codec { raw, state })
    }

    /// Adds to an error what panicked meanwhile.
    pub(crate) fn with_panic<T>(&self, result: Result<T>) -> Result<T> {
        self.state.with_panic(result)
    }
}

impl<'a> ReduceOptions<'a> {
    /// Numbers travel by this codec.
    pub fn codec(mut self, codec: &'a Codec) -> Self {
        self.raw.codec = &codec.raw;
        self
    }

    /// The codec's state, which has to outlive a reduction behind the caller's back.
    pub(crate) fn codec_state(&self) -> Option<Arc<State>> {
        // The pointer is of a Codec that is borrowed as long as these options, and its user of an Arc.
        let user = unsafe { self.raw.codec.as_ref() }?.user as *const State;
        unsafe {
            Arc::increment_strong_count(user);
            Some(Arc::from_raw(user))
        }
    }
}

impl State {
    pub(crate) fn with_panic<T>(&self, result: Result<T>) -> Result<T> {
        let panic = held(&self.panic).take();
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
        held(&self.panic).get_or_insert(format!("{function} panicked: {panic}"));
        -1
    }

    fn answer(&self, function: &str, outcome: std::result::Result<Outcome, String>) -> i32 {
        match outcome {
            Ok(Ok(())) => 0,
            Ok(Err(number)) => number.get(),
            Err(panic) => self.note(function, panic) as i32,
        }
    }

    /// Bytes of a count that was asked for: the library does so before it encodes or decodes.
    fn size(&self, count: i64) -> usize {
        held(&self.sizes).get(&count).map_or(0, |&bytes| bytes as usize)
    }
}

type Outcome = std::result::Result<(), NonZeroI32>;

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn bytes_for(user: *mut c_void, count: i64) -> i64 {
    let state = unsafe { &*user.cast::<State>() };
    if let Some(&bytes) = held(&state.sizes).get(&count) {
        return bytes;
    }
    let bytes = state.size_for(count);
    // A failure is not kept: it is no size.
    if bytes < 0 {
        return bytes;
    }
    *held(&state.sizes).entry(count).or_insert(bytes)
}

unsafe extern "C" fn encode(user: *mut c_void, numbers: *const f32, count: i64, bytes: *mut c_void) -> i32 {
    let state = unsafe { &*user.cast::<State>() };
    let size = state.size(count);
    // Both are the library's for the call; a slice may not be of NULL, not even an empty one.
    let numbers = unsafe { from_raw_parts(numbers, count as usize) };
    let bytes = if size == 0 { &mut [] } else { unsafe { from_raw_parts_mut(bytes.cast::<u8>(), size) } };
    state.answer("encode", guarded(|| state.compression.encode(numbers, bytes)))
}

unsafe extern "C" fn decode(user: *mut c_void, bytes: *const c_void, count: i64, numbers: *mut f32) -> i32 {
    let state = unsafe { &*user.cast::<State>() };
    let size = state.size(count);
    let bytes = if size == 0 { &[] } else { unsafe { from_raw_parts(bytes.cast::<u8>(), size) } };
    let numbers = unsafe { from_raw_parts_mut(numbers, count as usize) };
    state.answer("decode", guarded(|| state.compression.decode(bytes, numbers)))
}
