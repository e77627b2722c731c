"""Folders that hold nothing a person wrote: dependencies, caches, build output."""

from __future__ import annotations

from collections.abc import Callable

VERSION_CONTROL = frozenset({b".git", b".hg", b".svn", b".bzr", b"CVS", b"_darcs", b".jj"})

JUNK_FOLDERS = VERSION_CONTROL | frozenset(
    {
        # dependencies and environments
        b"node_modules", b"bower_components", b"jspm_packages", b".venv", b"venv", b"virtualenv", b"site-packages",
        b".pnpm-store", b".yarn", b".bundle", b"Pods", b"elm-stuff", b".cargo", b".rustup", b".m2", b".nuget",
        # caches
        b"__pycache__", b".tox", b".nox", b".mypy_cache", b".pytest_cache", b".ruff_cache", b".hypothesis", b".cache",
        b".eggs", b".ipynb_checkpoints", b".gradle", b".parcel-cache", b".turbo", b".sass-cache", b".terraform",
        b".direnv", b".dart_tool", b".npm",
        # generated
        b".next", b".nuxt", b".svelte-kit", b".docusaurus", b"DerivedData", b"htmlcov", b".nyc_output",
        # tools and desktops
        b".idea", b".Trash", b".Trashes", b"$RECYCLE.BIN", b"System Volume Information", b"lost+found", b"__MACOSX",
        b".Spotlight-V100", b".fseventsd", b".stfolder", b".stversions",
    }
)  # fmt: skip

JUNK_SUFFIXES = (b".git", b".egg-info", b".dist-info", b".xcodeproj", b".xcassets")

# These names also hold documents: they are build output only beside a file of the tool that writes them.
_BUILD_FOLDERS: dict[bytes, tuple[bytes, ...]] = {
    b"target": (b"Cargo.toml", b"pom.xml", b"build.sbt", b"project.clj"),
    b"build": (
        b"package.json", b"pyproject.toml", b"setup.py", b"setup.cfg", b"build.gradle", b"build.gradle.kts",
        b"CMakeLists.txt", b"meson.build", b"pubspec.yaml",
    ),
    b"dist": (b"package.json", b"pyproject.toml", b"setup.py", b"setup.cfg"),
    b"out": (b"package.json", b"build.gradle", b"build.gradle.kts", b"CMakeLists.txt"),
    b"bin": (b"build.gradle", b"build.gradle.kts", b"pom.xml"),
    b"obj": (b"packages.config", b"project.json"),
    b"_build": (b"mix.exs", b"rebar.config", b"dune-project", b"conf.py", b"Makefile"),
    b"deps": (b"mix.exs", b"rebar.config"),
    b"vendor": (b"go.mod", b"composer.json", b"Gemfile"),
    b"coverage": (b"package.json",),
    b"env": (b"requirements.txt", b"pyproject.toml", b"setup.py"),
}  # fmt: skip

# A folder that holds one of these says itself that it can be thrown away.
MARKERS = {b"CACHEDIR.TAG": "a cache", b"pyvenv.cfg": "a Python environment"}


def junk_folder(name: bytes) -> str | None:
    """Why a folder is junk by its name alone, in every tree."""
    if name in JUNK_FOLDERS or name.endswith(JUNK_SUFFIXES):
        return "a well-known folder of dependencies, caches or tools"
    return None


def build_folder(name: bytes, has_sibling: Callable[[bytes], bool]) -> str | None:
    """Why a folder is build output, for trees whose owner did not say so in ignore files of git."""
    for maker in _BUILD_FOLDERS.get(name, ()):
        if has_sibling(maker):
            return f"build output beside {maker.decode('ascii')}"
    return None


def marked_folder(has_child: Callable[[bytes], bool]) -> str | None:
    """Why a folder is junk by what it holds."""
    for marker, kind in MARKERS.items():
        if has_child(marker):
            return f"{kind}: it holds {marker.decode('ascii')}"
    return None
