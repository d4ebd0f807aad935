use crate::{Context, Device, Error, Result, Tensor};
use lpt_sys as sys;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::ptr::null_mut;

/// Description of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Kind of the device.
    pub device: Device,
    /// Index among devices of its kind.
    pub index: i32,
    /// Number of devices of its kind.
    pub count: i32,
    /// Whether a context can be created on the device.
    pub is_usable: bool,
    /// Compute capability (major, minor) of a GPU.
    pub capability: (i32, i32),
    /// Number of multiprocessors of a GPU, or of CPU cores that this process may use.
    pub processor_count: i32,
    /// Memory of the device in bytes.
    pub memory_bytes: i64,
    /// Name that the driver reports.
    pub name: String,
    /// Reason why the device is not usable; empty if it is.
    pub reason: String,
}

impl Device {
    /// Describes a device. A missing device is not an error: `is_usable` is false, and `reason` contains the reason.
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
    /// Copies a tensor with all its parts between devices or within one; complete on return.
    pub fn tensor_copy(&self, source: &Tensor, target: &mut Tensor) -> Result<()> {
        self.check(unsafe { sys::lpt_tensor_copy(self.as_ptr(), source.as_ptr(), target.as_ptr()) })?;
        // A GPU queues the copy: wait for it, as the caller may free memory of the CPU on return.
        self.synchronize()
    }

    /// Waits until all work that is queued on a GPU is complete; on a CPU context, returns immediately.
    pub fn synchronize(&self) -> Result<()> {
        self.check(unsafe { sys::lpt_context_synchronize(self.as_ptr()) })
    }
}

/// Converts a zero-terminated text to a string.
pub(crate) fn text_of(text: &[c_char]) -> String {
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
}
