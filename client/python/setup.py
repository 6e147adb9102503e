# SPDX-License-Identifier: PostgreSQL
# Builds the extension from the sources beside this folder: the package depends on nothing at run time.
#
# In the environment: BLOOMFAM_CFLAGS and BLOOMFAM_LDFLAGS are added to those of the compiler and the linker, for sanitizers; BLOOMFAM_LIBRARY is
# a libbloomfam.a that is built already ("make client").

import json
import os
import shlex
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(os.path.dirname(here))
more = shlex.split(os.environ.get("BLOOMFAM_CFLAGS", ""))


class BuildExt(build_ext):
    """Compiles the library, too: its sources are above this folder, where setuptools wants none."""

    def build_extension(self, ext):
        library = os.environ.get("BLOOMFAM_LIBRARY")
        if library:
            ext.extra_objects.append(library)
            super().build_extension(ext)
            return
        sources = sorted(glob(os.path.join(top, "client", "lib", "*.c")) + glob(os.path.join(top, "src", "core", "*.c")) +
                         glob(os.path.join(top, "src", "keys", "*.c")))
        flags = dict(output_dir=self.build_temp, include_dirs=ext.include_dirs, debug=self.debug, extra_postargs=ext.extra_compile_args)
        headers = max(os.path.getmtime(path) for path in ext.depends)
        for source in sources:
            object_, = self.compiler.object_filenames([source], output_dir=self.build_temp)
            if not os.path.exists(object_) or os.path.getmtime(object_) < max(headers, os.path.getmtime(source)):
                self.compiler.compile([source], **flags)
            ext.extra_objects.append(object_)
        super().build_extension(ext)


with open(os.path.join(top, "META.json")) as file:
    version = json.load(file)["version"]

setup(
    version=version,
    packages=["bloomfam"],
    package_data={"bloomfam": ["py.typed", "*.pyi"]},
    ext_modules=[Extension(
        "bloomfam._bloomfam",
        sorted(os.path.relpath(path, here) for path in glob(os.path.join(here, "src", "*.c"))),
        include_dirs=[os.path.join(top, "client"), os.path.join(top, "src"), top],
        # a header that changes makes all objects anew
        depends=sorted(glob(os.path.join(here, "src", "*.h")) + glob(os.path.join(top, "client", "*.h")) +
                       glob(os.path.join(top, "client", "lib", "*.h")) + glob(os.path.join(top, "src", "*", "*.h"))),
        extra_compile_args=["-std=gnu11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow", "-Wcast-qual", "-Wstrict-prototypes", "-Wvla"] + more,
        extra_link_args=["-Wl,--version-script=" + os.path.join(here, "src", "exports.map")] +
        shlex.split(os.environ.get("BLOOMFAM_LDFLAGS", "")),
        libraries=["m"],
        py_limited_api=True,
    )],
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    zip_safe=False,
)
