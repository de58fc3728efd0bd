"""What the suites about `seep-lab` share."""
import os

from tests.e2e.support import SEEP, SeepCase

LAB = os.path.join(os.path.dirname(SEEP), "seep-lab")


class LabCase(SeepCase):
    def lab(self, *args, **kwargs):
        kwargs.setdefault("timeout", 120)
        kwargs.setdefault("cwd", self.dir)
        return self.command([LAB, *args], **kwargs)

    def cannot(self, *args, **kwargs):
        done = self.lab(*args, **kwargs)
        self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
        self.assertRegex(done.err, r"\Aseep-lab: [^\n]+: [^\n]+\n\Z", repr(done))
        return done.err
