use crate::{Context, Error, Format, Result, TensorPart};
use lpt_sys as sys;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::raw::c_void;
use std::ptr::{null_mut, NonNull};

/// Elements in memory with a format, extents and parts. `'a` is the lifetime of borrowed memory.
pub struct Tensor<'a> {
    raw: NonNull<sys::lpt_tensor>,
    memory: PhantomData<&'a mut [u8]>,
}

// Many threads may read a tensor, or one may write it, as & and &mut require.
unsafe impl Send for Tensor<'_> {}
unsafe impl Sync for Tensor<'_> {}

/// A read-only tensor.
pub struct ReadOnly<'a>(Tensor<'a>);

impl<'a> Deref for ReadOnly<'a> {
    type Target = Tensor<'a>;
    fn deref(&self) -> &Tensor<'a> {
        &self.0
    }
}

/// A type of Rust that has a format, and for which any bytes are valid.
///
/// # Safety
/// `FORMAT` has elements of the size and alignment of `Self`, of which every code is a value.
pub unsafe trait Number: Copy {
    /// Format of the type.
    const FORMAT: Format;
}

unsafe impl Number for f64 {
    const FORMAT: Format = Format::F64;
}
unsafe impl Number for f32 {
    const FORMAT: Format = Format::F32;
}
unsafe impl Number for i64 {
    const FORMAT: Format = Format::INT64;
}
unsafe impl Number for i32 {
    const FORMAT: Format = Format::INT32;
}
unsafe impl Number for i16 {
    const FORMAT: Format = Format::INT16;
}
unsafe impl Number for i8 {
    const FORMAT: Format = Format::INT8;
}
unsafe impl Number for u8 {
    const FORMAT: Format = Format::UINT8;
}

impl Tensor<'static> {
    /// Creates a tensor in memory of the library, with elements of 0 and scales of 1.
    pub fn new(context: &Context, format: Format, extents: &[i64]) -> Result<Tensor<'static>> {
        let rank = i32::try_from(extents.len())
            .map_err(|_| Error::invalid(format!("rank is {}: expected 0 to 8", extents.len())))?;
        let mut raw = null_mut();
        context
            .check(unsafe { sys::lpt_tensor_create(context.as_ptr(), format.0, rank, extents.as_ptr(), &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }
}

impl<'a> Tensor<'a> {
    pub(crate) fn from_raw(raw: *mut sys::lpt_tensor) -> Tensor<'a> {
        let raw = NonNull::new(raw).expect("the library returns handles that are not NULL");
        Tensor { raw, memory: PhantomData }
    }

    /// Returns the handle, for functions of `lpt_sys`.
    pub fn as_ptr(&self) -> *mut sys::lpt_tensor {
        self.raw.as_ptr()
    }

    /// Creates a matrix in the memory of `numbers`, for reading and writing.
    pub fn from_mut<T: Number>(context: &Context, numbers: &'a mut [T], rows: i64, columns: i64) -> Result<Tensor<'a>> {
        wrap(context, T::FORMAT, numbers.as_mut_ptr().cast(), numbers.len(), rows, columns)
    }

    /// Creates a read-only matrix in the memory of `numbers`.
    pub fn from_slice<T: Number>(context: &Context, numbers: &'a [T], rows: i64, columns: i64) -> Result<ReadOnly<'a>> {
        let data = numbers.as_ptr() as *mut c_void;
        Ok(ReadOnly(wrap(context, T::FORMAT, data, numbers.len(), rows, columns)?))
    }

    /// Returns a part of the tensor, which shares its memory.
    pub fn part(&self, context: &Context, part: TensorPart) -> Result<ReadOnly<'_>> {
        Ok(ReadOnly(self.any_part(context, part)?))
    }

    /// Converts the tensor to one of its parts.
    pub fn into_part(self, context: &Context, part: TensorPart) -> Result<Tensor<'a>> {
        self.any_part(context, part)
    }

    pub(crate) fn any_part<'b>(&self, context: &Context, part: TensorPart) -> Result<Tensor<'b>> {
        let mut raw = null_mut();
        context.check(unsafe { sys::lpt_tensor_view_part(context.as_ptr(), self.as_ptr(), part.0, &mut raw) })?;
        Ok(Tensor::from_raw(raw))
    }

    /// Returns the extents, one for each axis.
    pub fn extents(&self, context: &Context) -> Result<Vec<i64>> {
        let description = self.describe(context)?;
        let rank = description.rank as usize;
        // The arrays are valid as long as the tensor. Even an empty slice must not have a null pointer.
        Ok(if rank == 0 { vec![] } else { unsafe { std::slice::from_raw_parts(description.extents, rank) }.to_vec() })
    }

    /// Returns the format.
    pub fn format(&self, context: &Context) -> Result<Format> {
        Ok(Format(self.describe(context)?.format))
    }

    /// Returns the number of bytes of elements, scales and other parts, without gaps between rows.
    pub fn size_bytes(&self, context: &Context) -> Result<usize> {
        let mut bytes = 0;
        context.check(unsafe { sys::lpt_tensor_size(context.as_ptr(), self.as_ptr(), &mut bytes) })?;
        Ok(bytes)
    }

    /// Returns the bytes of a dense tensor without scales, such as a part.
    pub fn bytes(&self, context: &Context) -> Result<&[u8]> {
        let (data, bytes) = self.dense(context)?;
        Ok(if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, bytes) } })
    }

    /// Returns the bytes of a dense tensor without scales, for writing.
    pub fn bytes_mut(&mut self, context: &Context) -> Result<&mut [u8]> {
        let (data, bytes) = self.dense(context)?;
        Ok(if bytes == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(data, bytes) } })
    }

    fn describe(&self, context: &Context) -> Result<sys::lpt_tensor_description> {
        let mut description = sys::lpt_tensor_description::default();
        context.check(unsafe { sys::lpt_tensor_describe(context.as_ptr(), self.as_ptr(), &mut description) })?;
        Ok(description)
    }

    fn dense(&self, context: &Context) -> Result<(*mut u8, usize)> {
        let description = self.describe(context)?;
        if description.device != sys::LPT_DEVICE_CPU {
            return Err(Error::invalid(
                "tensor is on another device: expected the CPU, see Context::tensor_copy".into(),
            ));
        }
        let mut dense = 1;
        for axis in (0..description.rank as usize).rev() {
            // The arrays have `rank` extents and strides, and are valid as long as the tensor.
            let (extent, stride) = unsafe { (*description.extents.add(axis), *description.strides.add(axis)) };
            if extent > 1 && stride != dense {
                return Err(Error::invalid("tensor has gaps: expected a dense one".into()));
            }
            dense *= extent;
        }
        Ok((description.data.cast(), self.size_bytes(context)?))
    }
}

impl Drop for Tensor<'_> {
    fn drop(&mut self) {
        unsafe { sys::lpt_tensor_destroy(self.raw.as_ptr()) }
    }
}

fn wrap<'a>(
    context: &Context,
    format: Format,
    data: *mut c_void,
    count: usize,
    rows: i64,
    columns: i64,
) -> Result<Tensor<'a>> {
    let required = rows.checked_mul(columns).filter(|&size| rows >= 0 && columns >= 0 && size as u64 <= count as u64);
    if required.is_none() {
        return Err(Error::invalid(format!("numbers has {count} elements: expected {rows} rows of {columns}")));
    }
    let mut raw = null_mut();
    context
        .check(unsafe { sys::lpt_tensor_wrap_matrix(context.as_ptr(), format.0, data, rows, columns, 0, &mut raw) })?;
    Ok(Tensor::from_raw(raw))
}

impl Format {
    /// Returns the format of a name such as "mxfp8_e4m3".
    pub fn from_name(name: &str) -> Result<Format> {
        let invalid_name = || Error::invalid(format!("name is '{name}': expected a format"));
        let text = CString::new(name).map_err(|_| invalid_name())?;
        let mut format = Format::NONE;
        match unsafe { sys::lpt_format_from_name(null_mut(), text.as_ptr(), &mut format.0) } {
            sys::LPT_OK => Ok(format),
            _ => Err(invalid_name()),
        }
    }

    /// Returns the name of the format.
    pub fn name(self) -> Result<String> {
        let mut text = [0u8; 256];
        let mut needed = 0;
        match unsafe {
            sys::lpt_format_write_name(null_mut(), self.0, text.as_mut_ptr().cast(), text.len(), &mut needed)
        } {
            sys::LPT_OK => {
                // The library terminates the text with a zero within the buffer.
                Ok(unsafe { CStr::from_ptr(text.as_ptr().cast()) }.to_string_lossy().into_owned())
            }
            status => Err(Error::new(status, format!("format is {}: expected a format", self.0))),
        }
    }
}
