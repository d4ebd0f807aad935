// The low-level module: every function, constant and struct of lpt.h under its own name. Statuses become exceptions, handles and
// numbers that are returned come back as results, counted arrays are sequences. Structs of answers are arguments, as in C.
%module(package="lpt", threads="1") capi
%nothread;

%{
#define PY_SSIZE_T_CLEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lpt/research.h"
%}

%include "stdint.i"
%include "errors.i"
%include "scalars.i"
%include "arrays.i"
%include "callbacks.i"

// A kind of handle: owned by its Python object, which a destroy function empties. Kinds are classes without members.
%define LPT_HANDLE(kind)
%nodefaultctor kind;
struct kind {};
%extend kind { ~kind() { kind##_destroy($self); } }
%typemap(in) kind *, const kind * {
  if (SWIG_ConvertPtr($input, (void **)&$1, $descriptor(kind *), 0) < 0) {
    raise_kind("$1_name", $input, #kind " or None");
    SWIG_fail;
  }
}
// For destroy functions: the object is empty after the call.
%typemap(in) kind *DESTROYED {
  const int result = SWIG_ConvertPtr($input, (void **)&$1, $descriptor(kind *), SWIG_POINTER_RELEASE);
  if (result < 0 && result != SWIG_ERROR_RELEASE_NOT_OWNED) {
    raise_kind("$1_name", $input, #kind);
    SWIG_fail;
  }
  if (result < 0) $1 = NULL;
}
%feature("docstring") kind##_destroy "Ends a handle: its object is empty then, as None is.";
void kind##_destroy(kind *DESTROYED);
%typemap(in, numinputs=0) kind ** (kind *made = NULL) { $1 = &made; }
%typemap(argout) kind ** {
  $result = SWIG_Python_AppendOutput($result, handle_object(*$1, $descriptor(kind *)));
}
// An array of handles is nothing that is returned.
%typemap(argout) kind *const *, const kind *const *, (kind *const *HANDLES, int64_t COUNT),
                 (const kind *const *HANDLES, int64_t COUNT) "";
%typemap(in) kind *const *HANDLES, const kind *const *HANDLES {
  if (!handles_from($input, "$symname", $descriptor(kind *), (void ***)&$1, NULL)) SWIG_fail;
}
%typemap(freearg) kind *const *HANDLES, const kind *const *HANDLES { free((void *)$1); }
%typemap(in) (kind *const *HANDLES, int64_t COUNT), (const kind *const *HANDLES, int64_t COUNT) {
  int64_t count = 0;
  if (!handles_from($input, "$symname", $descriptor(kind *), (void ***)&$1, &count)) SWIG_fail;
  $2 = ($2_ltype)count;
}
%typemap(freearg) (kind *const *HANDLES, int64_t COUNT), (const kind *const *HANDLES, int64_t COUNT) { free((void *)$1); }
%enddef

// A struct: a new one holds the defaults of lpt_struct_init(). Handles and structs in it are borrowed, as in C: SWIG's own way
// would take a struct from its object, and nobody would free it.
%define LPT_STRUCT(name)
%immutable name::struct_size;
%typemap(in) const name * {
  if (SWIG_ConvertPtr($input, (void **)&$1, $descriptor(name *), 0) < 0) {
    raise_kind("$1_name", $input, #name " or None");
    SWIG_fail;
  }
}
%extend name {
  name() {
    name *made = (name *)malloc(sizeof(name));
    if (made != NULL) lpt_struct_init(#name, made, sizeof(name));
    return made;
  }
  ~name() { free($self); }
}
%enddef

// A flag: what is made by UINT64_C is no constant to SWIG.
%define LPT_FLAG(name)
%constant unsigned long long name = name;
%enddef

// The buffer protocol, from tensor.i; features come before what they are of.
%feature("python:bf_getbuffer") lpt_tensor "lend_tensor";
%feature("python:bf_releasebuffer") lpt_tensor "take_back";
// A comm's destruction joins its thread, which may call a codec in Python.
%thread lpt_comm_destroy;
%thread lpt_comm::~lpt_comm;
// A line for each handle, struct and flag of the headers (tools/header_model.py).
%include "declared.i"

// Memory that Python has no way to lend for longer than a call; new_context() takes the place of the text's room.
%immutable lpt_context_options::error_text;

%include "tensor.i"

// Collectives return a future if they are asked for one, by a last argument that is true.
%typemap(in) lpt_future **out_future (lpt_future *made = NULL) { $1 = PyObject_IsTrue($input) == 1 ? &made : NULL; }
%typemap(argout) lpt_future **out_future {
  if ($1 != NULL) {
    $result = SWIG_Python_AppendOutput($result, handle_object(*$1, $descriptor(lpt_future *)));
  }
}

LPT_APPLY_ARRAYS

// Every call of the library lets other Python threads run.
%thread;
%include "lpt.h"
