//! Functions of Rust that the library calls: no panic leaves them, and none may use a context of its thread.
use crate::LogLevel;
use lpt_sys as sys;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::ops::ControlFlow;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::NonNull;

pub(crate) type Log = Box<dyn Fn(LogLevel, &str) + Send>;
pub(crate) type Progress = Box<dyn Fn(i64, i64) -> ControlFlow<()> + Send>;

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns whether this thread runs a callback.
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.with(Cell::get)
}

/// Returns the text of the panic in the last call on this thread, and clears it.
pub(crate) fn take_panic() -> Option<String> {
    PANIC.with(|panic| panic.borrow_mut().take())
}

/// Calls a function of the user, and converts a panic to its text.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let was_inside = IS_INSIDE.with(|flag| flag.replace(true));
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_INSIDE.with(|flag| flag.set(was_inside));
    result.map_err(text_of)
}

fn text_of(payload: Box<dyn Any + Send>) -> String {
    let other = match payload.downcast::<String>() {
        Ok(text) => return *text,
        Err(other) => other,
    };
    match other.downcast::<&str>() {
        Ok(text) => text.to_string(),
        Err(other) => {
            // The payload has any type, and its drop may panic.
            std::mem::forget(other);
            "no text".to_owned()
        }
    }
}

fn note(function: &str, panic: String) {
    PANIC.with(|first| first.borrow_mut().get_or_insert(format!("{function} panicked: {panic}")).len());
}

/// A value at a fixed address, which C keeps.
pub(crate) struct Fixed<T>(NonNull<T>);

impl<T> Fixed<T> {
    pub(crate) fn new(value: T) -> Fixed<T> {
        Fixed(NonNull::from(Box::leak(Box::new(value))))
    }

    pub(crate) fn as_ptr(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }
}

impl<T> Drop for Fixed<T> {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

pub(crate) unsafe extern "C" fn log(user: *mut c_void, level: sys::lpt_log_level, text: *const c_char) {
    let (log, text) = unsafe { (&*user.cast::<Log>(), CStr::from_ptr(text)) };
    if let Err(panic) = guarded(|| log(LogLevel(level), &text.to_string_lossy())) {
        note("log", panic);
    }
}

pub(crate) unsafe extern "C" fn progress(user: *mut c_void, done: i64, total: i64) -> i32 {
    let progress = unsafe { &*user.cast::<Progress>() };
    match guarded(|| progress(done, total)) {
        Ok(flow) => i32::from(flow.is_break()),
        Err(panic) => {
            note("progress", panic);
            1
        }
    }
}
