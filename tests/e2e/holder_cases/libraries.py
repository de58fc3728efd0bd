"""What the standard library keeps."""
import asyncio
import concurrent.futures
import contextlib
import contextvars
import io
import logging
import os
import pickle
import sys
import types

from case import N, case

VARIABLE = contextvars.ContextVar("VARIABLE")


class Recorder(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


@case("held", "local 'recorder' of log_records() (Recorder).records[40] (LogRecord).args[0] (bytearray)", apart=0.03)
def log_records(then):
    log, recorder = logging.getLogger("train"), Recorder()
    log.addHandler(recorder)
    log.propagate = False
    for i in range(N):
        log.warning("%s", bytearray(20000))
    del log
    then()


@case("held", "local 'futures' of results_of_futures()[40] (Future)._result (bytearray)", apart=0.06)
def results_of_futures(then):
    def load(i):
        return bytearray(20000)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        futures = [pool.submit(load, i) for i in range(N)]
        concurrent.futures.wait(futures)
    then()


@case("held", "local 'context' of a_context() (Context) → (hamt) → (hamt_bitmap_node) → (list)[40] (bytearray)")
def a_context(then):
    context = contextvars.Context()
    context.run(VARIABLE.set, [])
    for i in range(N):
        context[VARIABLE].append(bytearray(20000))
    then()


@case("held", "module made_up.kept[40] (bytearray)")
def a_module_that_was_made(then):
    made_up = types.ModuleType("made_up")
    sys.modules["made_up"], made_up.kept = made_up, []
    for i in range(N):
        made_up.kept.append(bytearray(20000))
    del made_up
    then()


@case("held", "local 'stack' of an_exit_stack() (ExitStack)._exit_callbacks[40][1] (function _exit_wrapper) "
      "__closure__[0][0] (bytearray)")
def an_exit_stack(then):
    stack = contextlib.ExitStack()
    for i in range(N):
        stack.callback(len, bytearray(20000))
    then()
    stack.pop_all()


@case("held", "local 'tasks' of tasks()[40] (Task) → (coroutine) its local 'mask' (bytearray)", apart=0.05)
def tasks(then):
    async def work(gate):
        mask = bytearray(20000)
        await gate
        return mask
    loop = asyncio.new_event_loop()
    gates = [loop.create_future() for i in range(N)]
    tasks = [loop.create_task(work(gate)) for gate in gates]
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    del gates
    then()
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()


@case("held", "local 'pickler' of a_pickler() (Pickler) → C++ (2 blocks) → (bytearray)",
      look="local 'pickler' of a_pickler()")
def a_pickler(then):
    pickler = pickle.Pickler(open(os.devnull, "wb"), 5)
    for i in range(N):
        pickler.dump(bytearray(20000))
    then()


@case("held", "local 'files' of files_in_memory()[40] (BytesIO) → (bytes)")
def files_in_memory(then):
    files = []
    for i in range(N):
        files.append(io.BytesIO())
        files[-1].write(b"x" * 20000)
    then()
