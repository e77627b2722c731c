"""Arguments that several tools take."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Doc = Annotated[str, Field(min_length=1, max_length=5000, description="Document id, project::path.")]
Project = Annotated[str | None, Field(max_length=100, description="Name from get_cosmos.")]
Type = Annotated[str | None, Field(max_length=60)]
FolderPath = Annotated[str | None, Field(max_length=5000, description="Folder or file.")]
Locale = Annotated[str | None, Field(max_length=40)]
Version = Annotated[str | None, Field(max_length=40)]
Cursor = Annotated[str | None, Field(max_length=200, description="From the last answer; repeat its arguments.")]
