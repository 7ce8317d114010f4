"""Modules that tools import and their metrics do not need."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING
from unittest.mock import MagicMock

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAVY = [
    "PIL",
    "av",
    "boto3",
    "botocore",
    "datasets",
    "google",
    "huggingface_hub",
    "kopf",
    "kubernetes_asyncio",
    "matplotlib",
    "pandas",
    "plotly",
    "sanic",
    "scipy",
    "seaborn",
    "torch",
    "transformers",
    "websockets",
]


class _Stubs(MetaPathFinder, Loader):
    """Finds modules that answer to everything."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if any(name == stub or name.startswith(f"{stub}.") for stub in self.names):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return MagicMock(name=spec.name, __path__=[], __spec__=spec, __name__=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def stub(*names: str) -> None:
    """Replace these modules, and the heavy ones."""
    sys.meta_path.insert(0, _Stubs([*names, *HEAVY]))


def package_in(wheel: str, name: str) -> None:
    """Make a package of a wheel importable without what its `__init__` imports."""
    package = ModuleType(name)
    package.__path__ = [f"{wheel}/{name}"]
    sys.modules[name] = package
