"""Errors of mnem: a code, what was wrong, and often a hint at the next step."""

from __future__ import annotations

import json
from typing import Any


class MnemError(Exception):
    """A verb did not succeed.

    code is one of the table in docs/reference/errors.md, or of this client: "not_running", "no_program",
    "answer_lost", "bad_answer". hint is empty if there is none. kind says what to do next; answer is
    what the verb printed before it failed, such as the conflicts of a merge.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        hint: str = "",
        *,
        status: int = 0,
        kind: str = "",
        request_id: str = "",
        candidates: list[dict[str, Any]] | None = None,
        answer: Any = None,
    ) -> None:
        super().__init__(detail)
        self.code, self.detail, self.hint = code, detail, hint
        self.status, self.kind, self.request_id = status, kind, request_id
        self.candidates, self.answer = candidates or [], answer

    def __str__(self) -> str:
        return f"{self.detail} [{self.code}]" + (f"\nhint: {self.hint}" if self.hint else "")


class InvalidInput(MnemError):
    """A value, name or revision is wrong, or parameters exclude each other."""


class NotFound(MnemError):
    """There is no such repository, revision, node, edge, session, profile or verb."""


class Conflict(MnemError):
    """The branch is not where the write expected it, or changes exclude each other."""


class Refused(MnemError):
    """A rule forbids it: the policy, a token, a credential in the text, or a missing confirmation."""


class Corrupt(MnemError):
    """Stored bytes are not the ones that were written."""


class Busy(MnemError):
    """The server, or the process that has the memory open, cannot answer now."""


class NotRunning(MnemError):
    """The server does not answer and cannot be started."""


class AnswerLost(MnemError):
    """The write was made, but its answer was lost with the server.

    operation is its record in the operation log, with the commits that branches moved to.
    """

    def __init__(self, operation: dict[str, Any]) -> None:
        super().__init__(
            "answer_lost",
            f"the write was made as operation {operation['op']}; its answer was lost with the server",
            "op_show and show tell what it changed; do not write again",
        )
        self.operation = operation

    @property
    def commit(self) -> str | None:
        """The commit that was made, None if the write made none."""
        for ref in self.operation.get("refs", ()):
            to = ref.get("to")
            if isinstance(to, str) and to.startswith("baf"):
                return to
        return None


class VersionWarning(UserWarning):
    """Client and server have different versions."""


CLASSES: dict[str, type[MnemError]] = {
    "invalid_input": InvalidInput, "usage": InvalidInput, "incomplete": InvalidInput, "too_large": InvalidInput,
    "key_reused": InvalidInput, "not_found": NotFound, "redacted": NotFound, "conflict": Conflict,
    "mismatch": Conflict, "precondition_failed": Conflict, "refused": Refused, "unauthorized": Refused,
    "corrupt": Corrupt, "busy": Busy, "in_flight": Busy, "interrupted": Busy, "too_many_requests": Busy,
    "quota": Refused,
}  # fmt: skip


def of_problem(status: int, body: bytes) -> MnemError:
    """Returns the error that a problem document describes."""
    try:
        problem = json.loads(body)
        problem = problem.get("error", problem)
        code, detail = str(problem["code"]), str(problem.get("detail") or problem["message"])
    except (ValueError, KeyError, AttributeError, TypeError):
        text = body[:200].decode("utf-8", "replace")
        return MnemError("bad_answer", f"status {status}: {text}", "is this the URL of 'mnem serve'?", status=status)
    return CLASSES.get(code, MnemError)(
        code,
        detail,
        problem.get("hint") or "",
        status=status,
        kind=problem.get("kind") or "",
        request_id=problem.get("request_id") or "",
        candidates=problem.get("candidates"),
        answer=problem.get("answer"),
    )
