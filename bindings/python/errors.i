// Statuses: a status other than LPT_OK raises the exception class of the package for it, with the error text of the library.
%{
static PyObject *error_classes;  // tuple of exception classes, indexed by status

static void raise_status(lpt_status status, const char *text) {
  PyObject *kind = PyExc_RuntimeError;
  if (error_classes != NULL && status > 0 && status < PyTuple_Size(error_classes)) {
    kind = PyTuple_GetItem(error_classes, status);
  }
  // While a context is in use, its text belongs to the other call.
  if (status == LPT_BUSY) text = NULL;
  PyErr_SetString(kind, text != NULL && text[0] != '\0' ? text : lpt_status_string(status));
}
%}

%inline %{
// Sets the exception classes, indexed by status.
static void set_error_classes(PyObject *classes) {
  Py_INCREF(classes);
  Py_XDECREF(error_classes);
  error_classes = classes;
}
%}

// The first argument of every function that can fail is the context, which holds the error text.
%typemap(out) lpt_status {
  if (PyErr_Occurred()) SWIG_fail;
  if ($1 != LPT_OK) {
    raise_status($1, lpt_context_error(arg1));
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
%define LPT_WITHOUT_CONTEXT(function)
%typemap(out) lpt_status function {
  if ($1 != LPT_OK) {
    raise_status($1, NULL);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
%enddef
LPT_WITHOUT_CONTEXT(lpt_context_create)
// Functions of formats are called without a context, for example in a callback; the text is written here.
%define LPT_OF_FORMAT(function)
%typemap(out) lpt_status function {
  if ($1 != LPT_OK) {
    char text[128];
    snprintf(text, sizeof text, "format is %lld: expected a value of lpt_format or of format_from_description()",
             (long long)arg2);
    raise_status($1, text);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
%enddef
LPT_OF_FORMAT(lpt_format_describe)
LPT_OF_FORMAT(lpt_format_write_name)
LPT_OF_FORMAT(lpt_format_write_text)
%{
static lpt_context *describing_context(void);

// Raises the exception for an unknown name of a format. The text is that of another context, since names are also read in
// callbacks, while the context of the thread is in use.
static void raise_format_name(lpt_status status, const char *name) {
  static const char argument[] = "name";
  lpt_format format = LPT_FORMAT_NONE;
  lpt_context *context = describing_context();
  if (context == NULL) return;
  lpt_format_from_name(context, name, &format);
  const char *text = lpt_context_error(context);
  if (strncmp(text, argument, sizeof argument - 1) == 0) text += sizeof argument - 1;
  PyObject *kind = error_classes != NULL ? PyTuple_GetItem(error_classes, status) : PyExc_RuntimeError;
  PyErr_Format(kind, "format%s; lpt.formats() lists the names", text);
}
%}
%typemap(out) lpt_status lpt_format_from_name {
  if ($1 != LPT_OK) {
    raise_format_name($1, arg2);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
