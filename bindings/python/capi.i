// The low-level module: every function, constant and struct of lpt.h under its C name. Statuses become exceptions, output
// handles and numbers become results, and counted arrays become sequences. Info structs are arguments, as in C.
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

// A handle type: a class without members. The Python object owns the handle; a destroy function empties the object.
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
// Argument of destroy functions: the object is empty after the call.
%typemap(in) kind *DESTROYED {
  const int result = SWIG_ConvertPtr($input, (void **)&$1, $descriptor(kind *), SWIG_POINTER_RELEASE);
  if (result < 0 && result != SWIG_ERROR_RELEASE_NOT_OWNED) {
    raise_kind("$1_name", $input, #kind);
    SWIG_fail;
  }
  if (result < 0) $1 = NULL;
}
%feature("docstring") kind##_destroy "Destroys a handle; its object is empty afterwards, and functions treat it as None.";
void kind##_destroy(kind *DESTROYED);
%typemap(in, numinputs=0) kind ** (kind *made = NULL) { $1 = &made; }
%typemap(argout) kind ** {
  $result = SWIG_Python_AppendOutput($result, handle_object(*$1, $descriptor(kind *)));
}
// Arrays of handles are inputs only.
%typemap(argout) kind *const *, const kind *const *, (kind *const *HANDLES, int64_t COUNT),
                 (const kind *const *HANDLES, int64_t COUNT) "";
%typemap(in) kind *const *HANDLES (int64_t given = 0), const kind *const *HANDLES (int64_t given = 0) {
  if (!handles_from($input, "$symname", $descriptor(kind *), (void ***)&$1, &given)) SWIG_fail;
}
%typemap(freearg) kind *const *HANDLES, const kind *const *HANDLES { free((void *)$1); }
%typemap(in) (kind *const *HANDLES, int64_t COUNT), (const kind *const *HANDLES, int64_t COUNT) {
  int64_t count = 0;
  if (!handles_from($input, "$symname", $descriptor(kind *), (void ***)&$1, &count)) SWIG_fail;
  $2 = ($2_ltype)count;
}
%typemap(freearg) (kind *const *HANDLES, int64_t COUNT), (const kind *const *HANDLES, int64_t COUNT) { free((void *)$1); }
%enddef

// A struct: a new one holds the defaults of lpt_struct_init(). It refers to handles and structs in it without ownership, as in
// C. With SWIG's default typemap, a member would take the ownership of a struct and leak it.
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

// The buffer protocol, from tensor.i; features precede the declaration of their class.
%feature("python:bf_getbuffer") lpt_tensor "get_tensor_buffer";
%feature("python:bf_releasebuffer") lpt_tensor "release_tensor_buffer";
// The destruction of a comm joins its progress thread, which may call a codec in Python.
%thread lpt_comm_destroy;
%thread lpt_comm::~lpt_comm;
// One line for each handle and struct of the headers, from tools/header_model.py.
%include "declared.i"

// Members that refer to an array, whose length and lifetime a struct cannot check. context_of() sets the first, weights_pack() the
// next two.
%immutable lpt_context_options::error_text;
%immutable lpt_weights_options::output_order;
%immutable lpt_weights_options::input_order;
%immutable lpt_gradient_buckets_options::names;

%include "tensor.i"

// Collectives return a future if their last argument is true.
%typemap(in) lpt_future **out_future (lpt_future *made = NULL) {
  int is_future = 0;
  if (!flag_from($input, "future", &is_future)) SWIG_fail;
  $1 = is_future ? &made : NULL;
}
%typemap(argout) lpt_future **out_future {
  if ($1 != NULL) {
    $result = SWIG_Python_AppendOutput($result, handle_object(*$1, $descriptor(lpt_future *)));
  }
}

LPT_APPLY_ARRAYS

// Calls of the library release the GIL.
%thread;
%include "lpt.h"

// lpt_weights_pack() with each order in a buffer or None.
%apply (const void *READ_OR_NONE, size_t BYTES) { (const void *output_order, size_t output_order_bytes),
                                                  (const void *input_order, size_t input_order_bytes) };
%inline %{
lpt_status weights_pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options, const void *output_order,
                        size_t output_order_bytes, const void *input_order, size_t input_order_bytes, lpt_tensor **out_packed) {
  lpt_weights_options ordered = LPT_WEIGHTS_OPTIONS_INIT;
  if (options != NULL) ordered = *options;
  ordered.output_order = (const int32_t *)output_order;
  ordered.input_order = (const int32_t *)input_order;
  (void)output_order_bytes, (void)input_order_bytes;  // checked before
  return lpt_weights_pack(context, weights, &ordered, out_packed);
}
%}
