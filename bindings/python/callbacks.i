// Callables for the log and for progress. Who sets one keeps it alive for as long as it is set: lpt.Context does.
%{
static void call_log(void *user, lpt_log_level level, const char *text) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *result = PyErr_Occurred() ? NULL : PyObject_CallFunction((PyObject *)user, "is", (int)level, text);
  Py_XDECREF(result);
  PyGILState_Release(state);  // an exception stays, and is raised when the call returns
}

static int32_t call_progress(void *user, int64_t done, int64_t whole) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int32_t is_stopped = 1;
  if (!PyErr_Occurred()) {
    PyObject *result = PyObject_CallFunction((PyObject *)user, "LL", (long long)done, (long long)whole);
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
