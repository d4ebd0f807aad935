// Callables for log and progress. The caller keeps a callable alive while it is set, as lpt.Context does.
%{
static void call_log(void *user, lpt_log_level level, const char *text) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *result = PyErr_Occurred() ? NULL : PyObject_CallFunction((PyObject *)user, "is", (int)level, text);
  Py_XDECREF(result);
  PyGILState_Release(state);  // a pending exception is raised when the call returns
}

static int32_t call_progress(void *user, int64_t done, int64_t total) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int32_t is_stopped = 1;
  if (!PyErr_Occurred()) {
    PyObject *result = PyObject_CallFunction((PyObject *)user, "LL", (long long)done, (long long)total);
    is_stopped = result == NULL || PyObject_IsTrue(result) != 0;
    Py_XDECREF(result);
  }
  PyGILState_Release(state);
  return is_stopped;
}
%}

%define LPT_CALLBACK(type, argument, trampoline)
%typemap(in) (type argument, void *argument##_user) {
  if ($input != Py_None && !PyCallable_Check($input)) {
    PyErr_Format(PyExc_TypeError, "$symname: " #argument " is %.100s: expected a callable or None",
                 Py_TYPE($input)->tp_name);
    SWIG_fail;
  }
  $1 = $input == Py_None ? NULL : trampoline;
  $2 = $input == Py_None ? NULL : (void *)$input;
}
%enddef
LPT_CALLBACK(lpt_log_function, log, call_log)
LPT_CALLBACK(lpt_progress_function, progress, call_progress)

// Codecs: `user` is the CodecCall of one collective, which is alive until the collective completes. Its methods take addresses,
// store an exception, and return a status.
%{
static int64_t call_codec(void *user, const char *method, const void *first, int64_t count, const void *second) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int64_t number = -1;
  if (!PyErr_Occurred()) {  // an exception of a log callback is raised when the call returns
    PyObject *result = PyObject_CallMethod((PyObject *)user, method, "NLN", PyLong_FromVoidPtr((void *)first),
                                           (long long)count, PyLong_FromVoidPtr((void *)second));
    if (result != NULL) number = PyLong_AsLongLong(result);
    Py_XDECREF(result);
    if (PyErr_Occurred()) PyErr_WriteUnraisable((PyObject *)user);
  }
  PyGILState_Release(state);
  return number;
}

static int64_t codec_bytes_for(void *user, int64_t count) { return call_codec(user, "bytes_for", NULL, count, NULL); }

static int32_t codec_encode(void *user, const float *numbers, int64_t count, void *bytes) {
  return (int32_t)call_codec(user, "encode", numbers, count, bytes);
}

static int32_t codec_decode(void *user, const void *bytes, int64_t count, float *numbers) {
  return (int32_t)call_codec(user, "decode", bytes, count, numbers);
}

static int32_t codec_decode_add(void *user, const void *bytes, int64_t count, float *sum) {
  return (int32_t)call_codec(user, "decode_add", bytes, count, sum);
}
%}

%newobject codec_of;
%inline %{
// Returns a codec whose functions are the methods of `object`, which the caller keeps alive.
lpt_comm_codec *codec_of(const char *codec_name, PyObject *object, int adds) {
  lpt_comm_codec *codec = (lpt_comm_codec *)malloc(sizeof(lpt_comm_codec));
  if (codec == NULL) return PyErr_NoMemory(), NULL;
  *codec = (lpt_comm_codec)LPT_COMM_CODEC_INIT;
  strncpy(codec->name, codec_name, sizeof codec->name - 1);
  codec->bytes_for = codec_bytes_for;
  codec->encode = codec_encode;
  codec->decode = codec_decode;
  codec->decode_add = adds ? codec_decode_add : NULL;
  codec->user = object;
  return codec;
}
%}
