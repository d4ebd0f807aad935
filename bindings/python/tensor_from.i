// From Python: a tensor of any buffer or DLPack producer. A buffer becomes a DLPack struct that the tensor takes over. The tensor
// shares the memory, except where an operation that reads cannot step over its strides: it gets a dense copy.
%{
// What a tensor is for.
enum { kToWrap, kToWrite, kToRead, kToMultiply };

// What a tensor that wraps a buffer or a copy keeps until it ends.
typedef struct {
  DlVersioned managed;
  Py_buffer lent;
  void *copied;
  int64_t shape[kMostAxes], strides[kMostAxes];
} Loan;

static void end_loan(DlVersioned *managed) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Loan *loan = (Loan *)managed->owner;
  PyBuffer_Release(&loan->lent);
  free(loan->copied);
  free(loan);
  PyGILState_Release(state);
}

static Loan *new_loan(void) {
  Loan *loan = (Loan *)calloc(1, sizeof *loan);
  if (loan == NULL) return PyErr_NoMemory(), NULL;
  loan->managed.owner = loan;
  loan->managed.deleter = end_loan;
  loan->managed.major = 1;
  return loan;
}

// Whether an operation for `use` cannot read these strides: those of all operations are positive. Most read matrices with
// adjacent columns whose leading axes step like one; a GEMM reads adjacent rows as well.
static int needs_copy(const DlTensor *array, int use) {
  int64_t extents[kMostAxes], strides[kMostAxes];
  int axes = 0;
  if ((use != kToRead && use != kToMultiply) || array->strides == NULL || array->ndim > kMostAxes) return 0;
  if (array->device_type != kDlCpu || array->lanes != 1 || array->bits % 8 != 0) return 0;
  for (int32_t i = 0; i < array->ndim; ++i) {
    if (array->shape[i] == 0) return 0;
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

static char *copy_axis(char *target, const char *source, const DlTensor *array, int32_t axis) {
  const int64_t bytes = array->bits / 8;
  if (axis == array->ndim) return (char *)memcpy(target, source, (size_t)bytes) + bytes;
  if (axis == array->ndim - 1 && array->strides[axis] == 1) {
    return (char *)memcpy(target, source, (size_t)(array->shape[axis] * bytes)) + array->shape[axis] * bytes;
  }
  for (int64_t i = 0; i < array->shape[axis]; ++i) {
    target = copy_axis(target, source + i * array->strides[axis] * bytes, array, axis + 1);
  }
  return target;
}

// A dense copy. Other threads run meanwhile: whoever lends the memory keeps it until the call ends.
static lpt_tensor *take_copy(const DlTensor *array) {
  Loan *loan = new_loan();
  lpt_tensor *tensor = NULL;
  int64_t count = 1;
  if (loan == NULL) return NULL;
  for (int32_t i = array->ndim - 1; i >= 0; --i) {
    loan->shape[i] = array->shape[i];
    loan->strides[i] = count;
    count *= array->shape[i];
  }
  loan->managed.array = *array;
  loan->managed.array.shape = loan->shape;
  loan->managed.array.strides = loan->strides;
  loan->managed.array.byte_offset = 0;
  loan->managed.array.data = loan->copied = malloc((size_t)(count * array->bits / 8));
  if (loan->copied != NULL) {
    Py_BEGIN_ALLOW_THREADS
    copy_axis((char *)loan->copied, (const char *)array->data + array->byte_offset, array, 0);
    Py_END_ALLOW_THREADS
    if (is_well(lpt_tensor_take_dlpack(describing_context(), &loan->managed, 1, NULL, &tensor))) return tensor;
  } else {
    PyErr_NoMemory();
  }
  end_loan(&loan->managed);
  return NULL;
}

typedef struct {
  char letter;
  lpt_format format;
  uint8_t code, bits;
} Letter;

// The letters of PEP 3118 that are formats, with DLPack's code.
static const Letter kLetters[] = {{'f', LPT_FORMAT_F32, 2, 32},  {'d', LPT_FORMAT_F64, 2, 64},  {'e', LPT_FORMAT_F16, 2, 16},
                                  {'b', LPT_FORMAT_INT8, 0, 8},  {'B', LPT_FORMAT_UINT8, 1, 8}, {'?', LPT_FORMAT_UINT8, 1, 8},
                                  {'h', LPT_FORMAT_INT16, 0, 16}, {'c', LPT_FORMAT_UINT8, 1, 8}};

static char letter_of(const Py_buffer *lent) {
  const char *text = lent->format != NULL ? lent->format : "B";
  if (*text == '@' || *text == '=' || *text == '<') ++text;
  return text[0] != '\0' && text[1] == '\0' ? text[0] : '\0';
}

static int strides_of(const Py_buffer *lent, int64_t *strides) {
  for (int i = 0; i < lent->ndim; ++i) {
    if (lent->strides[i] % lent->itemsize != 0) {
      PyErr_Format(PyExc_ValueError, "strides[%d] is %zd bytes: expected a multiple of the element's %zd", i,
                   lent->strides[i], lent->itemsize);
      return 0;
    }
    strides[i] = lent->strides[i] / lent->itemsize;
  }
  return 1;
}

// Plain elements with a letter of their own. `out_is_copied` 1: the loan is not part of the tensor.
static lpt_tensor *take_letters(Loan *loan, int use, int *out_is_copied) {
  const Py_buffer *lent = &loan->lent;
  const char letter = letter_of(lent);
  const Letter *found = NULL;
  for (size_t i = 0; i < sizeof kLetters / sizeof *kLetters; ++i) {
    if (kLetters[i].letter == letter) found = &kLetters[i];
  }
  if (found == NULL) {
    PyErr_Format(PyExc_TypeError, "a buffer of format '%s': expected f, d, e, b, B, h or ?, or a format argument",
                 lent->format != NULL ? lent->format : "");
    return NULL;
  }
  if (!strides_of(lent, loan->strides)) return NULL;
  for (int i = 0; i < lent->ndim; ++i) loan->shape[i] = lent->shape[i];
  loan->managed.array.data = lent->buf;
  loan->managed.array.device_type = kDlCpu;
  loan->managed.array.ndim = lent->ndim;
  loan->managed.array.code = found->code;
  loan->managed.array.bits = found->bits;
  loan->managed.array.lanes = 1;
  loan->managed.array.shape = loan->shape;
  loan->managed.array.strides = loan->strides;
  *out_is_copied = needs_copy(&loan->managed.array, use);
  if (*out_is_copied) return take_copy(&loan->managed.array);
  lpt_tensor *tensor = NULL;
  return is_well(lpt_tensor_take_dlpack(describing_context(), &loan->managed, 1, NULL, &tensor)) ? tensor : NULL;
}

// Writable where it can be had, so that the tensor may be an output later.
static int lend_buffer(PyObject *object, int is_written, Py_buffer *lent) {
  if (PyObject_GetBuffer(object, lent, PyBUF_STRIDED | PyBUF_FORMAT) == 0) return 1;
  if (is_written) return 0;
  PyErr_Clear();
  return PyObject_GetBuffer(object, lent, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0;
}

static lpt_tensor *tensor_from_buffer(PyObject *object, int use) {
  Loan *loan = new_loan();
  if (loan == NULL) return NULL;
  if (!lend_buffer(object, use == kToWrite, &loan->lent)) {
    free(loan);
    return NULL;
  }
  if (loan->lent.readonly) loan->managed.flags = LPT_DLPACK_READ_ONLY;
  lpt_tensor *tensor = NULL;
  int is_copied = 0;
  if (loan->lent.ndim > kMostAxes) {
    PyErr_Format(PyExc_ValueError, "a buffer of %d axes: expected at most %d", loan->lent.ndim, kMostAxes);
  } else {
    tensor = take_letters(loan, use, &is_copied);
  }
  if (tensor == NULL || is_copied) end_loan(&loan->managed);
  return tensor;
}

// The producer's capsule, of 1.x where it can give one.
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
  if (managed != NULL && is_versioned && use == kToWrite && (((DlVersioned *)managed)->flags & LPT_DLPACK_READ_ONLY) != 0) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only: expected memory to write");
  } else if (managed != NULL && needs_copy(array_of(managed, is_versioned), use)) {
    tensor = take_copy(array_of(managed, is_versioned));
  } else if (managed != NULL && (context = wrapping_context(array_of(managed, is_versioned))) != NULL &&
             is_well_in(context, lpt_tensor_take_dlpack(context, managed, is_versioned, NULL, &tensor))) {
    PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor");
  }
  Py_DECREF(capsule);
  return tensor;
}
%}
