"""Arguments that several tools take."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field


def _none_when_blank(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


BLANK_IS_NONE = BeforeValidator(_none_when_blank)  # some clients send "" for what they leave out

Doc = Annotated[str, Field(min_length=1, max_length=5000, description="Document id, project::path.")]
Project = Annotated[str | None, BLANK_IS_NONE, Field(max_length=100, description="Name from get_cosmos.")]
Type = Annotated[str | None, BLANK_IS_NONE, Field(max_length=60)]
FolderPath = Annotated[str | None, BLANK_IS_NONE, Field(max_length=5000, description="Folder or file.")]
Locale = Annotated[str | None, BLANK_IS_NONE, Field(max_length=40)]
Version = Annotated[str | None, BLANK_IS_NONE, Field(max_length=40)]
Date = Annotated[str | None, BLANK_IS_NONE, Field(description="YYYY-MM-DD")]
Cursor = Annotated[
    str | None, BLANK_IS_NONE, Field(max_length=200, description="From the last answer; repeat its arguments.")
]
