// Tensors from Python buffers and DLPack producers. A buffer becomes a DLPack struct, which the tensor owns. The tensor shares
// the memory, or is a dense copy if an operation reads it and does not support its strides.
%{
// Use of a tensor, see tensor_from_object().
enum { kToWrap, kToWrite, kToRead, kToMultiply };

// Resources of a tensor that wraps a buffer or a copy.
typedef struct {
  DlVersioned managed;
  Py_buffer buffer;
  void *copied;
  int64_t shape[kMaxAxes], strides[kMaxAxes];
} WrappedBuffer;

static void release_wrapped(DlVersioned *managed) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  WrappedBuffer *wrapped = (WrappedBuffer *)managed->owner;
  PyBuffer_Release(&wrapped->buffer);
  free(wrapped->copied);
  free(wrapped);
  PyGILState_Release(state);
}

static WrappedBuffer *new_wrapped(void) {
  WrappedBuffer *wrapped = (WrappedBuffer *)calloc(1, sizeof *wrapped);
  if (wrapped == NULL) return PyErr_NoMemory(), NULL;
  wrapped->managed.owner = wrapped;
  wrapped->managed.deleter = release_wrapped;
  wrapped->managed.major = 1;
  return wrapped;
}

// Returns whether operations with this use read a copy of an array that they do not support.
static int may_copy(int use) { return use == kToRead || use == kToMultiply; }

static int is_empty(const DlTensor *array) {
  for (int32_t i = 0; i < array->ndim; ++i) {
    if (array->shape[i] <= 0) return 1;
  }
  return 0;
}

// Returns whether `use` does not support these strides or this alignment. All operations require positive strides. Most require
// adjacent columns, and leading axes that can be merged into one; a GEMM also supports adjacent rows.
static int needs_copy(const DlTensor *array, int use) {
  int64_t extents[kMaxAxes], strides[kMaxAxes];
  int axes = 0;
  if (!may_copy(use) || array->ndim > kMaxAxes || array->bits == 0 || array->bits % 8 != 0) return 0;
  if (array->device_type != kDlCpu || array->lanes != 1 || is_empty(array)) return 0;
  if (((uintptr_t)array->data + array->byte_offset) % (array->bits / 8u) != 0) return 1;
  if (array->strides == NULL) return 0;
  for (int32_t i = 0; i < array->ndim; ++i) {
    if (array->shape[i] == 1) continue;
    if (array->strides[i] <= 0) return 1;
    extents[axes] = array->shape[i];
    strides[axes++] = array->strides[i];
  }
  const int is_last_idle = array->ndim > 0 && array->shape[array->ndim - 1] == 1;
  if (use == kToMultiply) {
    return !is_last_idle && axes > 0 && strides[axes - 1] != 1 && (axes != 2 || strides[0] != 1);
  }
  const int inner = is_last_idle ? axes : axes - 1;  // leading axes
  if (!is_last_idle && axes > 0 && strides[axes - 1] != 1) return 1;
  for (int i = 0; i + 1 < inner; ++i) {
    if (strides[i] != strides[i + 1] * extents[i + 1]) return 1;
  }
  return 0;
}

// Elements of an array by byte strides, which may be any number of bytes.
typedef struct {
  int64_t bytes;  // of an element
  int32_t ndim;
  int64_t shape[kMaxAxes], strides[kMaxAxes];
} ByteArray;

// Returns the elements of an array with strides in elements, or dense ones.
static ByteArray bytes_of(const DlTensor *array) {
  ByteArray result = {array->bits / 8, array->ndim, {0}, {0}};
  int64_t dense = result.bytes;
  for (int32_t i = array->ndim - 1; i >= 0; --i) {
    result.shape[i] = array->shape[i];
    // Other libraries write any stride along an axis of one element.
    if (array->shape[i] > 1) result.strides[i] = array->strides != NULL ? array->strides[i] * result.bytes : dense;
    dense *= array->shape[i];
  }
  return result;
}

static char *copy_axis(char *target, const char *source, const ByteArray *array, int32_t axis) {
  const int64_t bytes = array->bytes;
  if (axis == array->ndim) return (char *)memcpy(target, source, (size_t)bytes) + bytes;
  if (axis == array->ndim - 1 && array->strides[axis] == bytes) {
    return (char *)memcpy(target, source, (size_t)(array->shape[axis] * bytes)) + array->shape[axis] * bytes;
  }
  for (int64_t i = 0; i < array->shape[axis]; ++i) {
    target = copy_axis(target, source + i * array->strides[axis], array, axis + 1);
  }
  return target;
}

// Returns the bytes of a dense copy of an array that is not empty, or 0 if no memory has so many.
static size_t dense_bytes(const DlTensor *array) {
  int64_t bytes = array->bits / 8;
  for (int32_t i = 0; i < array->ndim; ++i) {
    if (array->shape[i] > PY_SSIZE_T_MAX / bytes) return 0;
    bytes *= array->shape[i];
  }
  return (size_t)bytes;
}

// Creates a tensor of a dense copy. The copy releases the GIL; the caller keeps the memory alive until the call returns.
// `given`: the elements by byte strides; NULL: those of `array`.
static lpt_tensor *tensor_from_copy(const DlTensor *array, const ByteArray *given) {
  const size_t bytes = dense_bytes(array);
  if (bytes == 0) return PyErr_NoMemory(), NULL;
  WrappedBuffer *wrapped = new_wrapped();
  lpt_tensor *tensor = NULL;
  int64_t count = 1;
  if (wrapped == NULL) return NULL;
  for (int32_t i = array->ndim - 1; i >= 0; --i) {
    wrapped->shape[i] = array->shape[i];
    wrapped->strides[i] = count;
    count *= array->shape[i];
  }
  wrapped->managed.array = *array;
  wrapped->managed.array.shape = wrapped->shape;
  wrapped->managed.array.strides = wrapped->strides;
  wrapped->managed.array.byte_offset = 0;
  wrapped->managed.array.data = wrapped->copied = malloc(bytes);
  if (wrapped->copied != NULL) {
    const ByteArray source = given != NULL ? *given : bytes_of(array);
    Py_BEGIN_ALLOW_THREADS
    copy_axis((char *)wrapped->copied, (const char *)array->data + array->byte_offset, &source, 0);
    Py_END_ALLOW_THREADS
    if (is_well(lpt_tensor_take_dlpack(describing_context(), &wrapped->managed, 1, NULL, &tensor))) return tensor;
  } else {
    PyErr_NoMemory();
  }
  release_wrapped(&wrapped->managed);
  return NULL;
}

typedef struct {
  char type_code;
  lpt_format format;
  uint8_t code, bits;
} BufferType;

// Type codes of PEP 3118 with a format, and the type of DLPack.
static const BufferType kBufferTypes[] = {
    {'f', LPT_FORMAT_F32, 2, 32},  {'d', LPT_FORMAT_F64, 2, 64},   {'e', LPT_FORMAT_F16, 2, 16},
    {'b', LPT_FORMAT_INT8, 0, 8},  {'B', LPT_FORMAT_UINT8, 1, 8},  {'?', LPT_FORMAT_UINT8, 1, 8},
    {'h', LPT_FORMAT_INT16, 0, 16}, {'c', LPT_FORMAT_UINT8, 1, 8}, {'i', LPT_FORMAT_INT32, 0, 32},
    {'q', LPT_FORMAT_INT64, 0, 64}, {'l', LPT_FORMAT_INT64, 0, 64}, {'l', LPT_FORMAT_INT32, 0, 32}};

static char type_code_of(const Py_buffer *buffer) {
  const char *text = buffer->format != NULL ? buffer->format : "B";
  if (*text == '@' || *text == '=' || *text == '<') ++text;
  return text[0] != '\0' && text[1] == '\0' ? text[0] : '\0';
}

// Returns the elements of a buffer. Without strides it is dense, and without a shape it has one axis.
static ByteArray bytes_of_buffer(const Py_buffer *buffer) {
  ByteArray result = {buffer->itemsize, buffer->ndim, {0}, {0}};
  int64_t dense = buffer->itemsize;
  for (int i = buffer->ndim - 1; i >= 0; --i) {
    result.shape[i] = buffer->shape != NULL ? buffer->shape[i] : buffer->len / buffer->itemsize;
    result.strides[i] = buffer->strides != NULL ? buffer->strides[i] : dense;
    dense *= result.shape[i];
  }
  return result;
}

// Returns the first axis whose stride is no multiple of the element, or the number of axes.
static int first_odd_axis(const ByteArray *array) {
  int axis = 0;
  while (axis < array->ndim && (array->shape[axis] <= 1 || array->strides[axis] % array->bytes == 0)) ++axis;
  return axis;
}

// Creates a tensor of a buffer whose type code has a format. `*out_is_copied` 1: the tensor does not own `wrapped`.
static lpt_tensor *take_buffer(WrappedBuffer *wrapped, int use, int *out_is_copied) {
  const Py_buffer *buffer = &wrapped->buffer;
  const char type_code = type_code_of(buffer);
  const BufferType *found = NULL;
  for (size_t i = 0; i < sizeof kBufferTypes / sizeof *kBufferTypes; ++i) {
    if (kBufferTypes[i].type_code == type_code && kBufferTypes[i].bits == 8 * buffer->itemsize) found = &kBufferTypes[i];
  }
  if (found == NULL) {
    PyErr_Format(PyExc_TypeError, "buffer has format '%s': expected f, d, e, b, B, h, i, l, q or ?, or a format argument",
                 buffer->format != NULL ? buffer->format : "");
    return NULL;
  }
  const ByteArray bytes = bytes_of_buffer(buffer);
  for (int i = 0; i < buffer->ndim; ++i) {
    wrapped->shape[i] = bytes.shape[i];
    wrapped->strides[i] = bytes.strides[i] / bytes.bytes;
  }
  wrapped->managed.array.data = buffer->buf;
  wrapped->managed.array.device_type = kDlCpu;
  wrapped->managed.array.ndim = buffer->ndim;
  wrapped->managed.array.code = found->code;
  wrapped->managed.array.bits = found->bits;
  wrapped->managed.array.lanes = 1;
  wrapped->managed.array.shape = wrapped->shape;
  wrapped->managed.array.strides = wrapped->strides;
  const int odd_axis = is_empty(&wrapped->managed.array) ? bytes.ndim : first_odd_axis(&bytes);
  if (odd_axis < bytes.ndim && !may_copy(use)) {
    PyErr_Format(PyExc_ValueError, "strides[%d] is %lld bytes: expected a multiple of the element's %zd", odd_axis,
                 (long long)bytes.strides[odd_axis], buffer->itemsize);
    return NULL;
  }
  *out_is_copied = odd_axis < bytes.ndim || needs_copy(&wrapped->managed.array, use);
  if (*out_is_copied) return tensor_from_copy(&wrapped->managed.array, &bytes);
  lpt_tensor *tensor = NULL;
  return is_well(lpt_tensor_take_dlpack(describing_context(), &wrapped->managed, 1, NULL, &tensor)) ? tensor : NULL;
}

// Acquires a buffer, writable if the object allows it, so that the tensor can be an output later.
static int acquire_buffer(PyObject *object, int is_written, Py_buffer *buffer) {
  if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDED | PyBUF_FORMAT) == 0) return 1;
  if (is_written) return 0;
  PyErr_Clear();
  return PyObject_GetBuffer(object, buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0;
}

static lpt_tensor *tensor_from_buffer(PyObject *object, int use) {
  WrappedBuffer *wrapped = new_wrapped();
  if (wrapped == NULL) return NULL;
  if (!acquire_buffer(object, use == kToWrite, &wrapped->buffer)) {
    free(wrapped);
    return NULL;
  }
  if (wrapped->buffer.readonly) wrapped->managed.flags = kDlReadOnly;
  lpt_tensor *tensor = NULL;
  int is_copied = 0;
  if (wrapped->buffer.ndim > kMaxAxes) {
    PyErr_Format(PyExc_ValueError, "buffer has %d axes: expected at most %d", wrapped->buffer.ndim, kMaxAxes);
  } else {
    tensor = take_buffer(wrapped, use, &is_copied);
  }
  if (tensor == NULL || is_copied) release_wrapped(&wrapped->managed);
  return tensor;
}

// Returns the capsule of a producer, of DLPack 1.x if the producer supports it.
static PyObject *capsule_of(PyObject *object) {
  if (PyCapsule_CheckExact(object)) return Py_INCREF(object), object;
  PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
  if (method == NULL) return NULL;
  PyObject *none = PyTuple_New(0), *version = Py_BuildValue("{s:(ii)}", "max_version", 1, 1);
  PyObject *capsule = none != NULL && version != NULL ? PyObject_Call(method, none, version) : NULL;
  if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = PyObject_CallNoArgs(method);
  }
  Py_XDECREF(none);
  Py_XDECREF(version);
  Py_DECREF(method);
  return capsule;
}

static const DlTensor *array_of(const void *managed, int is_versioned) {
  return is_versioned ? &((const DlVersioned *)managed)->array : &((const DlManaged *)managed)->array;
}

static lpt_tensor *tensor_from_dlpack(PyObject *object, int use) {
  PyObject *capsule = capsule_of(object);
  if (capsule == NULL) return NULL;
  const int is_versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
  void *managed = PyCapsule_GetPointer(capsule, is_versioned ? "dltensor_versioned" : "dltensor");
  lpt_context *context = NULL;
  lpt_tensor *tensor = NULL;
  if (managed != NULL && is_versioned && use == kToWrite && (((DlVersioned *)managed)->flags & kDlReadOnly) != 0) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only: expected writable memory");
  } else if (managed != NULL && needs_copy(array_of(managed, is_versioned), use)) {
    tensor = tensor_from_copy(array_of(managed, is_versioned), NULL);
  } else if (managed != NULL && (context = wrapping_context(array_of(managed, is_versioned))) != NULL &&
             is_well_in(context, lpt_tensor_take_dlpack(context, managed, is_versioned, NULL, &tensor))) {
    PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor");
  }
  Py_DECREF(capsule);
  return tensor;
}
%}
