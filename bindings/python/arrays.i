%{
static PyTypeObject *tensor_class;  // lpt.Tensor, derived from lpt_tensor

// Returns the owner of a new handle. SWIG_NewPointerObj() does not allocate the header of the garbage collector that objects of
// a Python class need.
static PyObject *handle_object(void *handle, swig_type_info *kind) {
  if (handle == NULL || kind != SWIGTYPE_p_lpt_tensor || tensor_class == NULL) {
    return SWIG_Python_NewPointerObj(NULL, handle, kind, SWIG_POINTER_OWN);
  }
  SwigPyObject *made = (SwigPyObject *)tensor_class->tp_alloc(tensor_class, 0);
  if (made == NULL) return NULL;
  made->ptr = handle;
  made->ty = kind;
  made->own = SWIG_POINTER_OWN;
  return (PyObject *)made;
}
%}

// Arrays: conversion of sequences and buffers to pointers and counts of C. LPT_CHECK_BEFORE() checks the length of an array without
// a count. Each array has a spare element, because calloc(0) may return NULL.
%{
// Returns the items of a sequence. They are a tuple, as the conversion of an item may run code that changes the sequence.
static PyObject *items_of(PyObject *object, const char *expected) {
  PyObject *items = PySequence_Tuple(object);
  if (items == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_SetString(PyExc_TypeError, expected);
  return items;
}

// Checks that two arrays of one call have one length. `count` is that of `other`, which the library gets.
static int check_count(const char *name, int64_t found, const char *other, int64_t count) {
  if (found == count) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %lld items: expected %lld, as %s", name, (long long)found, (long long)count, other);
  return 0;
}

// Checks that a buffer has memory for an array of the length that the library gets.
static int check_buffer(const char *name, Py_ssize_t bytes, int64_t count, size_t item_bytes) {
  if (count <= (int64_t)((size_t)bytes / item_bytes)) return 1;
  PyErr_Format(PyExc_ValueError, "%s has %zd bytes: expected %zu for each of %lld items", name, bytes, item_bytes, (long long)count);
  return 0;
}

// Checks the number of errors of lpt_format_choose(). The library checks the range of the counts.
static int check_candidates(int64_t errors, int64_t tensors, int64_t candidates) {
  if (tensors < 0 || candidates < 1 || (errors % candidates == 0 && errors / candidates == tensors)) return 1;
  PyErr_Format(PyExc_ValueError, "errors has %lld items: expected %lld x %lld", (long long)errors, (long long)tensors,
               (long long)candidates);
  return 0;
}

// Checks the length of times [ranks][steps][micro_batches]. The library checks the extents.
static int check_times(int64_t found, int32_t ranks, int64_t steps, int32_t micro_batches) {
  if ((double)found == (double)ranks * (double)steps * (double)micro_batches) return 1;
  PyErr_Format(PyExc_ValueError, "seconds has %lld items: expected ranks x steps x micro_batches, %d x %lld x %d",
               (long long)found, (int)ranks, (long long)steps, (int)micro_batches);
  return 0;
}

// *out is NULL for None.
static int numbers_from(PyObject *object, int64_t **out, int64_t *out_count) {
  *out = NULL;
  *out_count = 0;
  if (object == Py_None) return 1;
  PyObject *list = items_of(object, "expected a sequence of numbers");
  if (list == NULL) return 0;
  const Py_ssize_t count = PyTuple_GET_SIZE(list);
  int64_t *numbers = (int64_t *)calloc((size_t)count + 1, sizeof(int64_t));
  for (Py_ssize_t i = 0; numbers != NULL && i < count; ++i) {
    numbers[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(list, i));
    if (numbers[i] == -1 && PyErr_Occurred()) {
      free(numbers);
      Py_DECREF(list);
      return 0;
    }
  }
  Py_DECREF(list);
  if (numbers == NULL) return PyErr_NoMemory(), 0;
  *out = numbers;
  *out_count = count;
  return 1;
}

static int doubles_from(PyObject *object, double **out, int64_t *out_count) {
  PyObject *list = items_of(object, "expected a sequence of numbers");
  if (list == NULL) return 0;
  const Py_ssize_t count = PyTuple_GET_SIZE(list);
  double *numbers = (double *)calloc((size_t)count + 1, sizeof(double));
  for (Py_ssize_t i = 0; numbers != NULL && i < count; ++i) numbers[i] = PyFloat_AsDouble(PyTuple_GET_ITEM(list, i));
  Py_DECREF(list);
  if (numbers == NULL) return PyErr_NoMemory(), 0;
  *out = numbers;
  *out_count = count;
  return PyErr_Occurred() == NULL;
}

static int handles_from(PyObject *object, const char *symbol, swig_type_info *kind, void ***out, int64_t *out_count) {
  PyObject *list = items_of(object, "expected a sequence of handles");
  if (list == NULL) return 0;
  const Py_ssize_t count = PyTuple_GET_SIZE(list);
  void **handles = (void **)calloc((size_t)count + 1, sizeof(void *));
  int is_good = handles != NULL;
  if (!is_good) PyErr_NoMemory();
  for (Py_ssize_t i = 0; is_good && i < count; ++i) {
    PyObject *item = PyTuple_GET_ITEM(list, i);
    if (SWIG_ConvertPtr(item, &handles[i], kind, 0) < 0) {
      PyErr_Format(PyExc_TypeError, "%s: item %zd is %.100s: expected another kind of handle", symbol, i,
                   Py_TYPE(item)->tp_name);
      is_good = 0;
    }
  }
  Py_DECREF(list);
  if (!is_good) return free(handles), 0;
  *out = handles;
  *out_count = count;
  return 1;
}
%}

// Arrays of integers and floats.
%typemap(in) const int64_t *NUMBERS (int64_t given = 0) {
  if (!numbers_from($input, (int64_t **)&$1, &given)) SWIG_fail;
}
%typemap(freearg) const int64_t *NUMBERS { free((void *)$1); }
%typemap(in) (const int64_t *NUMBERS, int64_t COUNT) {
  int64_t count = 0;
  if (!numbers_from($input, (int64_t **)&$1, &count)) SWIG_fail;
  $2 = count;
}
%typemap(freearg) (const int64_t *NUMBERS, int64_t COUNT) { free((void *)$1); }
%typemap(in) (int32_t RANK, const int64_t *NUMBERS) {
  int64_t count = 0;
  if (!numbers_from($input, (int64_t **)&$2, &count)) SWIG_fail;
  $1 = (int32_t)count;
}
%typemap(freearg) (int32_t RANK, const int64_t *NUMBERS) { free((void *)$2); }
%typemap(in) const double *NUMBERS (int64_t given = 0) { if (!doubles_from($input, (double **)&$1, &given)) SWIG_fail; }
%typemap(freearg) const double *NUMBERS { free((void *)$1); }
%typemap(in) const double *NUMBERS_OR_NONE (int64_t given = 0) {
  if ($input != Py_None && !doubles_from($input, (double **)&$1, &given)) SWIG_fail;
}
%typemap(freearg) const double *NUMBERS_OR_NONE { free((void *)$1); }
%typemap(in) (const double *NUMBERS, int64_t COUNT) {
  int64_t count = 0;
  if (!doubles_from($input, (double **)&$1, &count)) SWIG_fail;
  $2 = count;
}
%typemap(freearg) (const double *NUMBERS, int64_t COUNT) { free((void *)$1); }

// Buffers that the library writes or reads.
%typemap(in) (void *WRITTEN, size_t BYTES) (Py_buffer buffer_view) {
  if (PyObject_GetBuffer($input, &buffer_view, PyBUF_WRITABLE) != 0) SWIG_fail;
  $1 = buffer_view.buf;
  $2 = (size_t)buffer_view.len;
}
%typemap(arginit) (void *WRITTEN, size_t BYTES) { memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum); }
%typemap(freearg) (void *WRITTEN, size_t BYTES) { PyBuffer_Release(&buffer_view$argnum); }
%typemap(in) (const void *READ, size_t BYTES) (Py_buffer buffer_view) {
  if (PyObject_GetBuffer($input, &buffer_view, PyBUF_SIMPLE) != 0) SWIG_fail;
  $1 = buffer_view.buf;
  $2 = (size_t)buffer_view.len;
}
%typemap(arginit) (const void *READ, size_t BYTES) { memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum); }
%typemap(freearg) (const void *READ, size_t BYTES) { PyBuffer_Release(&buffer_view$argnum); }
%typemap(in) (const void *READ_OR_NONE, size_t BYTES) (Py_buffer buffer_view) {
  if ($input != Py_None && PyObject_GetBuffer($input, &buffer_view, PyBUF_SIMPLE) != 0) SWIG_fail;
  $1 = buffer_view.buf;
  $2 = (size_t)buffer_view.len;
}
%typemap(arginit) (const void *READ_OR_NONE, size_t BYTES) { memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum); }
%typemap(freearg) (const void *READ_OR_NONE, size_t BYTES) { PyBuffer_Release(&buffer_view$argnum); }

// Arrays that the library writes, in buffers.
%define LPT_WRITTEN_ARRAY(type, name)
%typemap(in) type *name (Py_buffer buffer_view) {
  if (PyObject_GetBuffer($input, &buffer_view, PyBUF_WRITABLE) != 0) SWIG_fail;
  $1 = (type *)buffer_view.buf;
}
%typemap(arginit) type *name { memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum); }
%typemap(freearg) type *name { PyBuffer_Release(&buffer_view$argnum); }
%enddef
// The same, or None.
%define LPT_WRITTEN_ARRAY_OR_NONE(type, name)
LPT_WRITTEN_ARRAY(type, name)
%typemap(in) type *name (Py_buffer buffer_view) {
  if ($input != Py_None && PyObject_GetBuffer($input, &buffer_view, PyBUF_WRITABLE) != 0) SWIG_fail;
  $1 = (type *)buffer_view.buf;
}
%enddef
LPT_WRITTEN_ARRAY_OR_NONE(uint8_t, out_arrivals)
LPT_WRITTEN_ARRAY_OR_NONE(int32_t, ages)
LPT_WRITTEN_ARRAY(int32_t, order)
LPT_WRITTEN_ARRAY(int32_t, out_hop_counts)
LPT_WRITTEN_ARRAY(int32_t, out_hops)
LPT_WRITTEN_ARRAY(int64_t, out_choices)
LPT_WRITTEN_ARRAY(double, out_link_seconds)
LPT_WRITTEN_ARRAY(lpt_autopilot_decision, decisions)
LPT_WRITTEN_ARRAY(lpt_topology_link, out_links)
LPT_WRITTEN_ARRAY(lpt_schedule_send, out_sends)

// Arrays of structs that have no struct_size, in buffers.
%define LPT_STRUCT_ARRAY(type, name, count)
%typemap(in) (const type *name, int64_t count) (Py_buffer buffer_view) {
  if (PyObject_GetBuffer($input, &buffer_view, PyBUF_SIMPLE) != 0) SWIG_fail;
  $1 = (type *)buffer_view.buf;
  $2 = (int64_t)((size_t)buffer_view.len / sizeof(type));
}
%typemap(arginit) (const type *name, int64_t count) { memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum); }
%typemap(freearg) (const type *name, int64_t count) { PyBuffer_Release(&buffer_view$argnum); }
%enddef
LPT_STRUCT_ARRAY(lpt_autopilot_decision, decisions, decision_count)
LPT_STRUCT_ARRAY(lpt_topology_link, links, link_count)
LPT_STRUCT_ARRAY(lpt_schedule_send, sends, send_count)

// Checks before a call that need several arguments.
%define LPT_CHECK_BEFORE(function, checks)
%exception function {
  if (!(checks)) SWIG_fail;
  $action
}
%enddef
LPT_CHECK_BEFORE(lpt_tensor_view, check_axes("begins", given3, arg2) && check_axes("extents", given4, arg2))
LPT_CHECK_BEFORE(lpt_weights_order, check_order("order", arg2, 1, buffer_view4.len))
LPT_CHECK_BEFORE(lpt_sparse_order, check_order("order", arg2, 0, buffer_view4.len))
LPT_CHECK_BEFORE(weights_pack, (arg4 == NULL || check_order("output_order", arg2, 1, buffer_view4.len)) &&
                               (arg6 == NULL || check_order("input_order", arg2, 0, buffer_view6.len)))
LPT_CHECK_BEFORE(lpt_reduce_scatter, arg4 == NULL || check_ranks("counts", given4, arg2))
LPT_CHECK_BEFORE(lpt_all_gather, arg4 == NULL || check_ranks("counts", given4, arg2))
LPT_CHECK_BEFORE(lpt_lossy_reduce_scatter, (arg4 == NULL || check_link_ranks("counts", given4, arg2)) &&
                                           (arg6 == NULL || check_link_ranks("loss", given6, arg2)) &&
                                           check_buffer("out_arrivals", buffer_view9.len, arg7, sizeof(uint8_t)))
LPT_CHECK_BEFORE(lpt_lossy_all_gather, (arg4 == NULL || check_link_ranks("counts", given4, arg2)) &&
                                       check_buffer("ages", buffer_view7.len, arg5, sizeof(int32_t)))
LPT_CHECK_BEFORE(lpt_all_to_all, (arg4 == NULL || check_ranks("send_counts", given4, arg2)) &&
                                 (arg5 == NULL || check_ranks("receive_counts", given5, arg2)))
LPT_CHECK_BEFORE(lpt_sequence_gather, arg5 == NULL || check_ranks("row_counts", given5, arg2))
LPT_CHECK_BEFORE(lpt_sequence_scatter, arg6 == NULL || check_ranks("row_counts", given6, arg2))
LPT_CHECK_BEFORE(lpt_optimizer_step, check_count("gradients", given5, "indices", arg4) &&
                                     check_count("parameters", given7, "indices", arg4))
LPT_CHECK_BEFORE(lpt_optimizer_step_shards, check_count("gradients", given6, "indices", arg5) &&
                                            check_count("parameters", given9, "indices", arg5))
LPT_CHECK_BEFORE(lpt_optimizer_add_shards, check_count("names", PyTuple_GET_SIZE(texts4), "parameters", arg6))
LPT_CHECK_BEFORE(lpt_noise_measure, check_count("gradients", given2, "noisy", arg4))
LPT_CHECK_BEFORE(lpt_format_choose, check_count("bytes", given3, "errors", given2) &&
                                    check_candidates(given2, arg4, arg5) &&
                                    check_buffer("out_choices", buffer_view7.len, arg4, sizeof(int64_t)))
LPT_CHECK_BEFORE(lpt_delay_compensate, check_count("own", given2, "mean", arg4) && check_count("gradients", given6, "mean", arg4))
LPT_CHECK_BEFORE(lpt_autopilot_create, check_count("costs", given3, "ladder", given2) &&
                                       check_count("ladder", given2, "level_count", arg4) &&
                                       check_count("work", given5, "layer_count", arg6))
LPT_CHECK_BEFORE(lpt_autopilot_decisions, check_buffer("decisions", buffer_view4.len, arg3, sizeof(lpt_autopilot_decision)))
LPT_CHECK_BEFORE(lpt_cost_fit_link, check_count("bytes", given2, "seconds", arg4))
LPT_CHECK_BEFORE(lpt_topology_links, check_buffer("out_links", buffer_view4.len, arg3, sizeof(lpt_topology_link)))
LPT_CHECK_BEFORE(lpt_schedule_sends, check_buffer("out_sends", buffer_view5.len, arg3, sizeof(lpt_schedule_send)) &&
                                     check_buffer("out_hop_counts", buffer_view6.len, arg3, sizeof(int32_t)) &&
                                     check_buffer("out_hops", buffer_view7.len, arg4, sizeof(int32_t)))
LPT_CHECK_BEFORE(lpt_schedule_simulate, check_buffer("out_link_seconds", buffer_view7.len, arg5, sizeof(double)))
LPT_CHECK_BEFORE(lpt_drop_compute_fit, check_times(given2, arg3, arg4, arg5))

// Names, of which each may be None. The text belongs to the strings of the list.
%typemap(in) const char *const *names (PyObject *texts = NULL) {
  texts = items_of($input, "names: expected a sequence of str or None");
  if (texts == NULL) SWIG_fail;
  const Py_ssize_t count = PyTuple_GET_SIZE(texts);
  const char **names = (const char **)calloc((size_t)count + 1, sizeof(char *));
  if (names == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  $1 = (char **)names;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *name = PyTuple_GET_ITEM(texts, i);
    if (name != Py_None && !text_from(name, "name", &names[i])) SWIG_fail;
  }
}
%typemap(arginit) const char *const *names "$1 = NULL;"
%typemap(freearg) const char *const *names {
  free((void *)$1);
  Py_XDECREF(texts$argnum);
}

// Descriptions of parameters; returns an index for each.
%typemap(in) (const lpt_optimizer_parameter *const *parameters, int64_t count, int64_t *out_indices) {
  int64_t count = 0;
  if (!handles_from($input, "$symname", $descriptor(lpt_optimizer_parameter *), (void ***)&$1, &count)) SWIG_fail;
  $2 = count;
  $3 = (int64_t *)calloc((size_t)count + 1, sizeof(int64_t));
  if ($3 == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
}
%typemap(argout) (const lpt_optimizer_parameter *const *parameters, int64_t count, int64_t *out_indices) {
  PyObject *indices = PyList_New((Py_ssize_t)$2);
  for (int64_t i = 0; indices != NULL && i < $2; ++i) PyList_SET_ITEM(indices, i, PyLong_FromLongLong($3[i]));
  $result = SWIG_Python_AppendOutput($result, indices);
}
%typemap(freearg) (const lpt_optimizer_parameter *const *parameters, int64_t count, int64_t *out_indices) {
  free((void *)$1);
  free($3);
}

// Arrays of buffers that the library reads.
%{
typedef struct {
  int64_t count;  // buffers that were acquired
  Py_buffer *views;
  const void **data;
  size_t *bytes;
} Buffers;

static int buffers_from(PyObject *object, Buffers *buffers) {
  PyObject *list = items_of(object, "expected a sequence of buffers");
  if (list == NULL) return 0;
  const Py_ssize_t count = PyTuple_GET_SIZE(list);
  buffers->views = (Py_buffer *)calloc((size_t)count + 1, sizeof(Py_buffer));
  buffers->data = (const void **)calloc((size_t)count + 1, sizeof(void *));
  buffers->bytes = (size_t *)calloc((size_t)count + 1, sizeof(size_t));
  int is_good = buffers->views != NULL && buffers->data != NULL && buffers->bytes != NULL;
  if (!is_good) PyErr_NoMemory();
  for (Py_ssize_t i = 0; is_good && i < count; ++i) {
    is_good = PyObject_GetBuffer(PyTuple_GET_ITEM(list, i), &buffers->views[i], PyBUF_SIMPLE) == 0;
    if (!is_good) break;
    buffers->data[i] = buffers->views[i].buf;
    buffers->bytes[i] = (size_t)buffers->views[i].len;
    ++buffers->count;
  }
  Py_DECREF(list);
  return is_good;
}

static void end_buffers(Buffers *buffers) {
  for (int64_t i = 0; i < buffers->count; ++i) PyBuffer_Release(&buffers->views[i]);
  free(buffers->views);
  free((void *)buffers->data);
  free(buffers->bytes);
}
%}
%typemap(in) (const void *const *buffers, const size_t *buffer_bytes, int64_t count) (Buffers buffer_view) {
  if (!buffers_from($input, &buffer_view)) SWIG_fail;
  $1 = ($1_ltype)buffer_view.data;
  $2 = buffer_view.bytes;
  $3 = buffer_view.count;
}
%typemap(arginit) (const void *const *buffers, const size_t *buffer_bytes, int64_t count) {
  memset(&buffer_view$argnum, 0, sizeof buffer_view$argnum);
}
%typemap(freearg) (const void *const *buffers, const size_t *buffer_bytes, int64_t count) { end_buffers(&buffer_view$argnum); }

// Addresses are integers in Python.
%typemap(in) void *ADDRESS, const void *ADDRESS {
  $1 = $input == Py_None ? NULL : PyLong_AsVoidPtr($input);
  if ($1 == NULL && PyErr_Occurred()) SWIG_fail;
}
%typemap(in) void *data {
  $1 = $input == Py_None ? NULL : PyLong_AsVoidPtr($input);
  if ($1 == NULL && PyErr_Occurred()) SWIG_fail;
}
%typemap(out) void *data { $result = PyLong_FromVoidPtr($1); }
%typemap(in, numinputs=0) void **out_managed (void *made = NULL) { $1 = &made; }
%typemap(argout) void **out_managed { $result = SWIG_Python_AppendOutput($result, PyLong_FromVoidPtr(*$1)); }

// Returned numbers and texts.
%define LPT_RETURNED(type, name, convert)
%typemap(in, numinputs=0) type *name (type made = 0) { $1 = &made; }
%typemap(argout) type *name { $result = SWIG_Python_AppendOutput($result, convert(*$1)); }
%enddef
LPT_RETURNED(int64_t, out_count, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_given_count, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_change_count, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_index, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_elements, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_element_count, PyLong_FromLongLong)
LPT_RETURNED(int64_t, out_shared_columns, PyLong_FromLongLong)
LPT_RETURNED(lpt_format, out_format, PyLong_FromLongLong)
LPT_RETURNED(lpt_flags, out_flags, PyLong_FromUnsignedLongLong)
LPT_RETURNED(size_t, out_size_bytes, PyLong_FromSize_t)
LPT_RETURNED(int32_t, out_kept, PyLong_FromLong)
LPT_RETURNED(int32_t, out_is_done, PyLong_FromLong)
LPT_RETURNED(int32_t, out_is_same, PyLong_FromLong)
LPT_RETURNED(double, out_bits, PyFloat_FromDouble)
LPT_RETURNED(double, out_seconds, PyFloat_FromDouble)
LPT_RETURNED(double, out_magnitude, PyFloat_FromDouble)
LPT_RETURNED(double, out_flips, PyFloat_FromDouble)
%typemap(in, numinputs=0) const char **out_name (char *made = NULL) { $1 = &made; }
%typemap(argout) const char **out_name {
  PyObject *name = *$1 != NULL ? PyUnicode_FromString(*$1) : SWIG_Py_Void();
  // SWIG_Python_AppendOutput() treats None as no result.
  $result = *$1 != NULL ? SWIG_Python_AppendOutput($result, name) : name;
}
%typemap(in, numinputs=0) (char *buffer, size_t buffer_bytes, size_t *out_needed_bytes) (char text[4096]) {
  $1 = text;
  $2 = sizeof text;
  $3 = NULL;
}
%typemap(argout) (char *buffer, size_t buffer_bytes, size_t *out_needed_bytes) {
  $result = SWIG_Python_AppendOutput($result, PyUnicode_DecodeUTF8($1, (Py_ssize_t)strlen($1), "ignore"));
}

// A Fortran handle of an MPI communicator, or None.
%typemap(in) const int32_t *fortran_handle (int32_t handle) {
  handle = $input == Py_None ? 0 : (int32_t)PyLong_AsLong($input);
  if (PyErr_Occurred()) SWIG_fail;
  $1 = $input == Py_None ? NULL : &handle;
}

%define LPT_APPLY_ARRAYS
%apply (int32_t RANK, const int64_t *NUMBERS) { (int32_t rank, const int64_t *extents) };
%apply const int64_t *NUMBERS { const int64_t *begins, const int64_t *extents, const int64_t *counts,
                                const int64_t *send_counts, const int64_t *receive_counts, const int64_t *row_counts,
                                const int64_t *bytes };
%apply (const int64_t *NUMBERS, int64_t COUNT) { (const int64_t *indices, int64_t count) };
%apply const double *NUMBERS { const double *bytes, const double *errors, const double *seconds, const double *costs,
                               const double *work };
%apply const double *NUMBERS_OR_NONE { const double *loss };
%apply (const double *NUMBERS, int64_t COUNT) { (const double *seconds, int64_t count) };
%apply (void *WRITTEN, size_t BYTES) { (void *buffer, size_t buffer_bytes) };
%apply (const void *READ, size_t BYTES) { (const void *buffer, size_t buffer_bytes) };
%apply (const int64_t *NUMBERS, int64_t COUNT) { (const int64_t *extents, int32_t extent_count) };
%apply void *ADDRESS { void *managed, void *stream, void *event, void *nccl_comm };
%typemap(out) void *lpt_context_stream "$result = PyLong_FromVoidPtr($1);"
%apply const void *ADDRESS { const void *managed };
%apply (const lpt_tensor *const *HANDLES, int64_t COUNT) { (const lpt_tensor *const *parts, int32_t part_count),
                                                           (const lpt_tensor *const *gradients, int64_t count),
                                                           (const lpt_tensor *const *noisy, int64_t count),
                                                           (const lpt_tensor *const *mean, int64_t count) };
%apply (lpt_tensor *const *HANDLES, int64_t COUNT) { (lpt_tensor *const *tensors, int64_t count),
                                                     (lpt_tensor *const *gradients, int64_t count) };
%apply (lpt_scaler *const *HANDLES, int64_t COUNT) { (lpt_scaler *const *scalers, int64_t scaler_count) };
%apply (lpt_linear *const *HANDLES, int64_t COUNT) { (lpt_linear *const *linears, int64_t linear_count) };
%apply const lpt_recipe *const *HANDLES { const lpt_recipe *const *ladder };
%apply const lpt_tensor *const *HANDLES { const lpt_tensor *const *gradients, const lpt_tensor *const *own };
%apply lpt_tensor *const *HANDLES { lpt_tensor *const *parameters, lpt_tensor *const *gradients };
%enddef
