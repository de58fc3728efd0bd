"""Makes stand-ins for all NVIDIA libraries that a wheel needs and that are not written by hand:

    generate.py WHEEL-LIBRARIES OUTPUT

One function for each symbol that the folder's libraries leave undefined, in an object of the required name, with the
required version. Each returns 0, which means success everywhere, except for those below."""
import os
import re
import subprocess
import sys

BY_HAND = re.compile(r"libcudart\.|libcuda\.|libnvidia-ml\.")
NVIDIA = re.compile(r"lib(cu|nv|nccl)")

# Handles that somebody may look at, versions, and answers without which the caller gives up.
HANDLE = "(void **at) { static char some[4096]; *at = some; return 0; }"
SPECIAL = {name: HANDLE for name in (
    "cublasCreate_v2", "cublasLtCreate", "cudnnCreate", "cusparseCreate", "cusolverDnCreate", "curandCreateGenerator",
    "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulPreferenceCreate", "nvrtcCreateProgram")}
SPECIAL.update({
    "cudnnGetVersion": "(void) { return 90100; }",
    "cudnnGetCudartVersion": "(void) { return 12010; }",
    "ncclGetVersion": "(int *v) { *v = 22003; return 0; }",
    "cublasLtGetVersion": "(void) { return 120100; }",
    "nvrtcVersion": "(int *major, int *minor) { *major = 12; *minor = 1; return 0; }",
    "cuptiGetVersion": "(unsigned *v) { *v = 18; return 0; }",
    # The first of the results is an algorithm that needs no room, and there is one.
    "cublasLtMatmulAlgoGetHeuristic":
        "(void *a, void *b, void *c, void *d, void *e, void *f, void *g, int n, void *results, int *found)"
        " { __builtin_memset(results, 0, 96); *found = n > 0; return 0; }",
})


def output_of(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def wanted_by(files):
    """Names of the libraries, and (name of a function, version or "")."""
    libraries, functions = set(), set()
    for file in files:
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-dW", file))
        libraries.update(n for n in needed if NVIDIA.match(n) and not BY_HAND.match(n))
        for line in output_of("nm", "-D", "--undefined-only", file).splitlines():
            name, _, version = line.split()[-1].partition("@")
            functions.add((name, version.lstrip("@")))
    return libraries, functions


def library_of(name, version, libraries):
    """The one that the version names, else the one whose name the function's begins with."""
    if version in libraries:
        return version
    stems = {soname: re.split(r"[.-]|_host", soname)[0][3:].lower() for soname in libraries}
    fitting = [soname for soname in libraries if name.lower().startswith(stems[soname])]
    return max(fitting, key=lambda soname: len(stems[soname]), default=None)


def source_of(name):
    if name.endswith(("String", "ErrorName")):
        return 'const char *%s(void) { return "the stand-in"; }\n' % name
    return "long %s%s\n" % (name, SPECIAL.get(name, "(void) { return 0; }"))


def main(folder, output):
    files = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if ".so" in f]
    libraries, functions = wanted_by(files)
    libraries -= set(os.listdir(folder))
    os.makedirs(output, exist_ok=True)
    for soname in sorted(libraries):
        own = dict(sorted(((n, v) for n, v in functions if library_of(n, v, libraries) == soname), key=lambda f: f[1]))
        any_version = max(own.values(), default="")  # a library has names of a version, or without one
        path = os.path.join(output, soname)
        with open(path + ".c", "w") as f:
            f.writelines(source_of(name) for name in sorted(own))
        with open(path + ".map", "w") as f:
            for version in sorted({v or any_version for v in own.values()} or {""}):
                names = " ".join(n + ";" for n, v in sorted(own.items()) if (v or any_version) == version)
                f.write("%s { global: %s };\n" % (version, names or "*;"))
        subprocess.run([*os.environ.get("CC", "cc").split(), "-w", "-O1", "-shared", "-fPIC", "-Wl,-soname," + soname,
                        "-Wl,--version-script=" + path + ".map", "-o", path, path + ".c"], check=True)
        print("  %-28s %d" % (soname, len(own)))


if __name__ == "__main__":
    main(*sys.argv[1:])
