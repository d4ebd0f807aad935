use crate::{Context, Device, Error, Result, Tensor};
use lpt_sys as sys;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::ptr::null_mut;

/// What one device is, and whether contexts can work on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its kind.
    pub device: Device,
    /// Which one of its kind.
    pub index: i32,
    /// How many of its kind there are.
    pub count: i32,
    /// Whether a context can be created for it.
    pub is_usable: bool,
    /// Of a GPU: its compute capability.
    pub capability: (i32, i32),
    /// Multiprocessors of a GPU; cores that this process may use.
    pub processor_count: i32,
    /// Memory of its own.
    pub memory_bytes: i64,
    /// As its driver tells it.
    pub name: String,
    /// Why it is not usable; empty where it is.
    pub reason: String,
}

impl Device {
    /// What a device is. One that is not there is no error: it is not usable, and the reason says why.
    pub fn describe(self, index: i32) -> Result<DeviceInfo> {
        let mut raw = sys::lpt_device_info::default();
        match unsafe { sys::lpt_device_describe(null_mut(), self.0, index, &mut raw) } {
            sys::LPT_OK => Ok(DeviceInfo {
                device: self,
                index,
                count: raw.count,
                is_usable: raw.is_usable != 0,
                capability: (raw.capability_major, raw.capability_minor),
                processor_count: raw.processor_count,
                memory_bytes: raw.memory_bytes,
                name: text_of(&raw.name),
                reason: text_of(&raw.reason),
            }),
            status => Err(Error::new(status, format!("device is {}, index {index}: expected a device", self.0))),
        }
    }
}

impl Context {
    /// Copies a tensor with all its parts, from one memory to another too, and waits for it.
    pub fn tensor_copy(&self, source: &Tensor, target: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_tensor_copy(self.as_ptr(), source.as_ptr(), target.as_ptr()) })?;
        // Queued on a GPU, and the processor's memory may be gone when the stream comes to it.
        self.synchronize()
    }

    /// Waits until a GPU has done all that is queued. For the processor nothing ever is.
    pub fn synchronize(&self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_synchronize(self.as_ptr()) })
    }
}

/// UTF-8 that ends with a zero.
pub(crate) fn text_of(text: &[c_char]) -> String {
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
}
