// Scalars: conversion of integers, floats, texts and handles. Errors name the argument: "name is value: expected X".
%{
// An object from lpt_tensor.__new__(lpt_tensor) has no type and no handle: SWIG would dereference a null pointer.
static int pointer_from(PyObject *object, void **out, swig_type_info *kind, int flags) {
  const SwigPyObject *found = SWIG_Python_GetSwigThis(object);
  if (found != NULL && found->ty == NULL) return SWIG_TypeError;
  return SWIG_Python_ConvertPtr(object, out, kind, flags);
}
#undef SWIG_ConvertPtr
#define SWIG_ConvertPtr(object, out, kind, flags) pointer_from(object, out, kind, flags)

static void raise_kind(const char *name, PyObject *object, const char *expected) {
  const SwigPyObject *found = SWIG_Python_GetSwigThis(object);
  if (found != NULL && found->ty == NULL) {
    PyErr_Format(PyExc_TypeError, "%s is an empty %.100s: expected %s", name, Py_TYPE(object)->tp_name, expected);
  } else {
    PyErr_Format(PyExc_TypeError, "%s is %.80R: expected %s", name, object, expected);
  }
}

// Converts an object with __index__, such as numpy.int64, to an integer. NULL: an exception is set.
static PyObject *index_of(PyObject *object, const char *name) {
  PyObject *number = PyNumber_Index(object);
  if (number == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) raise_kind(name, object, "an integer");
  return number;
}

static int signed_from(PyObject *object, const char *name, long long first, long long last, long long *out) {
  int overflow = 0;
  PyObject *number = index_of(object, name);
  if (number == NULL) return 0;
  *out = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  if (overflow == 0 && *out >= first && *out <= last) return 1;
  PyErr_Format(PyExc_OverflowError, "%s is %.80R: expected %lld to %lld", name, object, first, last);
  return 0;
}

static int unsigned_from(PyObject *object, const char *name, unsigned long long last, unsigned long long *out) {
  PyObject *number = index_of(object, name);
  if (number == NULL) return 0;
  *out = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (!PyErr_Occurred() && *out <= last) return 1;
  PyErr_Format(PyExc_OverflowError, "%s is %.80R: expected 0 to %llu", name, object, last);
  return 0;
}

static int double_from(PyObject *object, const char *name, double *out) {
  *out = PyFloat_AsDouble(object);
  if (*out != -1.0 || !PyErr_Occurred()) return 1;
  if (PyErr_ExceptionMatches(PyExc_TypeError)) raise_kind(name, object, "a number");
  return 0;
}

// *out is 1 for a value that equals True, and 0 for one that equals False, and for None.
static int flag_from(PyObject *object, const char *name, int *out) {
  *out = PyObject_RichCompareBool(object, Py_True, Py_EQ);
  if (*out == 1 || object == Py_None) return 1;
  const int is_false = *out < 0 ? -1 : PyObject_RichCompareBool(object, Py_False, Py_EQ);
  if (is_false == 0) raise_kind(name, object, "True or False");
  return is_false == 1;
}

// A C string ends at its first zero byte, so that texts must not contain one.
static int text_from(PyObject *object, const char *name, const char **out) {
  Py_ssize_t size = 0;
  *out = NULL;
  if (object == Py_None) return 1;
  if (!PyUnicode_Check(object)) return raise_kind(name, object, "a str"), 0;
  *out = PyUnicode_AsUTF8AndSize(object, &size);
  if (*out == NULL || strlen(*out) == (size_t)size) return *out != NULL;
  PyErr_Format(PyExc_ValueError, "%s is %.80R: expected a str without null characters", name, object);
  return 0;
}
%}

%typemap(in) int32_t, int {
  long long number = 0;
  if (!signed_from($input, "$1_name", INT32_MIN, INT32_MAX, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(in) int64_t {
  long long number = 0;
  if (!signed_from($input, "$1_name", INT64_MIN, INT64_MAX, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(in) uint32_t {
  unsigned long long number = 0;
  if (!unsigned_from($input, "$1_name", UINT32_MAX, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(in) uint64_t, size_t {
  unsigned long long number = 0;
  if (!unsigned_from($input, "$1_name", UINT64_MAX, &number)) SWIG_fail;
  $1 = ($1_ltype)number;
}
%typemap(in) double {
  if (!double_from($input, "$1_name", &$1)) SWIG_fail;
}
%typemap(in) float {
  double number = 0;
  if (!double_from($input, "$1_name", &number)) SWIG_fail;
  $1 = (float)number;
}
%typemap(in) const char * {
  if (!text_from($input, "$1_name", (const char **)&$1)) SWIG_fail;
}
%typemap(freearg) const char * "";
