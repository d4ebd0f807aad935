use crate::Status;
use lpt_sys as sys;
use std::ffi::CStr;
use std::fmt;

/// Error of a call: the status, and the error text of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// Status of the call.
    pub status: Status,
    /// Names the argument, its value and the expected values.
    pub text: String,
}

/// Result of a call that can fail with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: sys::lpt_status, text: String) -> Error {
        Error { status: Status(status), text }
    }

    pub(crate) fn invalid(text: String) -> Error {
        Error { status: Status::INVALID_ARGUMENT, text }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.status, self.text)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The library returns a static string for any number.
        let name = unsafe { CStr::from_ptr(sys::lpt_status_string(self.0)) };
        formatter.write_str(&name.to_string_lossy())
    }
}
