// Conversion of tensors between Python and C, and the functions of the package that create and describe tensors. These
// functions are short and hold the GIL, which also protects the shared context that describes tensors.
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

enum { kMaxAxes = 8 };

enum { kMaxDevices = 64, kDlCpu = 1, kDlCuda = 2, kDlReadOnly = 1 };

// Returns the CPU context that describes all tensors.
static lpt_context *describing_context(void) {
  static lpt_context *context;
  if (context == NULL) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    if (lpt_context_create(&options, &context) != LPT_OK) PyErr_NoMemory();
  }
  return context;
}

static int is_well_in(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return 1;
  if (!PyErr_Occurred()) raise_status(status, lpt_context_error(context));
  return 0;
}

static int is_well(lpt_status status) { return is_well_in(describing_context(), status); }

// Returns the context that wraps an array of DLPack: memory of a GPU requires a context on that GPU.
static lpt_context *wrapping_context(const DlTensor *array) {
  static lpt_context *contexts[kMaxDevices];
  const int32_t index = array->device_id;
  if (array->device_type != kDlCuda || index < 0 || index >= kMaxDevices) return describing_context();
  if (contexts[index] == NULL) {
    char text[512] = "";
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.device = LPT_DEVICE_CUDA;
    options.device_index = index;
    options.error_text = text;
    options.error_text_bytes = sizeof text;
    const lpt_status status = lpt_context_create(&options, &contexts[index]);
    if (status != LPT_OK) raise_status(status, text);
  }
  return contexts[index];
}

static int describe_tensor(const lpt_tensor *tensor, lpt_tensor_description *out) {
  *out = (lpt_tensor_description)LPT_TENSOR_DESCRIPTION_INIT;
  return is_well(lpt_tensor_describe(describing_context(), tensor, out));
}

// Checks of arrays whose length follows from a handle. The library returns an error for a handle that is NULL.
static int check_order(const char *name, const lpt_tensor *matrix, int is_of_rows, Py_ssize_t bytes) {
  lpt_tensor_description found;
  if (matrix == NULL) return 1;
  if (!describe_tensor(matrix, &found)) return 0;
  const int32_t axis = found.rank - (is_of_rows ? 2 : 1);
  const int64_t needed = (axis >= 0 ? found.extents[axis] : 1) * (int64_t)sizeof(int32_t);
  if (bytes >= needed) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %zd bytes: expected at least %lld, one int32 for each %s", name, bytes,
               (long long)needed, is_of_rows ? "row" : "column");
  return 0;
}

static int check_axes(const char *name, int64_t count, const lpt_tensor *tensor) {
  lpt_tensor_description found;
  if (tensor == NULL) return 1;
  if (!describe_tensor(tensor, &found)) return 0;
  if (count == found.rank) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %lld numbers: expected %d, one for each axis", name, (long long)count, (int)found.rank);
  return 0;
}

static int check_count_of_ranks(const char *name, int64_t count, int32_t rank_count) {
  if (count == rank_count) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %lld numbers: expected %d, one for each rank", name, (long long)count,
               (int)rank_count);
  return 0;
}

static int check_ranks(const char *name, int64_t count, const lpt_comm *comm) {
  lpt_comm_info found = LPT_COMM_INFO_INIT;
  if (comm == NULL) return 1;
  if (!is_well(lpt_comm_read(describing_context(), comm, &found))) return 0;
  return check_count_of_ranks(name, count, found.rank_count);
}

static int check_link_ranks(const char *name, int64_t count, const lpt_lossy_link *link) {
  lpt_lossy_link_info found = LPT_LOSSY_LINK_INFO_INIT;
  if (link == NULL) return 1;
  if (!is_well(lpt_lossy_link_read(describing_context(), link, -1, &found))) return 0;
  return check_count_of_ranks(name, count, found.rank_count);
}

// Returns the packing of a format: *out_elements elements take *out_bytes bytes.
static int packing_of(lpt_format format, int *out_elements, int *out_bytes) {
  static const int elements_of_bits[] = {0, 8, 4, 8, 2, 8, 4, 8};
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  if (lpt_format_describe(NULL, format, &description) != LPT_OK) return 0;
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
%}

%include "tensor_from.i"
%include "tensor_to.i"

%typemap(in) PyObject *object { $1 = $input; }
%typemap(out) lpt_tensor *NEW { if ($1 == NULL) SWIG_fail; $result = handle_object($1, $descriptor(lpt_tensor *)); }
%apply lpt_tensor *NEW { lpt_tensor *tensor_from_object, lpt_tensor *tensor_from_producer, lpt_tensor *tensor_reinterpret,
                         lpt_tensor *tensor_empty, lpt_tensor *tensor_like, lpt_tensor *tensor_at };
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
    PyErr_SetString(PyExc_ValueError, "$symname: options is None: expected lpt_context_options");
    SWIG_fail;
  }
}
%immutable lpt_tensor_description::extents;
%immutable lpt_tensor_description::strides;

%inline %{
// Creates a tensor that wraps a buffer or a DLPack producer, and keeps it alive. 'use' 0: share the memory. 1: share and write
// it. 2: read it, from a dense copy if its strides are not those of a matrix. 3: read it in a GEMM, from a dense copy likewise.
lpt_tensor *tensor_from_object(PyObject *object, int use) {
  return PyObject_CheckBuffer(object) ? tensor_from_buffer(object, use) : tensor_from_dlpack(object, use);
}

// Creates a tensor that wraps a DLPack producer, without the buffer protocol.
lpt_tensor *tensor_from_producer(PyObject *object, int use) { return tensor_from_dlpack(object, use); }

%}

%{
static lpt_tensor *raise_format(lpt_format format, const char *expected) {
  char name[128] = "";
  lpt_format_write_name(NULL, format, name, sizeof name, NULL);
  PyErr_Format(PyExc_ValueError, "format is %s: expected %s", name, expected);
  return NULL;
}

// Returns whether the bytes of the last axis are a multiple of a pack of elements; if not, sets an exception.
static int check_row_bytes(lpt_format format, int64_t count, int bytes, int elements) {
  if (count % bytes == 0) return 1;
  char name[128] = "";
  lpt_format_write_name(NULL, format, name, sizeof name, NULL);
  PyErr_Format(PyExc_ValueError, "data has %lld bytes per row: expected a multiple of %d, which hold %d elements of %s",
               (long long)count, bytes, elements, name);
  return 0;
}
%}

%inline %{
// Creates a tensor in the same memory with another format without scales. The elements have the same number of bits, or the
// given ones are bytes of packed elements.
lpt_tensor *tensor_reinterpret(const lpt_tensor *given, lpt_format format) {
  lpt_tensor *tensor = NULL, *pattern = NULL;
  void *source = NULL, *target = NULL;
  lpt_tensor_description found;
  int elements = 1, bytes = 1;
  lpt_context *context = describing_context();
  if (!describe_tensor(given, &found)) return NULL;
  if (lpt_tensor_create(context, format, 0, NULL, &pattern) != LPT_OK) {
    if (!packing_of(format, &elements, &bytes)) return raise_status(LPT_INVALID_ARGUMENT, lpt_context_error(context)), NULL;
    return raise_format(format, "a format without scales and 2:4 indices; quantize() casts values to this one, combine() "
                                "joins its parts");
  }
  // A format without a type in DLPack takes a matrix of bytes.
  if (lpt_tensor_to_dlpack(context, pattern, 1, &target) != LPT_OK) {
    lpt_tensor_destroy(pattern);
    if (!packing_of(format, &elements, &bytes) || found.rank != 2) {
      return raise_format(format, "another format, or data with 2 axes");
    }
    if (!check_row_bytes(format, found.extents[1], bytes, elements)) return NULL;
    const int64_t columns = found.extents[1] / bytes * elements;
    return is_well(lpt_tensor_combine(context, format, found.extents[0], columns, &given, 1, &tensor)) ? tensor : NULL;
  }
  lpt_tensor_destroy(pattern);
  const uint8_t code = ((DlVersioned *)target)->array.code, bits = ((DlVersioned *)target)->array.bits;
  ((DlVersioned *)target)->deleter((DlVersioned *)target);
  if (!is_well(lpt_tensor_to_dlpack(context, given, 1, &source))) return NULL;
  DlVersioned *managed = (DlVersioned *)source;
  DlTensor *array = &managed->array;
  packing_of(format, &elements, &bytes);
  const int is_packed = bits < 8 && array->bits == 8 && array->ndim > 0;
  if (!is_packed && array->bits != bits) {
    PyErr_Format(PyExc_ValueError, "data has elements of %d bits: expected %d, the bits of the format%s", array->bits, bits,
                 bits < 8 ? ", or bytes" : "");
    managed->deleter(managed);
    return NULL;
  }
  for (int32_t i = 0; is_packed && i < array->ndim; ++i) {
    const int is_last = i == array->ndim - 1;
    const int64_t count = is_last ? array->shape[i] : array->shape[i] > 1 ? array->strides[i] : 0;
    if (!check_row_bytes(format, count, bytes, elements)) {
      managed->deleter(managed);
      return NULL;
    }
    if (is_last) array->shape[i] = array->shape[i] / bytes * elements;
    else array->strides[i] = array->strides[i] / bytes * elements;
  }
  array->code = code;
  array->bits = bits;
  lpt_context *wrapping = wrapping_context(array);
  if (wrapping != NULL && is_well_in(wrapping, lpt_tensor_take_dlpack(wrapping, managed, 1, NULL, &tensor))) return tensor;
  managed->deleter(managed);
  return NULL;
}

// Creates a context; an error has the text of the library.
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

// Creates a tensor of zeros on the device of a context; NULL: on the CPU.
lpt_tensor *tensor_empty(lpt_context *worker, int32_t rank, const int64_t *shape, lpt_format format) {
  lpt_tensor *tensor = NULL;
  lpt_context *context = worker != NULL ? worker : describing_context();
  return is_well_in(context, lpt_tensor_create(context, format, rank, shape, &tensor)) ? tensor : NULL;
}

// Creates a tensor of zeros with the shape of another tensor; 'is_transposed' 1: with the shape of its transposed matrix.
lpt_tensor *tensor_like(lpt_context *worker, const lpt_tensor *given, lpt_format format, int is_transposed) {
  lpt_tensor_description found;
  if (!describe_tensor(given, &found)) return NULL;
  if (!is_transposed) return tensor_empty(worker, found.rank, found.extents, format);
  int64_t extents[2] = {found.rank > 0 ? found.extents[found.rank - 1] : 1, 1};
  for (int32_t i = 0; i + 1 < found.rank; ++i) extents[1] *= found.extents[i];
  return tensor_empty(worker, 2, extents, format);
}

// Creates a tensor in memory that the caller keeps alive.
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

// Returns (format, shape, strides, address, device, device_index).
PyObject *tensor_facts(const lpt_tensor *given) {
  lpt_tensor_description found;
  if (!describe_tensor(given, &found)) return NULL;
  return Py_BuildValue("LNNNii", (long long)found.format, tuple_of(found.extents, found.rank),
                       tuple_of(found.strides, found.rank), PyLong_FromVoidPtr(found.data), (int)found.device,
                       (int)found.device_index);
}

lpt_format tensor_format(const lpt_tensor *given) {
  lpt_tensor_description found;
  return describe_tensor(given, &found) ? found.format : LPT_FORMAT_NONE;
}

int tensor_is_read_only(const lpt_tensor *given) {
  lpt_tensor_description found;
  return describe_tensor(given, &found) && (found.flags & LPT_TENSOR_READ_ONLY) != 0;
}

PyObject *tensor_capsule(const lpt_tensor *given, int is_versioned) {
  void *managed = NULL;
  if (!is_well(lpt_tensor_to_dlpack(describing_context(), given, is_versioned, &managed))) return NULL;
  return PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor", end_capsule);
}

// Sets the Python class of the tensors that functions return.
void set_tensor_class(PyObject *object) {
  Py_INCREF(object);
  tensor_class = (PyTypeObject *)object;
}
%}
