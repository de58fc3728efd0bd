"""Records the history of PyTorch's allocator in a job that knows nothing of it, from the import of torch on, and writes a
snapshot to $TORCH_SNAPSHOT (with the process's number in it) as the job ends or first runs out of memory."""
import atexit
import importlib.util
import os
import sys

WRITTEN = os.environ.get("TORCH_SNAPSHOT")


def record(torch):
    if not torch.cuda.is_available():
        return
    pinned = {"record_pinned_host_memory": True} if torch.__version__ >= "2.15" else {}
    torch.cuda.memory._record_memory_history(stacks="python", **pinned)

    def write(*_):
        path = WRITTEN % os.getpid()
        if not os.path.exists(path):
            torch.cuda.memory._dump_snapshot(path)
    torch._C._cuda_attach_out_of_memory_observer(write)
    atexit.register(write)


class AfterImport:
    """Finds torch once, and lets it be imported as ever before record() gets it."""
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            record(module)
        spec.loader.exec_module = exec_module
        return spec


if WRITTEN:
    sys.meta_path.insert(0, AfterImport())
