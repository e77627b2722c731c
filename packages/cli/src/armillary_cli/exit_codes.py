"""What a script may rely on."""

from __future__ import annotations

from enum import IntEnum

from armillary_core.domain.errors import (
    AppError,
    BackendUnavailableError,
    InvalidRequestError,
    SettingsError,
)


class ExitCode(IntEnum):
    OK = 0
    FAILED = 1  # nothing was found, or it could not be done
    USAGE = 2  # wrong arguments or settings
    UNREACHABLE = 3  # the server does not answer


MEANINGS = {
    ExitCode.OK: "it worked",
    ExitCode.FAILED: "nothing was found, or it could not be done; the line on standard error says why",
    ExitCode.USAGE: "wrong arguments or settings; the line on standard error says what to change",
    ExitCode.UNREACHABLE: "the server does not answer, or one of its parts is unavailable; try again",
}


def exit_code(error: AppError) -> ExitCode:
    match error:
        case SettingsError() | InvalidRequestError():
            return ExitCode.USAGE
        case BackendUnavailableError():
            return ExitCode.UNREACHABLE
        case _:
            return ExitCode.FAILED
