"""Everything that can be set. A value here is checked and final; where it came from is `load.py`'s business."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

from armillary_core.domain.errors import InvalidRequestError
from armillary_core.domain.project import ProjectSettings, project_name

DOC_TYPES: dict[str, str] = {
    "readme": "What a project or folder is and how to begin",
    "tutorial": "A lesson that leads a beginner to a first result",
    "guide": "How to reach one goal, step by step",
    "reference": "Complete facts to look up: commands, options, interfaces, tables",
    "explanation": "Background, concepts and reasons",
    "decision": "A decision with its context and cost",
    "runbook": "What to do in operation or in an emergency",
    "plan": "What is intended: roadmaps, proposals, specifications",
    "notes": "Notes, minutes, journals, drafts",
    "report": "Results: analyses, reviews, measurements",
    "changelog": "What changed from version to version",
    "policy": "Rules, licences, agreements",
    "code": "Source code",
    "config": "Configuration and data that a program reads",
    "data": "Tables and records",
    "letter": "Letters and messages",
    "page": "A web page or an article",
    "other": "None of these",
}


class Section(BaseModel):
    """A group of settings: final once read, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TantivyCards(Section):
    engine: Literal["tantivy"] = Field(default="tantivy", description="Card index inside this process.")


class EdgeChunks(Section):
    engine: Literal["edge"] = Field(default="edge", description="Chunk index inside this process.")


class FastembedEmbedding(Section):
    engine: Literal["fastembed"] = Field(default="fastembed", description="Vectors are made inside this process.")
    model: str = Field(
        default="bge-small-en-v1.5", description="Embedding model; `armillary models list` shows what there is."
    )
    threads: int = Field(default=1, ge=1, le=64, description="Processor threads that embedding may use.")
    fetch: bool = Field(default=True, description="Fetch the model in the background when it is not there yet.")


class NoEmbedding(Section):
    engine: Literal["none"] = Field(default="none", description="No search by meaning: words and names only.")


CardsEngine: TypeAlias = TantivyCards  # a union on `engine` as soon as there is a second one
ChunksEngine: TypeAlias = EdgeChunks
EmbeddingEngine: TypeAlias = Annotated[FastembedEmbedding | NoEmbedding, Field(discriminator="engine")]


class Limits(Section):
    answer_tokens: int = Field(default=2000, ge=200, le=8000, description="Size of an answer over MCP, per channel.")
    max_answer_tokens: int = Field(default=8000, ge=500, le=8000, description="The most that a call may ask for.")
    extraction_workers: int = Field(
        default=0, ge=0, le=64, description="Processes that read files; 0 = one per processor core, at most 4."
    )
    extraction_seconds: float = Field(default=30.0, gt=0, le=3600, description="Longest time for one document.")
    extraction_memory_bytes: int = Field(
        default=1024**3, ge=128 * 1024**2, description="Most memory that reading one document may take."
    )
    words_seconds: float = Field(default=2.0, gt=0, le=60, description="Deadline of the words leg of one search.")
    meaning_seconds: float = Field(default=2.0, gt=0, le=60, description="Deadline of the meaning leg of one search.")
    names_seconds: float = Field(default=1.0, gt=0, le=60, description="Deadline of the names leg of one search.")


class Masking(Section):
    enabled: bool = Field(default=True, description="Mask what looks like a key or password in answers.")


class Logging(Section):
    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least important event to show."
    )
    format: Literal["auto", "console", "json"] = Field(
        default="auto", description="`auto`: readable at a terminal, JSON elsewhere."
    )


class ProjectWish(Section):
    """One project as its owner wants it; wins over what was set by command."""

    root: Path | None = Field(default=None, description="Folder of the project; needed only to create it from here.")
    private: bool = Field(default=False, description="Seen only by tokens that name it.")
    include: tuple[str, ...] = Field(default=(), description="Glob patterns of paths to index; empty = every file.")
    ignore_dirs: tuple[str, ...] = Field(
        default=(), description="Folder names to leave out, beside the well-known ones."
    )
    ignore_files: tuple[str, ...] = Field(default=(), description="Glob patterns of file names to leave out.")
    max_file_bytes: int = Field(default=64 * 1024**2, ge=1, description="Larger files are left out.")
    include_hidden: bool = Field(
        default=False, description="Also index files and folders whose name begins with a dot."
    )
    include_secrets: bool = Field(
        default=False, description="Also index files that are secrets by name, such as `.env`."
    )
    use_gitignore: bool = Field(default=True, description="Leave out what git ignores.")

    def settings(self) -> ProjectSettings:
        return ProjectSettings(
            include=self.include,
            ignore_dirs=self.ignore_dirs,
            ignore_files=self.ignore_files,
            max_file_bytes=self.max_file_bytes,
            include_hidden=self.include_hidden,
            include_secrets=self.include_secrets,
            use_gitignore=self.use_gitignore,
        )


class Settings(Section):
    """All of it. Every field has a default, so that no configuration is needed."""

    data: Path = Field(
        default=Path("~/.local/share/armillary"),
        validate_default=True,
        description="Folder of the catalogue, the engines and the models.",
    )
    bind: str = Field(default="127.0.0.1", description="Address to listen on; any but a loopback one needs a token.")
    port: int = Field(default=8420, ge=0, le=65535, description="Port of MCP and the dashboard; 0 = any free one.")
    public_hosts: tuple[str, ...] = Field(
        default=(), description="Names under which clients reach this server, with `:port` where they use one."
    )
    cards: CardsEngine = Field(default_factory=TantivyCards, description="Names, cards and chapter names.")
    chunks: ChunksEngine = Field(default_factory=EdgeChunks, description="Words and meaning of the content.")
    embedding: EmbeddingEngine = Field(default_factory=FastembedEmbedding, description="Search by meaning.")
    limits: Limits = Field(default_factory=Limits, description="What one answer or one document may cost.")
    masking: Masking = Field(default_factory=Masking, description="Secrets in document text.")
    logging: Logging = Field(default_factory=Logging, description="What is logged and how.")
    doc_types: dict[str, str] = Field(
        default_factory=lambda: dict(DOC_TYPES),
        description="The vocabulary of document types with what each means; empty = any word.",
    )
    projects: dict[str, ProjectWish] = Field(
        default_factory=dict, description="Projects by name, where the defaults do not fit."
    )

    @field_validator("embedding", mode="before")
    @classmethod
    def _usual_engine(cls, section: object) -> object:
        return {"engine": "fastembed", **section} if isinstance(section, dict) else section

    @field_validator("data")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        folder = folder.expanduser().absolute()
        return folder.resolve() if ".." in folder.parts else folder

    @field_validator("bind")
    @classmethod
    def _address(cls, text: str) -> str:
        if text == "localhost":
            return "127.0.0.1"
        try:
            return str(ipaddress.ip_address(text.strip("[]")))
        except ValueError:
            raise ValueError(f"{text!r} is not an IP address; 0.0.0.0 means every address of this machine") from None

    @field_validator("projects")
    @classmethod
    def _names(cls, projects: dict[str, ProjectWish]) -> dict[str, ProjectWish]:
        for name in projects:
            try:
                project_name(name)
            except InvalidRequestError as refused:
                raise ValueError(refused.message) from None
        return projects

    @property
    def is_loopback(self) -> bool:
        return ipaddress.ip_address(self.bind).is_loopback
