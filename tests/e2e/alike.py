"""A command without and with seep, and the allocators of this machine that a job may bring."""
import glob
import os

from tests.e2e.support import SeepCase, job_env


def library(*names):
    for name in names:
        for folder in ("/usr/lib/*", "/usr/lib", "/lib/*", "/usr/local/lib"):
            found = sorted(glob.glob(os.path.join(folder, name)))
            if found:
                return found[0]
    return None


JEMALLOC = library("libjemalloc.so.2", "libjemalloc.so.[0-9]")
TCMALLOC = library("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so.[0-9]", "libtcmalloc.so.4")
MIMALLOC = library("libmimalloc.so.2", "libmimalloc.so.[0-9]*")


class Alike(SeepCase):
    """Runs a command without and with seep."""

    def alike(self, argv, **kw):
        env = dict(kw.get("env") or job_env())
        env.pop("SEEP_OVERHEAD", None)  # where seep does not come along, its variables do not either
        plain = self.command(argv, **{**kw, "env": env})
        profile = self.run_seep(argv, status=None, **kw)
        done = profile.done
        status = plain.status if plain.status >= 0 else 128 - plain.status
        self.assertEqual((done.status, done.stdout, done.stderr), (status, plain.stdout, plain.stderr),
                         "without seep %r\nwith seep %r" % (plain, done))
        return profile

    def subject_ok(self, section, subject="transparent", **kw):
        profile = self.run_seep([self.subject(subject), section], **kw)
        self.assertEqual(profile.done.stdout, b"ok\n", repr(profile.done))
        return profile
