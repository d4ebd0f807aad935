// To Python: the buffer protocol and DLPack capsules of plain tensors, without a copy.
%{
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

static int refuse_buffer(Py_buffer *view, Lent *lent, const char *reason) {
  free(lent);
  view->obj = NULL;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, reason);
  return -1;
}

// Whether the tensor is one run of elements: packed weights have no parts, and what has scales has more than one.
static int is_plain(const lpt_tensor *tensor, lpt_format format) {
  lpt_tensor *part = NULL;
  lpt_tensor_description payload;
  if (!is_well(lpt_tensor_view_part(describing_context(), tensor, LPT_TENSOR_PART_PAYLOAD, &part))) return 0;
  const int is_same = describe_tensor(part, &payload) && payload.format == format;
  lpt_tensor_destroy(part);
  return is_same;
}

// What the taker cannot do without may be asked for: strides, shape, format, one piece.
static const char *refusal_of(Py_buffer *view, int flags) {
  const int is_c = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS;
  const int is_fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  const int is_either = (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  const int is_strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES && !is_c && !is_fortran && !is_either;
  if (view->buf == NULL && view->len > 0) return "the tensor has no data";
  if ((flags & PyBUF_WRITABLE) != 0 && view->readonly) return "the tensor is read-only";
  if (!is_strided && !PyBuffer_IsContiguous(view, is_fortran ? 'F' : 'C')) return "rows with gaps: ask for strides";
  if ((flags & PyBUF_FORMAT) == 0) view->format = NULL;
  if ((flags & PyBUF_ND) == 0) view->shape = NULL;
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) view->strides = NULL;
  return NULL;
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
  if (!describe_tensor((lpt_tensor *)handle, &found) || !is_plain((lpt_tensor *)handle, found.format) ||
      !packing_of(found.format, &elements, &bytes)) {
    return refuse_buffer(view, lent, "a tensor with scales is more than one buffer: take its parts");
  }
  if (found.device != LPT_DEVICE_CPU) {
    return refuse_buffer(view, lent, "the tensor lies in memory of a GPU: copy it with lpt.tensor_copy()");
  }
  fill_lent(&found, elements, bytes, lent, view);
  view->buf = found.data;
  view->readonly = (found.flags & LPT_TENSOR_READ_ONLY) != 0;
  view->suboffsets = NULL;
  view->internal = lent;
  const char *reason = refusal_of(view, flags);
  if (reason != NULL) return refuse_buffer(view, lent, reason);
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
