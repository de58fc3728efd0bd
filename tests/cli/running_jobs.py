"""A job that runs under seep until it is told to stop."""
import os
import signal
import subprocess
import sys

from tests.e2e.support import SEEP, job_env

WAIT = 120  # seconds, on a busy machine


class RunningJob:
    """Mixed into a SeepCase. The job gets the name of a file as its argument: once that is there, it ends."""

    def start_job(self, folder, source):
        self.stop = self.path("stop")
        with open(self.path("job.py"), "w") as f:
            f.write(source)
        with open(self.path("seep.log"), "w") as log:
            self.job = subprocess.Popen([SEEP, "run", "-q", "--no-report", "--holders", "off", "-o", folder, "--",
                                         sys.executable, "job.py", self.stop], cwd=self.dir, env=job_env(),
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.end_job)

    def end_job(self):
        open(self.stop, "w").close()
        try:
            self.job.wait(WAIT)
        finally:
            if self.job.poll() is None:
                os.killpg(self.job.pid, signal.SIGKILL)
                self.job.wait()
