"""The shim never allocates from the job's heap while it records, and exports only its hooks."""
import os
import shutil
import subprocess
import unittest

from tests.e2e.support import SHIM, SOURCES, SeepCase, compile_c, job_env, needs, sum_sites

# All that the shim may ask of other libraries, and why it may. A new name is argued for here; a system call is never
# one: it is made directly (libprof/runtime/store/os.h), past what a preload may have replaced and under the sandbox's check.
ALLOWED = {
    "work on memory that is handed to them, and nothing else":
        "memchr memcmp memcpy memmove memrchr memset strcat strchr strcmp strcpy strcspn strlen strncmp strncpy strnlen"
        " strrchr strspn strstr",
    "say where errno and the thread's own descriptor lie": "__errno_location pthread_self",
    "keep a word of each thread: the first 32 keys lie in its descriptor; Python's is only read":
        "pthread_key_create pthread_setspecific pthread_getspecific",
    "ask to be called at exit and around forks: in the constructor, while libc's first table of each has room":
        "on_exit __register_atfork pthread_atfork",
    "read what the kernel has handed to the program; the second is for GCC's atomics on 64-bit Arm": "getauxval __getauxval",
    "data of libc and of the loader, looked at; ld names the first twice on 64-bit Arm":
        "__curbrk ___brk_addr __environ environ __libc_stack_end _r_debug",
    "open CUPTI, where --gpu=cupti asks, in a call in which CUDA's driver opens tools itself": "dlopen dlsym",
    "what the compiler and the linker put into every library; the last where one is told to look for overruns":
        "_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __gmon_start__ __stack_chk_fail",
}


def undefined():
    out = subprocess.run(["nm", "-D", "-u", SHIM], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip()}


def unchecked(name):
    """Some compilers call functions that take the size of the room, too, and do the same."""
    return name[2:-4] if name.startswith("__") and name.endswith("_chk") else name


class NoAllocation(SeepCase):
    def setUp(self):
        super().setUp()
        self.assertTrue(os.path.exists(SHIM), SHIM)

    @needs(shutil.which("nm"), "no nm")
    def test_the_shim_imports_only_what_is_argued_for(self):
        allowed = {name for names in ALLOWED.values() for name in names.split()}
        self.assertEqual(sorted({unchecked(name) for name in undefined()} - allowed), [],
                         "libseep.so calls these, but ALLOWED says of none why it may")

    @needs(shutil.which("readelf"), "no readelf")
    def test_thread_storage_of_the_shim_is_there_from_the_start(self):
        out = subprocess.run(["readelf", "-Wr", SHIM], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertNotIn("DTPMOD", out, "lazily made thread storage allocates")

    def test_no_call_of_the_shim_reaches_the_allocator(self):
        counting = compile_c(self, SOURCES / "lib/counting_malloc.c", self.path("counting.so"), "-fPIC", "-shared")
        folder = self.fresh()
        env = job_env(LD_PRELOAD=SHIM + " " + counting, SEEP_OUT=folder)
        done = self.command([self.subject("noalloc")], env=env)
        self.assertEqual(done.status, 0, repr(done))
        for phase, (made, reached, freed, frees_reached) in done.json().items():
            self.assertEqual((reached, frees_reached), (made, freed), phase)
        report = self.report(folder, "--all")  # and it did record
        made = sum(v[0] for k, v in done.json().items() if k != "kinds")
        self.assertEqual(sum_sites(report, "descend")["allocations"], made)

    def test_the_program_below_counts_rightly_without_the_shim(self):
        counting = compile_c(self, SOURCES / "lib/counting_malloc.c", self.path("counting.so"), "-fPIC", "-shared")
        done = self.command([self.subject("noalloc")], env=job_env(LD_PRELOAD=counting))
        for phase, (made, reached, freed, frees_reached) in done.json().items():
            self.assertEqual((reached, frees_reached), (made, freed), phase)


if __name__ == "__main__":
    unittest.main()
