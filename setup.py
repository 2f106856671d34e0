"""What pyproject.toml cannot say: the compiled library for CPUs, which is left out where there is no C++ compiler."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "trifold.native.kernel",
            ["src/trifold/native/source/interface.cpp"],
            depends=[f"src/trifold/native/source/{name}.h" for name in ("encoding", "layers", "merging", "network")],
            extra_compile_args=["-std=c++17", "-O3", "-fno-math-errno", "-ffp-contract=fast", "-fvisibility=hidden"],
            extra_link_args=["-pthread"],
            language="c++",
            optional=True,
        )
    ]
)
