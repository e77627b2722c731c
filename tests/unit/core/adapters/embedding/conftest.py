"""The tiny model, for every test here."""

from __future__ import annotations

from tiny_model import files, installed, models, spec

__all__ = ["files", "installed", "models", "spec"]
