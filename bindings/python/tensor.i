// Tensors between Python and C: from any buffer or DLPack producer, and out again, without a copy. What is done here is quick and
// holds the interpreter's lock, which also guards the one context that describes tensors.
%{
// The structs of DLPack, a published binary interface; names as in dlpack.h.
typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DlTensor;
typedef struct DlManaged {
  DlTensor array;
  void *owner;
  void (*deleter)(struct DlManaged *);
} DlManaged;
typedef struct DlVersioned {
  uint32_t major, minor;
  void *owner;
  void (*deleter)(struct DlVersioned *);
  uint64_t flags;
  DlTensor array;
} DlVersioned;

enum { kMostAxes = 8 };

static lpt_context *describing_context(void) {
  static lpt_context *context;
  if (context == NULL) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    if (lpt_context_create(&options, &context) != LPT_OK) PyErr_NoMemory();
  }
  return context;
}

static int is_well(lpt_status status) {
  if (status == LPT_OK) return 1;
  if (!PyErr_Occurred()) raise_status(status, lpt_context_error(describing_context()));
  return 0;
}

static int describe_tensor(const lpt_tensor *tensor, lpt_tensor_description *out) {
  lpt_tensor_description_init(out, sizeof *out);
  return is_well(lpt_tensor_describe(describing_context(), tensor, out));
}

// How many elements share how many bytes.
static int packing_of(lpt_format format, int *out_elements, int *out_bytes) {
  static const int elements_of_bits[] = {0, 8, 4, 8, 2, 8, 4, 8};
  lpt_format_description description;
  lpt_format_description_init(&description, sizeof description);
  if (lpt_format_describe(format, &description) != LPT_OK) return 0;
  const int bits = description.element_bits;
  if (format == LPT_FORMAT_TERNARY) {
    *out_elements = 5;
    *out_bytes = 1;
  } else {
    *out_elements = bits >= 8 ? 1 : elements_of_bits[bits];
    *out_bytes = bits * *out_elements / 8;
  }
  return 1;
}

/* ---- from Python ---- */

// What a tensor that wraps a buffer keeps until it ends.
typedef struct {
  DlManaged managed;
  Py_buffer lent;
  int64_t shape[kMostAxes], strides[kMostAxes];
} Loan;

static void end_loan(DlManaged *managed) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Loan *loan = (Loan *)managed->owner;
  PyBuffer_Release(&loan->lent);
  free(loan);
  PyGILState_Release(state);
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

// Plain elements with a letter of their own.
static lpt_tensor *take_letters(Loan *loan) {
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
  loan->managed.array.device_type = 1;
  loan->managed.array.ndim = lent->ndim;
  loan->managed.array.code = found->code;
  loan->managed.array.bits = found->bits;
  loan->managed.array.lanes = 1;
  loan->managed.array.shape = loan->shape;
  loan->managed.array.strides = loan->strides;
  lpt_tensor *tensor = NULL;
  return is_well(lpt_tensor_take_dlpack(describing_context(), &loan->managed, 0, NULL, &tensor)) ? tensor : NULL;
}

// Writable where it can be had, so that the tensor may be an output later.
static int lend_buffer(PyObject *object, int is_written, Py_buffer *lent) {
  if (PyObject_GetBuffer(object, lent, PyBUF_STRIDED | PyBUF_FORMAT) == 0) return 1;
  if (is_written) return 0;
  PyErr_Clear();
  return PyObject_GetBuffer(object, lent, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0;
}

static lpt_tensor *tensor_from_buffer(PyObject *object, int is_written, int *out_is_read_only) {
  Loan *loan = (Loan *)calloc(1, sizeof *loan);
  if (loan == NULL) return PyErr_NoMemory(), NULL;
  if (!lend_buffer(object, is_written, &loan->lent)) {
    free(loan);
    return NULL;
  }
  loan->managed.owner = loan;
  loan->managed.deleter = end_loan;
  *out_is_read_only = loan->lent.readonly;
  lpt_tensor *tensor = NULL;
  if (loan->lent.ndim > kMostAxes) {
    PyErr_Format(PyExc_ValueError, "a buffer of %d axes: expected at most %d", loan->lent.ndim, kMostAxes);
  } else {
    tensor = take_letters(loan);
  }
  if (tensor == NULL) {
    PyBuffer_Release(&loan->lent);
    free(loan);
  }
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

static lpt_tensor *tensor_from_dlpack(PyObject *object, int is_written, int *out_is_read_only) {
  PyObject *capsule = capsule_of(object);
  if (capsule == NULL) return NULL;
  const int is_versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
  void *managed = PyCapsule_GetPointer(capsule, is_versioned ? "dltensor_versioned" : "dltensor");
  lpt_tensor *tensor = NULL;
  uint64_t flags = 0;
  if (managed != NULL && is_versioned && is_written && (((DlVersioned *)managed)->flags & LPT_DLPACK_READ_ONLY) != 0) {
    PyErr_SetString(PyExc_BufferError, "the memory is read-only: expected memory to write");
  } else if (managed != NULL &&
             is_well(lpt_tensor_take_dlpack(describing_context(), managed, is_versioned, &flags, &tensor))) {
    PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor");
    *out_is_read_only = (flags & LPT_DLPACK_READ_ONLY) != 0;
  }
  Py_DECREF(capsule);
  return tensor;
}

/* ---- to Python ---- */

static char letter_of_format(lpt_format format, int bytes_of_pack, int elements_of_pack) {
  for (size_t i = 0; i < sizeof kLetters / sizeof *kLetters; ++i) {
    if (kLetters[i].format == format) return kLetters[i].letter;
  }
  return elements_of_pack == 1 && bytes_of_pack == 2 ? 'H' : 'B';
}

// Extents and strides of a lent tensor, and its letter.
typedef struct {
  Py_ssize_t shape[kMostAxes], strides[kMostAxes];
  char format[2];
} Lent;

// Elements, or the codes of those that have no letter, small ones as the bytes of their packs.
static void fill_lent(const lpt_tensor_description *found, int elements, int bytes, Lent *lent, Py_buffer *view) {
  view->itemsize = elements == 1 ? bytes : 1;
  view->ndim = found->rank;
  view->len = view->itemsize;
  for (int i = 0; i < found->rank; ++i) {
    const int is_last = i == found->rank - 1;
    const int64_t packs = (found->extents[i] + elements - 1) / elements;
    lent->shape[i] = (Py_ssize_t)(is_last && elements > 1 ? packs * bytes : found->extents[i]);
    lent->strides[i] = (Py_ssize_t)(is_last && elements > 1 ? 1 : found->strides[i] / elements * bytes);
    view->len *= lent->shape[i];
  }
  lent->format[0] = letter_of_format(found->format, bytes, elements);
  view->shape = lent->shape;
  view->strides = lent->strides;
  view->format = lent->format;
}

static int is_read_only(PyObject *self) {
  PyObject *mark = PyObject_GetAttrString(self, "_is_read_only");
  if (mark == NULL) PyErr_Clear();
  const int result = mark != NULL && PyObject_IsTrue(mark) == 1;
  Py_XDECREF(mark);
  return result;
}

static int refuse_buffer(Py_buffer *view, Lent *lent, const char *reason) {
  free(lent);
  view->obj = NULL;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, reason);
  return -1;
}

static int lend_tensor(PyObject *self, Py_buffer *view, int flags) {
  void *handle = NULL;
  lpt_tensor_description found;
  int elements = 1, bytes = 1;
  Lent *lent = (Lent *)calloc(1, sizeof *lent);
  if (lent == NULL) return PyErr_NoMemory(), refuse_buffer(view, NULL, "");
  if (SWIG_ConvertPtr(self, &handle, SWIGTYPE_p_lpt_tensor, 0) < 0 || handle == NULL) {
    return refuse_buffer(view, lent, "the tensor was destroyed");
  }
  lpt_tensor *part = NULL;
  // Packed weights have no parts, and what has scales has more than one.
  if (!describe_tensor((lpt_tensor *)handle, &found) ||
      !is_well(lpt_tensor_part(describing_context(), (lpt_tensor *)handle, LPT_PART_PAYLOAD, &part))) {
    return refuse_buffer(view, lent, "");
  }
  lpt_tensor_description payload;
  const int is_plain = describe_tensor(part, &payload) && payload.format == found.format;
  lpt_tensor_destroy(part);
  if (!is_plain) return refuse_buffer(view, lent, "a tensor with scales is more than one buffer: take its parts");
  if (!packing_of(found.format, &elements, &bytes)) return refuse_buffer(view, lent, "no such format");
  fill_lent(&found, elements, bytes, lent, view);
  if (found.data == NULL && view->len > 0) return refuse_buffer(view, lent, "the tensor has no data");
  view->buf = found.data;
  view->readonly = is_read_only(self);
  view->suboffsets = NULL;
  view->internal = lent;
  if ((flags & PyBUF_WRITABLE) != 0 && view->readonly) return refuse_buffer(view, lent, "the tensor is read-only");
  const int wants_order = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS ? 'F' : 'C';
  const int is_any = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && (flags & PyBUF_C_CONTIGUOUS) != PyBUF_C_CONTIGUOUS &&
                     (flags & PyBUF_F_CONTIGUOUS) != PyBUF_F_CONTIGUOUS &&
                     (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS;
  if (!is_any && !PyBuffer_IsContiguous(view, (char)wants_order)) {
    return refuse_buffer(view, lent, "rows with gaps: ask for strides");
  }
  if ((flags & PyBUF_FORMAT) == 0) view->format = NULL;
  if ((flags & PyBUF_ND) == 0) view->shape = NULL;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = NULL;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

static void take_back(PyObject *self, Py_buffer *view) {
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

%typemap(in) PyObject *object { $1 = $input; }
%typemap(out) lpt_tensor *NEW { if ($1 == NULL) SWIG_fail; $result = handle_object($1, $descriptor(lpt_tensor *)); }
%apply lpt_tensor *NEW { lpt_tensor *tensor_reinterpret, lpt_tensor *tensor_from_object, lpt_tensor *tensor_from_producer, lpt_tensor *tensor_empty, lpt_tensor *tensor_like,
                         lpt_tensor *tensor_at };
%typemap(in, numinputs=0) int *out_is_read_only (int made = 0) { $1 = &made; }
%typemap(argout) int *out_is_read_only {
  if (*$1) PyObject_SetAttrString($result, "_is_read_only", Py_True);
}
%typemap(check) const lpt_tensor *given {
  if ($1 == NULL) {
    PyErr_SetString(PyExc_ValueError, "$symname: the tensor is None or was destroyed");
    SWIG_fail;
  }
}
%typemap(out) lpt_format tensor_format {
  if (PyErr_Occurred()) SWIG_fail;
  $result = PyLong_FromLongLong($1);
}
%apply (int32_t RANK, const int64_t *NUMBERS) { (int32_t rank, const int64_t *shape) };
%apply const int64_t *NUMBERS { const int64_t *steps };
%typemap(out) lpt_context *context_of {
  if ($1 == NULL) SWIG_fail;
  $result = handle_object($1, $descriptor(lpt_context *));
}
%typemap(check) const lpt_context_options *given {
  if ($1 == NULL) {
    PyErr_SetString(PyExc_ValueError, "$symname: options are None");
    SWIG_fail;
  }
}
%immutable lpt_tensor_description::extents;
%immutable lpt_tensor_description::strides;

%inline %{
// A tensor of what a buffer or a DLPack producer holds, which lives as long. 'is_written' 1: it must be writable.
lpt_tensor *tensor_from_object(PyObject *object, int is_written, int *out_is_read_only) {
  *out_is_read_only = 0;
  if (!PyObject_CheckBuffer(object)) return tensor_from_dlpack(object, is_written, out_is_read_only);
  return tensor_from_buffer(object, is_written, out_is_read_only);
}

// The same by DLPack alone.
lpt_tensor *tensor_from_producer(PyObject *object, int *out_is_read_only) {
  *out_is_read_only = 0;
  return tensor_from_dlpack(object, 0, out_is_read_only);
}

// The same memory as codes of another plain format: with as many bits, or small ones of whole bytes.
lpt_tensor *tensor_reinterpret(const lpt_tensor *given, lpt_format format) {
  lpt_tensor *tensor = NULL, *pattern = NULL;
  void *source = NULL, *wanted = NULL;
  lpt_tensor_description found;
  int elements = 1, bytes = 1;
  lpt_context *context = describing_context();
  if (!describe_tensor(given, &found) || !is_well(lpt_tensor_create(context, format, 0, NULL, &pattern))) return NULL;
  // What has no type in DLPack can be a matrix of bytes.
  if (lpt_tensor_to_dlpack(context, pattern, 1, &wanted) != LPT_OK) {
    lpt_tensor_destroy(pattern);
    if (!packing_of(format, &elements, &bytes) || found.rank != 2) {
      PyErr_SetString(PyExc_ValueError, "the format takes matrices of bytes here");
      return NULL;
    }
    const int64_t columns = found.extents[1] / bytes * elements;
    return is_well(lpt_tensor_combine(context, format, found.extents[0], columns, &given, 1, &tensor)) ? tensor : NULL;
  }
  lpt_tensor_destroy(pattern);
  const uint8_t code = ((DlVersioned *)wanted)->array.code, bits = ((DlVersioned *)wanted)->array.bits;
  ((DlVersioned *)wanted)->deleter((DlVersioned *)wanted);
  if (!is_well(lpt_tensor_to_dlpack(context, given, 1, &source))) return NULL;
  DlVersioned *managed = (DlVersioned *)source;
  DlTensor *array = &managed->array;
  packing_of(format, &elements, &bytes);
  const int is_packed = bits < 8 && array->bits == 8 && array->ndim > 0;
  if (!is_packed && array->bits != bits) {
    PyErr_Format(PyExc_ValueError, "elements have %d bits, those of the format %d", array->bits, bits);
    managed->deleter(managed);
    return NULL;
  }
  for (int32_t i = 0; is_packed && i < array->ndim; ++i) {
    if (i == array->ndim - 1) array->shape[i] = array->shape[i] / bytes * elements;
    else array->strides[i] = array->strides[i] / bytes * elements;
  }
  array->code = code;
  array->bits = bits;
  if (is_well(lpt_tensor_take_dlpack(context, managed, 1, NULL, &tensor))) return tensor;
  managed->deleter(managed);
  return NULL;
}

// A context, with the library's reason where there can be none.
lpt_context *context_of(const lpt_context_options *given) {
  char text[512] = "";
  lpt_context_options options = *given;
  lpt_context *context = NULL;
  options.error_text = text;
  options.error_text_bytes = sizeof text;
  const lpt_status status = lpt_context_create(&options, &context);
  if (status != LPT_OK) raise_status(status, text);
  return context;
}

// Zeros in memory of the library.
lpt_tensor *tensor_empty(int32_t rank, const int64_t *shape, lpt_format format) {
  lpt_tensor *tensor = NULL;
  return is_well(lpt_tensor_create(describing_context(), format, rank, shape, &tensor)) ? tensor : NULL;
}

// Zeros of another tensor's shape; 'is_transposed' 1: of its matrix, transposed.
lpt_tensor *tensor_like(const lpt_tensor *given, lpt_format format, int is_transposed) {
  lpt_tensor_description found;
  lpt_tensor *tensor = NULL;
  if (!describe_tensor(given, &found)) return NULL;
  if (!is_transposed) return tensor_empty(found.rank, found.extents, format);
  int64_t extents[2] = {found.rank > 0 ? found.extents[found.rank - 1] : 1, 1};
  for (int32_t i = 0; i + 1 < found.rank; ++i) extents[1] *= found.extents[i];
  return is_well(lpt_tensor_create(describing_context(), format, 2, extents, &tensor)) ? tensor : NULL;
}

// A tensor of memory that somebody else keeps.
lpt_tensor *tensor_at(void *data, lpt_format format, int32_t rank, const int64_t *shape, const int64_t *steps) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  lpt_tensor *tensor = NULL;
  description.format = format;
  description.data = data;
  description.rank = rank;
  description.extents = shape;
  description.strides = steps;
  return is_well(lpt_tensor_wrap(describing_context(), &description, &tensor)) ? tensor : NULL;
}

// (format, shape, strides, address)
PyObject *tensor_facts(const lpt_tensor *given) {
  lpt_tensor_description found;
  if (!describe_tensor(given, &found)) return NULL;
  return Py_BuildValue("LNNN", (long long)found.format, tuple_of(found.extents, found.rank),
                       tuple_of(found.strides, found.rank), PyLong_FromVoidPtr(found.data));
}

lpt_format tensor_format(const lpt_tensor *given) {
  lpt_tensor_description found;
  return describe_tensor(given, &found) ? found.format : LPT_FORMAT_NONE;
}

PyObject *tensor_capsule(const lpt_tensor *given, int is_versioned, int is_marked) {
  void *managed = NULL;
  if (!is_well(lpt_tensor_to_dlpack(describing_context(), given, is_versioned, &managed))) return NULL;
  if (is_versioned && is_marked) ((DlVersioned *)managed)->flags |= LPT_DLPACK_READ_ONLY;
  return PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor", end_capsule);
}

// Python's own class for tensors, which all functions return from then on.
void set_tensor_class(PyObject *object) {
  Py_INCREF(object);
  tensor_class = (PyTypeObject *)object;
}
%}
