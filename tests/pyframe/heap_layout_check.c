/* Compiled against one CPython's headers: holds what references need of
 * libprof/format/python_layout.h against its structures. Prints what differs. Exit status 0: all
 * equal. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>

#if PY_VERSION_HEX >= 0x030B0000
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_genobject.h>
#include <internal/pycore_interpframe_structs.h>
#endif
#if PY_VERSION_HEX >= 0x030A0000
#include <internal/pycore_moduleobject.h>
#endif
#if PY_VERSION_HEX >= 0x03090000
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#else
#include <internal/pycore_pystate.h>
#endif

#include "libprof/who/graph/py_fields.h"
#include "libprof/who/graph/py_layout.h"

#include <string.h>

static int wrong;

static void hold(const char *name, size_t ours, size_t actual)
{
    if (ours == actual)
        return;
    printf("%s is %zu in %s, %zu here\n", name, actual, PY_VERSION, ours);
    wrong = 1;
}

#define HOLD(field, type, member) hold(#field, l->field, offsetof(type, member))

static void hold_state(const struct seep_python_layout *l)
{
    HOLD(runtime_interpreters, _PyRuntimeState, interpreters.head);
    hold("next_id", seep_python_next_interpreter(l),
         offsetof(_PyRuntimeState, interpreters.next_id));
    HOLD(runtime_initialized, _PyRuntimeState, initialized);
    HOLD(interpreter_next, PyInterpreterState, next);
    HOLD(interpreter_id, PyInterpreterState, id);
    HOLD(thread_dict, PyThreadState, dict);
#if PY_VERSION_HEX >= 0x030D0000
    HOLD(runtime_finalizing, _PyRuntimeState, _finalizing);
    HOLD(runtime_allocator, _PyRuntimeState, preconfig.allocator);
    hold("mimalloc", SEEP_PY_ALLOCATOR_MIMALLOC, PYMEM_ALLOCATOR_MIMALLOC);
    hold("mimalloc_debug", SEEP_PY_ALLOCATOR_MIMALLOC_DEBUG, PYMEM_ALLOCATOR_MIMALLOC_DEBUG);
#endif
#if PY_VERSION_HEX >= 0x030B0000
    HOLD(interpreter_threads, PyInterpreterState, threads.head);
#else
    HOLD(interpreter_threads, PyInterpreterState, tstate_head);
#endif
#if PY_VERSION_HEX >= 0x030C0000
    HOLD(interpreter_modules, PyInterpreterState, imports.modules);
#else
    HOLD(interpreter_modules, PyInterpreterState, modules);
#endif
#if PY_VERSION_HEX >= 0x030D0000
    HOLD(thread_frame, PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030B0000
    HOLD(thread_frame, PyThreadState, cframe);
    HOLD(cframe_frame, _PyCFrame, current_frame);
#else
    HOLD(thread_frame, PyThreadState, frame);
#endif
}

#if PY_VERSION_HEX >= 0x030B0000
static void hold_frames(const struct seep_python_layout *l)
{
#if PY_VERSION_HEX >= 0x030D0000
    HOLD(frame_code, _PyInterpreterFrame, f_executable);
#else
    HOLD(frame_code, _PyInterpreterFrame, f_code);
#endif
    HOLD(frame_back, _PyInterpreterFrame, previous);
    HOLD(frame_owner, _PyInterpreterFrame, owner);
    HOLD(frame_dict, _PyInterpreterFrame, f_locals);
#if PY_VERSION_HEX >= 0x030C0000
    HOLD(frame_function, _PyInterpreterFrame, f_funcobj);
#else
    HOLD(frame_function, _PyInterpreterFrame, f_func);
#endif
    HOLD(frame_globals, _PyInterpreterFrame, f_globals);
#if PY_VERSION_HEX >= 0x030E0000
    HOLD(frame_top, _PyInterpreterFrame, stackpointer);
#else
    HOLD(frame_top, _PyInterpreterFrame, stacktop);
#endif
    HOLD(frame_locals, _PyInterpreterFrame, localsplus);
    HOLD(frame_object_frame, PyFrameObject, f_frame);
    HOLD(code_n_locals, PyCodeObject, co_nlocalsplus);
    HOLD(code_names, PyCodeObject, co_localsplusnames);
    HOLD(code_qualname, PyCodeObject, co_qualname);
    HOLD(generator_frame, PyGenObject, gi_iframe);
    HOLD(generator_state, PyGenObject, gi_frame_state);
    hold("generator_runs", l->generator_runs, FRAME_EXECUTING);
    HOLD(values, PyDictValues, values);
}
#else
static void hold_frames(const struct seep_python_layout *l)
{
    HOLD(frame_code, PyFrameObject, f_code);
    HOLD(frame_back, PyFrameObject, f_back);
    HOLD(frame_dict, PyFrameObject, f_locals);
    HOLD(frame_globals, PyFrameObject, f_globals);
    hold("f_builtins", l->frame_globals - 8, offsetof(PyFrameObject, f_builtins));
#if PY_VERSION_HEX < 0x030A0000
    HOLD(frame_top, PyFrameObject, f_stacktop);
#endif
    HOLD(frame_locals, PyFrameObject, f_localsplus);
    HOLD(code_n_locals, PyCodeObject, co_nlocals);
    HOLD(code_names, PyCodeObject, co_varnames);
    HOLD(code_cells, PyCodeObject, co_cellvars);
    HOLD(code_frees, PyCodeObject, co_freevars);
    HOLD(generator_frame, PyGenObject, gi_frame);
}
#endif

static void hold_objects(const struct seep_python_layout *l)
{
    HOLD(code_stack, PyCodeObject, co_stacksize);
    HOLD(code_file, PyCodeObject, co_filename);
    HOLD(code_name, PyCodeObject, co_name);
    HOLD(type_keys, PyHeapTypeObject, ht_cached_keys);
    HOLD(tuple_items, PyTupleObject, ob_item);
    hold("text_ascii", l->text_ascii, sizeof(PyASCIIObject));
    hold("text_compact", l->text_compact, sizeof(PyCompactUnicodeObject));
    HOLD(function_closure, PyFunctionObject, func_closure);
    HOLD(function_globals, PyFunctionObject, func_globals);
    HOLD(function_code, PyFunctionObject, func_code);
    HOLD(function_defaults, PyFunctionObject, func_defaults);
    HOLD(function_kwdefaults, PyFunctionObject, func_kwdefaults);
    HOLD(function_dict, PyFunctionObject, func_dict);
    HOLD(function_name, PyFunctionObject, func_qualname);
#if PY_VERSION_HEX >= 0x030A0000
    HOLD(function_builtins, PyFunctionObject, func_builtins);
    HOLD(module_state, PyModuleObject, md_state);
#endif
}

/* A field that has a name of its own (py_fields.c). */
static void hold_named(const char *type, const char *name, size_t actual)
{
    int64_t offset = -1;
    size_t index;

    for (size_t i = 0; seep_pyfield_of(type, PY_VERSION_HEX >> 16 & 0xff, i, &offset, &index); i++)
        if (strcmp(seep_pyfield_name(index), name) == 0) {
            hold(name, (size_t)offset, actual);
            return;
        }
    printf("%s of %s is not followed in %s\n", name, type, PY_VERSION);
    wrong = 1;
}

#define NAMED(type, name, object, member) hold_named(type, name, offsetof(object, member))

static void hold_named_fields(void)
{
    NAMED("function", "__annotations__", PyFunctionObject, func_annotations);
    NAMED("frame", "f_trace", PyFrameObject, f_trace);
    NAMED("frame", "f_back", PyFrameObject, f_back);
#if PY_VERSION_HEX >= 0x030C0000
    NAMED("function", "__type_params__", PyFunctionObject, func_typeparams);
#endif
#if PY_VERSION_HEX >= 0x030D0000
    NAMED("frame", "f_extra_locals", PyFrameObject, f_extra_locals);
    NAMED("frame", "f_locals_cache", PyFrameObject, f_locals_cache);
#endif
#if PY_VERSION_HEX >= 0x030E0000
    NAMED("function", "__annotate__", PyFunctionObject, func_annotate);
    NAMED("frame", "f_overwritten_fast_locals", PyFrameObject, f_overwritten_fast_locals);
#endif
#if PY_VERSION_HEX >= 0x030A0000
    NAMED("module", "__name__", PyModuleObject, md_name);
#endif
#if PY_VERSION_HEX >= 0x030F0000
    NAMED("bytearray", "", PyByteArrayObject, ob_bytes_object);
#endif
    NAMED("BaseException", "__traceback__", PyBaseExceptionObject, traceback);
    NAMED("BaseException", "__context__", PyBaseExceptionObject, context);
    NAMED("BaseException", "__cause__", PyBaseExceptionObject, cause);
    NAMED("BaseException", "args", PyBaseExceptionObject, args);
#if PY_VERSION_HEX >= 0x030B0000
    NAMED("BaseException", "__notes__", PyBaseExceptionObject, notes);
#endif
    NAMED("builtin_function_or_method", "__self__", PyCFunctionObject, m_self);
}

#define SAME(constant, type, member) hold(#constant, constant, offsetof(type, member))

/* What is taken for granted in every version. */
static void hold_constants(void)
{
    SAME(SEEP_PY_TYPE_ITEM, PyTypeObject, tp_itemsize);
    SAME(SEEP_PY_TYPE_WEAKS, PyTypeObject, tp_weaklistoffset);
    SAME(SEEP_PY_TYPE_MEMBERS, PyTypeObject, tp_members);
    SAME(SEEP_PY_TYPE_BASE, PyTypeObject, tp_base);
    SAME(SEEP_PY_TYPE_DICT, PyTypeObject, tp_dict);
    SAME(SEEP_PY_TYPE_DICTOFFSET, PyTypeObject, tp_dictoffset);
    SAME(SEEP_PY_TYPE_BASES, PyTypeObject, tp_bases);
    SAME(SEEP_PY_TYPE_MRO, PyTypeObject, tp_mro);
    SAME(SEEP_PY_TYPE_SUBCLASSES, PyTypeObject, tp_subclasses);
    SAME(SEEP_PY_DICT_KEYS, PyDictObject, ma_keys);
    SAME(SEEP_PY_DICT_VALUES, PyDictObject, ma_values);
    SAME(SEEP_PY_LIST_ITEMS, PyListObject, ob_item);
    SAME(SEEP_PY_SET_USED, PySetObject, used);
    SAME(SEEP_PY_SET_MASK, PySetObject, mask);
    SAME(SEEP_PY_SET_TABLE, PySetObject, table);
    SAME(SEEP_PY_WEAK_CALLBACK, PyWeakReference, wr_callback);
    SAME(SEEP_PY_THREAD_NEXT, PyThreadState, next);
#if PY_VERSION_HEX >= 0x030A0000
    SAME(SEEP_PY_MODULE_DICT, PyModuleObject, md_dict);
#endif
}

int main(void)
{
    const struct seep_python_layout *l = seep_python_layout_find(PY_VERSION_HEX);

    if (!l) {
        printf("no layout of the heap for this version\n");
        return 1;
    }
    hold_state(l);
    hold_frames(l);
    hold_objects(l);
    hold_constants();
    hold_named_fields();
    return wrong;
}
