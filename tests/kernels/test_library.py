"""libseep-kernels as others use it: what it shows, its headers alone, and programs linked with it."""
import re
import shutil
import unittest

from tests.kernels.installed import BUILD, CC, CXX, LIBRARY, ROOT, InstalledCase, install, output_of

VERSION = "SEEP_KERNELS_0"
FILES = {"lib/libseep-kernels.so", "lib/libseep-kernels.so.0", "lib/libseep-kernels.a", "lib/pkgconfig/seep-kernels.pc"}
NEEDED = re.compile(r"lib(jpeg|png16|zip|jansson|m|c|pthread|dl|rt|stdc\+\+|gcc_s)\.so|ld-linux")
PROGRAM = """
%s
#include <stdio.h>
int main(void)
{
    struct seep_stream *stream;
    struct seep_error err = {{0}};
    struct seep_ply *ply;
    if (seep_stream_create_cpu(2, &stream))
        return 1;
    printf("%%u threads, ", seep_stream_threads(stream));
    seep_stream_destroy(stream);
    printf("%%d %%s, ", seep_ply_read("/nowhere", &ply, &err), err.file);
    struct seep_image *image;
    struct seep_npy array;
    err.text[0] = 0;
    int rc = seep_image_from_bytes("x", 1, &image, NULL);
    printf("%%d %%d\\n", rc, seep_npz_from_bytes("x", 1, "x", &array, NULL));
    return 0;
}
"""


def listed():
    """The names of kernels/exports.map."""
    return re.findall(r"^        (\w+);$", (ROOT / "kernels/exports.map").read_text(), re.M)


def declared():
    """The functions of the public headers."""
    names = []
    for header in sorted((BUILD / "include/seep").glob("*.h")):
        text = re.sub(r"/\*.*?\*/|^typedef[^;]*;", "", header.read_text(), flags=re.S | re.M)
        names += re.findall(r"\b(\w+)\(", text)
    return [name for name in names if name not in ("__attribute__", "format")]


def defined(*options):
    """[name] of what a library defines, with versions; without weak ones, of which a program has one of many."""
    out = output_of("nm", "--defined-only", *options)
    return re.findall(r"^[0-9a-f]+ [A-TX-Z] (\S+)$", out, re.M)


@unittest.skipUnless(shutil.which("nm") and shutil.which("readelf"), "no binutils")
class Exports(unittest.TestCase):
    maxDiff = None

    def test_it_shows_the_functions_of_its_list_and_nothing_else(self):
        shown = sorted(set(defined("-D", LIBRARY)) - {VERSION})
        self.assertEqual(shown, ["%s@@%s" % (name, VERSION) for name in listed()])

    def test_the_list_has_the_functions_of_the_public_headers(self):
        self.assertGreater(len(listed()), 60)
        self.assertEqual(listed(), sorted(declared()))
        self.assertEqual([name for name in listed() if not name.startswith("seep_")], [])

    def test_the_static_library_takes_no_other_names(self):
        names = set(defined("-g", BUILD / "libseep-kernels.a"))
        self.assertLessEqual(set(listed()), names)
        self.assertEqual(sorted(name for name in names if not name.startswith(("seep_", "_Z"))), [])

    def test_it_has_a_soname_and_needs_what_the_page_of_installing_says(self):
        dynamic = output_of("readelf", "-dW", LIBRARY)
        self.assertEqual(re.findall(r"SONAME.*\[(.*)\]", dynamic), [LIBRARY.name])
        self.assertNotIn("TEXTREL", dynamic)
        foreign = [name for name in re.findall(r"NEEDED.*\[(.*)\]", dynamic) if not NEEDED.match(name)]
        self.assertEqual(foreign, [])


class Installed(InstalledCase):
    def headers(self):
        found = sorted(path.name for path in (self.prefix / "include/seep").iterdir())
        self.assertIn("voxelize.h", found)
        return found

    def test_the_files_are_the_same_below_a_destdir(self):
        install("/usr", self.work / "root")
        names = {str(path.relative_to(self.work / "root/usr")) for path in (self.work / "root/usr").rglob("*")
                 if not path.is_dir()}
        self.assertEqual(names, FILES | {"include/seep/" + name for name in self.headers()})
        text = (self.work / "root/usr/lib/pkgconfig/seep-kernels.pc").read_text()
        self.assertIn("prefix=/usr\n", text)
        self.assertNotIn(str(self.work), text)
        self.assertNotIn("@", text)

    def test_each_header_compiles_alone_as_c11_and_as_cxx17(self):
        strict = "-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I".split()
        for name in self.headers():
            for compiler, language in ((CC, "c"), (CXX, "c++")):
                with self.subTest(header=name, language=language):
                    source = self.work / ("alone." + {"c": "c", "c++": "cc"}[language])
                    source.write_text("#include <seep/%s>\n#include <seep/%s>\n" % (name, name))
                    self.command(*compiler, "-std=" + {"c": "c11", "c++": "c++17"}[language], *strict,
                                 self.prefix / "include", source)

    def test_programs_in_c_and_cxx_run_with_either_library(self):
        text = PROGRAM % "".join("#include <seep/%s>\n" % name for name in self.headers())
        for name, compiler, standard in (("program.c", CC, "c11"), ("program.cc", CXX, "c++17")):
            (self.work / name).write_text(text)
            for static in (False, True):
                with self.subTest(program=name, static=static):
                    libs = self.flags("--libs", *(["--static"] if static else []))
                    if static:
                        libs = [{"-lseep-kernels": "-l:libseep-kernels.a"}.get(word, word) for word in libs]
                    self.command(*compiler, "-std=" + standard, "-o", "program", name, *self.flags("--cflags"), *libs)
                    self.assertEqual(self.command("./program"), "2 threads, -3 /nowhere, -4 -4\n")
                    needs = output_of("readelf", "-dW", self.work / "program")
                    self.assertEqual(LIBRARY.name in needs, not static)


if __name__ == "__main__":
    unittest.main()
