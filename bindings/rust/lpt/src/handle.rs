//! Handles of the library.

/// Declares a type that owns a handle and destroys it.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $destroy:ident) => {
        $(#[$doc])*
        pub struct $name {
            raw: std::ptr::NonNull<lpt_sys::$raw>,
        }

        impl $name {
            pub(crate) fn from_raw(raw: *mut lpt_sys::$raw) -> Self {
                Self { raw: std::ptr::NonNull::new(raw).expect("the library returns handles that are not NULL") }
            }

            /// Returns the handle, for functions of `lpt_sys`.
            pub fn as_ptr(&self) -> *mut lpt_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { lpt_sys::$destroy(self.raw.as_ptr()) }
            }
        }
    };
}
pub(crate) use handle;
