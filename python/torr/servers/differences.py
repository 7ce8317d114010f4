"""How the answers of candidates differ, in sentences for the report.

Status and body first: with different ones other things were measured. Then what costs: whether
connections are kept, framing, headers. Values of headers are not compared, dates differ anyway;
only that of the content type is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from torr.servers.answer import ResponseDigest


ALIKE = "All answer with the same status and the same bytes."


def differences(answers: Mapping[str, ResponseDigest]) -> list[str]:
    """One sentence for each way in which the candidates, by name, do not answer alike."""
    sentences = []
    for subject, key, words in (
        ("Status", lambda each: each.status, lambda each: str(each.status)),
        ("Bodies", lambda each: each.body_sha256, lambda each: each.shown_body),
        ("Content types", lambda each: each.content_type, lambda each: str(each.content_type)),
        ("Connections", _fate, _fate),
        ("Framings", lambda each: each.framing, lambda each: each.framing),
        ("Versions", lambda each: each.version, lambda each: each.version),
    ):
        sentence = _differing(answers, subject, key, words)
        if sentence is not None:
            sentences.append(sentence)
    return [*sentences, *_headers(answers)]


def differences_in_cells(answers: Mapping[str, Mapping[str, ResponseDigest]]) -> list[str]:
    """The sentences of all cells, by their words, each once; of some cells only with their names.

    Where all answer alike that is said too, and so is what becomes of connections.
    """
    found: dict[str, list[str]] = {}
    for cell, candidates in answers.items():
        for sentence in [*_alike(candidates), *differences(candidates)]:
            found.setdefault(sentence, []).append(cell)
    return [
        sentence if len(cells) == len(answers) else f"At {'; '.join(cells)}: {sentence}"
        for sentence, cells in found.items()
    ]


def _alike(answers: Mapping[str, ResponseDigest]) -> list[str]:
    """What several candidates have in common."""
    if len(answers) < 2:
        return []
    sentences = []
    if len({(each.status, each.body_sha256) for each in answers.values()}) == 1:
        sentences.append(ALIKE)
    fates = {_fate(each) for each in answers.values()}
    if len(fates) == 1 and all(each.is_kept is False for each in answers.values()):
        sentences.append(f"No connection is kept: they are {fates.pop()}.")
    return sentences


def _differing(
    answers: Mapping[str, ResponseDigest],
    subject: str,
    key: Callable[[ResponseDigest], Hashable],
    words: Callable[[ResponseDigest], str],
) -> str | None:
    """Who does what, as in `Framings differ: chunked by a and b; content-length by c.`; or None."""
    groups: dict[Hashable, list[str]] = {}
    for name, answer in answers.items():
        groups.setdefault(key(answer), []).append(name)
    if len(groups) < 2:
        return None
    parts = [f"{words(answers[names[0]])} by {_names(names)}" for names in groups.values()]
    return f"{subject} differ: {'; '.join(parts)}."


def _fate(answer: ResponseDigest) -> str:
    """What becomes of the connection."""
    if answer.is_kept is None:
        return "not tried a second time"
    if answer.is_kept:
        return "kept"
    return "closed after each answer" + ("" if answer.says_close else " without saying so")


def _headers(answers: Mapping[str, ResponseDigest]) -> list[str]:
    """The headers that only some send, those with the same senders in one sentence.

    Without those that the framing and the fate of the connection have told.
    """
    told = {"content-length", "transfer-encoding", "connection", "keep-alive"}
    senders: dict[str, list[str]] = {}
    for name, answer in answers.items():
        for header in dict.fromkeys(key for key, _ in answer.headers if key not in told):
            senders.setdefault(header, []).append(name)
    by_senders: dict[tuple[str, ...], list[str]] = {}
    for header, names in senders.items():
        if len(names) < len(answers):
            by_senders.setdefault(tuple(names), []).append(header)
    return [
        f"Headers differ: only {_names(names)} sent {_names(headers)}."
        for names, headers in by_senders.items()
    ]


def _names(names: list[str] | tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
