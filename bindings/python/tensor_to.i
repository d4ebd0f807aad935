// Export of tensors without scales to Python by the buffer protocol and by DLPack capsules, without a copy.
%{
static char type_code_of_format(lpt_format format, int bytes_of_pack, int elements_of_pack) {
  for (size_t i = 0; i < sizeof kBufferTypes / sizeof *kBufferTypes; ++i) {
    if (kBufferTypes[i].format == format) return kBufferTypes[i].type_code;
  }
  return elements_of_pack == 1 && bytes_of_pack == 2 ? 'H' : 'B';
}

// Extents, strides and type code of an exported buffer.
typedef struct {
  Py_ssize_t shape[kMaxAxes], strides[kMaxAxes];
  char format[2];
} ExportedBuffer;

// Describes the elements of a tensor. Elements without a type code become integer codes; packed elements become bytes.
static void fill_buffer(const lpt_tensor_description *found, int elements, int bytes, ExportedBuffer *exported,
                        Py_buffer *view) {
  view->itemsize = elements == 1 ? bytes : 1;
  view->ndim = found->rank;
  view->len = view->itemsize;
  for (int i = 0; i < found->rank; ++i) {
    const int is_last = i == found->rank - 1;
    const int64_t packs = (found->extents[i] + elements - 1) / elements;
    exported->shape[i] = (Py_ssize_t)(is_last && elements > 1 ? packs * bytes : found->extents[i]);
    exported->strides[i] = (Py_ssize_t)(is_last && elements > 1 ? 1 : found->strides[i] / elements * bytes);
    view->len *= exported->shape[i];
  }
  exported->format[0] = type_code_of_format(found->format, bytes, elements);
  view->shape = exported->shape;
  view->strides = exported->strides;
  view->format = exported->format;
}

static int raise_buffer_error(Py_buffer *view, ExportedBuffer *exported, const char *reason) {
  free(exported);
  view->obj = NULL;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, reason);
  return -1;
}

// Returns whether the payload is the only part of the tensor. Packed weights have no parts.
static int is_plain(const lpt_tensor *tensor, lpt_format format) {
  lpt_tensor *part = NULL;
  lpt_tensor_description payload;
  if (!is_well(lpt_tensor_view_part(describing_context(), tensor, LPT_TENSOR_PART_PAYLOAD, &part))) return 0;
  const int is_same = describe_tensor(part, &payload) && payload.format == format;
  lpt_tensor_destroy(part);
  return is_same;
}

// Returns why the tensor does not support the flags of a buffer request, or NULL. Clears the members that `flags` excludes.
static const char *unsupported_reason(Py_buffer *view, int flags) {
  const int is_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  const int is_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  const int is_either = (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  const int is_strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && !is_c && !is_fortran && !is_either;
  if (view->buf == NULL && view->len > 0) return "the tensor has no data";
  if ((flags & PyBUF_WRITABLE) != 0 && view->readonly) return "the tensor is read-only";
  if (!is_strided && !PyBuffer_IsContiguous(view, is_fortran ? 'F' : 'C')) return "rows are not contiguous: request strides";
  if ((flags & PyBUF_FORMAT) == 0) view->format = NULL;
  if ((flags & PyBUF_ND) == 0) view->shape = NULL;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = NULL;
  return NULL;
}

static int get_tensor_buffer(PyObject *self, Py_buffer *view, int flags) {
  void *handle = NULL;
  lpt_tensor_description found;
  int elements = 1, bytes = 1;
  ExportedBuffer *exported = (ExportedBuffer *)calloc(1, sizeof *exported);
  if (exported == NULL) return PyErr_NoMemory(), raise_buffer_error(view, NULL, "");
  if (SWIG_ConvertPtr(self, &handle, SWIGTYPE_p_lpt_tensor, 0) < 0 || handle == NULL) {
    return raise_buffer_error(view, exported, "the tensor was destroyed");
  }
  if (!describe_tensor((lpt_tensor *)handle, &found) || !is_plain((lpt_tensor *)handle, found.format) ||
      !packing_of(found.format, &elements, &bytes)) {
    return raise_buffer_error(view, exported, "the tensor has several parts: export each of its parts()");
  }
  if (found.device != LPT_DEVICE_CPU) {
    return raise_buffer_error(view, exported, "the tensor is in memory of a GPU: copy it with lpt.tensor_copy()");
  }
  fill_buffer(&found, elements, bytes, exported, view);
  view->buf = found.data;
  view->readonly = (found.flags & LPT_TENSOR_READ_ONLY) != 0;
  view->suboffsets = NULL;
  view->internal = exported;
  const char *reason = unsupported_reason(view, flags);
  if (reason != NULL) return raise_buffer_error(view, exported, reason);
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

static void release_tensor_buffer(PyObject *self, Py_buffer *view) {
  (void)self;
  free(view->internal);
}

static void end_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DlVersioned *managed = (DlVersioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->deleter != NULL) managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    DlManaged *managed = (DlManaged *)PyCapsule_GetPointer(capsule, "dltensor");
    if (managed->deleter != NULL) managed->deleter(managed);
  }
}

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
  PyObject *result = PyTuple_New(count);
  for (int32_t i = 0; result != NULL && i < count; ++i) PyTuple_SET_ITEM(result, i, PyLong_FromLongLong(numbers[i]));
  return result;
}
%}
