"""What monitor(writer=…) writes to: TensorBoard, or anything with its add_scalar(tag, value, step)."""
import sys


def opened(folder):
    """A SummaryWriter: PyTorch's where the job has PyTorch, else tensorboardX's; ImportError: neither is there. PyTorch
    is not imported for this alone, but where there is nothing else."""
    if "torch" not in sys.modules:
        try:
            from tensorboardX import SummaryWriter
            return SummaryWriter(folder)
        except ImportError:
            pass
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    return SummaryWriter(folder)


class Board:
    """writer: a folder for TensorBoard, or a SummaryWriter of the job's own. What goes wrong in it is said once, and
    then no more is written: the training goes on."""

    def __init__(self, writer, log):
        self._log, self._own = log, isinstance(writer, str)
        self._writer = self._guarded(lambda: opened(writer)) if self._own else writer

    def write(self, figures, finding, step):
        if self._writer is not None:
            self._guarded(lambda: self._put(figures, finding, step))

    def close(self):
        if self._writer is not None and self._own:
            self._guarded(self._writer.close)
        self._writer = None

    def _put(self, figures, finding, step):
        for tag, value in figures.items():
            self._writer.add_scalar(tag, value, step)
        if finding and hasattr(self._writer, "add_text"):
            self._writer.add_text("seep/finding", finding, step)

    def _guarded(self, do):
        try:
            return do()
        except ImportError:
            self._say("seep: TensorBoard's writer is not installed, so nothing is written for it: pip install "
                      "tensorboard, or tensorboardX")
        except Exception as e:
            self._say("seep: no more is written for TensorBoard: %s" % e)
        self._writer = None
        return None

    def _say(self, text):
        try:
            self._log(text)
        except Exception:
            pass
