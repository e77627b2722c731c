"""Where settings come from: arguments, environment, secret files, YAML file, defaults; the first that says so wins."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NestedSecretsSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings.exceptions import SettingsError as UnreadableSettingsError
from typing_extensions import override

from armillary_core.domain.errors import SettingsError
from armillary_core.settings.model import Settings

PREFIX = "ARMILLARY_"
TEST_PREFIX = "ARMILLARY_TEST_"
CONFIG_VARIABLE = "ARMILLARY_CONFIG"  # the YAML file
SECRETS_VARIABLE = "ARMILLARY_SECRETS"  # a folder with one file per secret
TOKEN_VARIABLE = "ARMILLARY_TOKEN"  # noqa: S105 - read by the command line, a name and not a secret
_CONTROL = frozenset({CONFIG_VARIABLE, SECRETS_VARIABLE, TOKEN_VARIABLE})
_DEFAULT_SECRETS = Path("/run/secrets")


def load_settings(arguments: Mapping[str, object] | None = None, *, config: Path | None = None) -> Settings:
    """Read once, at start. Raises SettingsError with one line that says what is wrong and where."""
    _refuse_unknown_variables(os.environ)
    file = config_file(config)
    values = _read_yaml(file) if file else {}
    secrets = _secrets_folder()

    class Sources(Settings, BaseSettings):  # the library's reader around our values
        model_config = SettingsConfigDict(
            frozen=True,
            extra="forbid",
            env_prefix=PREFIX,
            env_nested_delimiter="__",
        )

        @classmethod
        @override
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            sources = [init_settings, _Variables(settings_cls)]
            if secrets is not None:
                sources.append(
                    NestedSecretsSettingsSource(
                        file_secret_settings, secrets_dir=secrets, secrets_prefix=PREFIX, secrets_nested_delimiter="__"
                    )
                )
            return (*sources, InitSettingsSource(settings_cls, init_kwargs=values))

    given: dict[str, Any] = {name: value for name, value in (arguments or {}).items() if value is not None}
    try:
        read = Sources(**given)
    except ValidationError as refused:
        raise SettingsError(_one_line(refused, file)) from None
    except UnreadableSettingsError as refused:
        raise SettingsError(f"Settings: {refused}. Groups are written as JSON in a variable.") from None
    return Settings.model_construct(**{name: getattr(read, name) for name in Settings.model_fields})


class _Variables(EnvSettingsSource):
    """Lists may be written with commas as well as in JSON."""

    @override
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            if get_origin(field.annotation) is not tuple:
                raise
            return [part.strip() for part in str(value).split(",") if part.strip()]


def config_file(named: Path | None = None) -> Path | None:
    """The YAML file that counts: the named one, ARMILLARY_CONFIG, or the user's own when there is one. Raises
    SettingsError when a named one is not there."""
    wanted = named or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    if wanted is not None:
        if not wanted.expanduser().is_file():
            raise SettingsError(f"There is no configuration file {wanted}.")
        return wanted.expanduser()
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    usual = home / "armillary" / "config.yaml"
    return usual if usual.is_file() else None


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as failed:
        raise SettingsError(f"The configuration file {file} cannot be read: {failed}.") from None
    except yaml.YAMLError as failed:
        mark = getattr(failed, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise SettingsError(f"{file}{where}: {getattr(failed, 'problem', None) or 'not valid YAML'}.") from None
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise SettingsError(f"{file} must hold settings as `name: value`.")
    return values


def _secrets_folder() -> Path | None:
    named = os.environ.get(SECRETS_VARIABLE)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise SettingsError(f"{SECRETS_VARIABLE} names {named}, which is not a folder.")
        return folder
    return _DEFAULT_SECRETS if _DEFAULT_SECRETS.is_dir() else None


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    for variable in sorted(environ):
        upper = variable.upper()
        if not upper.startswith(PREFIX) or upper.startswith(TEST_PREFIX) or upper in _CONTROL:
            continue
        steps = upper.removeprefix(PREFIX).lower().split("__")
        if not _is_known(Settings, steps):
            near = difflib.get_close_matches(upper, variables(), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise SettingsError(f"There is no setting {variable}.{hint}")


def variables() -> list[str]:
    """Every variable that sets a field, and the three that steer the reading itself."""
    return sorted(_CONTROL | {PREFIX + name.upper() for name in _leaves(Settings)})


def _leaves(model: type[BaseModel]) -> list[str]:
    found: list[str] = []
    for name, field in model.model_fields.items():
        groups = groups_of(field.annotation)
        found += [f"{name}__{leaf}" for group in groups for leaf in _leaves(group)] or [name]
    return found


def _is_known(annotation: Any, steps: list[str]) -> bool:
    if not steps:
        return True
    if get_origin(annotation) is dict:
        return bool(steps[0]) and _is_known(get_args(annotation)[1], steps[1:])
    return any(
        steps[0] in group.model_fields and _is_known(group.model_fields[steps[0]].annotation, steps[1:])
        for group in groups_of(annotation)
    )


def groups_of(annotation: Any) -> list[type[BaseModel]]:
    """The groups of settings an annotation allows."""
    if get_origin(annotation) is Annotated:
        return groups_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [model for part in get_args(annotation) for model in groups_of(part)]
    return [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []


def _one_line(refused: ValidationError, file: Path | None) -> str:
    found: list[str] = []
    for error in refused.errors(include_url=False, include_input=False)[:3]:
        name = ".".join(str(step) for step in error["loc"]) or "settings"
        if error["type"] == "extra_forbidden":
            found.append(f"there is no setting {name}{_nearest(name)}")
        else:
            words = error["msg"].removeprefix("Value error, ")
            found.append(f"{name}: {words[:1].lower()}{words[1:]}")
    where = f" (read from arguments, ARMILLARY_ variables{f' and {file}' if file else ''})"
    return f"Settings: {'; '.join(found)}{where}."


def _nearest(name: str) -> str:
    dotted = [leaf.replace("__", ".") for leaf in _leaves(Settings)]
    names = sorted({*dotted, *(leaf.split(".")[0] for leaf in dotted)})
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
