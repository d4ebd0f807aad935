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

// Transports: `user` is the TransportCalls of a comm, which owns a reference to it until `close`. Its methods take addresses. They
// return a number, or a status and a text, and raise nothing.
%{
#include <stdarg.h>

static int32_t call_transport(void *user, char *error, size_t error_bytes, int64_t *out_number, const char *method,
                              const char *format, ...) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int32_t status = LPT_ABORTED;
  const char *text = "a callback raised an exception";
  PyObject *result = NULL;
  if (!PyErr_Occurred()) {  // an exception of a log callback is raised when the call returns
    va_list values;
    va_start(values, format);
    PyObject *const arguments = Py_VaBuildValue(format, values);
    va_end(values);
    PyObject *const function = PyObject_GetAttrString((PyObject *)user, method);
    if (arguments != NULL && function != NULL) result = PyObject_CallObject(function, arguments);
    Py_XDECREF(function);
    Py_XDECREF(arguments);
    if (result != NULL && PyLong_Check(result)) {
      status = LPT_OK;
      *out_number = PyLong_AsLongLong(result);
    } else if (result != NULL) {
      PyArg_ParseTuple(result, "is", &status, &text);
    }
    if (PyErr_Occurred()) PyErr_WriteUnraisable((PyObject *)user);
  }
  if (status != LPT_OK && error_bytes > 0) snprintf(error, error_bytes, "%s", text);
  Py_XDECREF(result);
  PyGILState_Release(state);
  return status;
}

static long long address_of(const void *memory) { return (long long)(intptr_t)memory; }

static int32_t start_message(void *user, const char *method, int32_t peer, int32_t tag, const void *data, int64_t bytes,
                             void **out_request, char *error, size_t error_bytes) {
  int64_t request = 0;
  const int32_t status = call_transport(user, error, error_bytes, &request, method, "(iiLL)", (int)peer, (int)tag,
                                        address_of(data), (long long)bytes);
  *out_request = (void *)(intptr_t)request;
  return status;
}

static int32_t transport_send(void *user, int32_t peer, int32_t tag, const void *data, int64_t bytes, void **out_request,
                              char *error, size_t error_bytes) {
  return start_message(user, "send", peer, tag, data, bytes, out_request, error, error_bytes);
}

static int32_t transport_receive(void *user, int32_t peer, int32_t tag, void *data, int64_t bytes, void **out_request,
                                 char *error, size_t error_bytes) {
  return start_message(user, "receive", peer, tag, data, bytes, out_request, error, error_bytes);
}

static int32_t transport_test(void *user, void *request, int32_t *out_is_done, char *error, size_t error_bytes) {
  int64_t is_done = 0;
  const int32_t status = call_transport(user, error, error_bytes, &is_done, "test", "(L)", address_of(request));
  *out_is_done = is_done != 0;
  return status;
}

static int32_t transport_exchange(void *user, void *stream, const void *const *outgoing, const int64_t *outgoing_bytes,
                                  void *const *incoming, const int64_t *incoming_bytes, double timeout_seconds,
                                  char *error, size_t error_bytes) {
  (void)stream;
  int64_t none = 0;
  return call_transport(user, error, error_bytes, &none, "exchange", "(LLLLd)", address_of(outgoing),
                        address_of(outgoing_bytes), address_of(incoming), address_of(incoming_bytes), timeout_seconds);
}

static int32_t transport_all_reduce(void *user, void *stream, const void *input, void *output, int64_t elements,
                                    lpt_format format, lpt_reduction reduction, double timeout_seconds, char *error,
                                    size_t error_bytes) {
  (void)stream;
  int64_t none = 0;
  return call_transport(user, error, error_bytes, &none, "all_reduce", "(LLLLid)", address_of(input), address_of(output),
                        (long long)elements, (long long)format, (int)reduction, timeout_seconds);
}

static void transport_cancel(void *user, void *request) {
  int64_t none = 0;
  call_transport(user, NULL, 0, &none, "cancel", "(L)", address_of(request));
}

static void transport_abort(void *user) {
  int64_t none = 0;
  call_transport(user, NULL, 0, &none, "abort", "()");
}

static void transport_close(void *user) {
  int64_t none = 0;
  call_transport(user, NULL, 0, &none, "close", "()");
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)user);
  PyGILState_Release(state);
}

// Fills `functions` from a TransportCalls: its attributes are a name, and whether the transport has each optional function.
static int transport_of(PyObject *object, lpt_comm_functions *functions) {
  PyObject *const facts = PyObject_CallMethod(object, "facts", NULL);
  const char *name = NULL;
  int has_messages = 0, has_exchange = 0, has_all_reduce = 0, has_abort = 0;
  const int is_read = facts != NULL && PyArg_ParseTuple(facts, "spppp", &name, &has_messages, &has_exchange,
                                                        &has_all_reduce, &has_abort);
  if (is_read) {
    *functions = (lpt_comm_functions)LPT_COMM_FUNCTIONS_INIT;
    memcpy(functions->name, name, strnlen(name, sizeof functions->name));
    if (has_messages) {
      functions->send = transport_send;
      functions->receive = transport_receive;
      functions->test = transport_test;
      functions->cancel = transport_cancel;
    }
    functions->exchange = has_exchange ? transport_exchange : NULL;
    functions->all_reduce = has_all_reduce ? transport_all_reduce : NULL;
    functions->abort = has_abort ? transport_abort : NULL;
    functions->close = transport_close;
  }
  Py_XDECREF(facts);
  return is_read;
}
%}

%typemap(in) (const lpt_comm_functions *functions, void *user) (lpt_comm_functions functions) {
  if (!transport_of($input, &functions)) SWIG_fail;
  $1 = &functions;
  $2 = (void *)$input;
  Py_INCREF($input);  // `close` is called once, also if the call fails
}
