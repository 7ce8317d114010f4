"""Describe how the responses of candidates differ, in sentences for the report.

Status and body come first: if they differ, the candidates did different work. Then properties that
cost time: whether connections are kept open, framing, headers. Of the headers' values only the
content type is compared, since dates always differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torr.messages.message import Message, message, message_list

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from torr.servers.answer import ResponseDigest


ALIKE = message("answers.alike", "All response with the same status and the same bytes.")
GENERATED = message(
    "answers.generated",
    "All respond with the same status. Their texts are not compared: a model generates them.",
)


def differences(answers: Mapping[str, ResponseDigest]) -> list[Message]:
    """Return a sentence for each aspect in which the candidates' responses, by name, differ."""
    sentences = []
    if by := _by(answers, lambda answer: answer.status, lambda answer: str(answer.status)):
        sentences.append(message("answers.status", "Status differ: {by}.", by=by))
    if by := _by(answers, _compared_body, lambda answer: answer.shown_body):
        sentences.append(message("answers.bodies", "Bodies differ: {by}.", by=by))
    if by := _by(
        answers, lambda answer: answer.content_type, lambda answer: str(answer.content_type)
    ):
        sentences.append(message("answers.types", "Content types differ: {by}.", by=by))
    if by := _by(answers, _connection_end, _connection_end):
        sentences.append(message("answers.connections", "Connections differ: {by}.", by=by))
    if by := _by(answers, lambda answer: answer.framing, lambda answer: answer.framing):
        sentences.append(message("answers.framings", "Framings differ: {by}.", by=by))
    if by := _by(answers, lambda answer: answer.version, lambda answer: answer.version):
        sentences.append(message("answers.versions", "Versions differ: {by}.", by=by))
    return [*sentences, *_headers(answers)]


def differences_in_cells(answers: Mapping[str, Mapping[str, ResponseDigest]]) -> list[Message]:
    """Return the sentences of all cells once; those of some cells with the cells' names.

    They include that all candidates answer alike, and that none keeps connections open.
    """
    sentences: dict[Message, list[str]] = {}
    for cell, candidates in answers.items():
        for sentence in [*_common(candidates), *differences(candidates)]:
            sentences.setdefault(sentence, []).append(cell)
    return [
        sentence
        if len(cells) == len(answers)
        else message(
            "answers.in_cells", "At {cells}: {sentence}", cells="; ".join(cells), sentence=sentence
        )
        for sentence, cells in sentences.items()
    ]


def _common(answers: Mapping[str, ResponseDigest]) -> list[Message]:
    """Return sentences about what the responses of all candidates have in common."""
    if len(answers) < 2:
        return []
    sentences = []
    if len({(answer.status, _compared_body(answer)) for answer in answers.values()}) == 1:
        is_generated = any(answer.is_generated for answer in answers.values())
        sentences.append(GENERATED if is_generated else ALIKE)
    ends = {_connection_end(answer) for answer in answers.values()}
    if len(ends) == 1 and all(answer.is_reused is False for answer in answers.values()):
        sentences.append(
            message(
                "answers.none_reused", "No connection is reused: they are {fate}.", fate=ends.pop()
            )
        )
    return sentences


def _compared_body(answer: ResponseDigest) -> str | None:
    """Return the body as it is compared; that of a model has IDs, and is not."""
    return None if answer.is_generated else answer.body_sha256


def _by(
    answers: Mapping[str, ResponseDigest],
    key: Callable[[ResponseDigest], Hashable],
    words: Callable[[ResponseDigest], str],
) -> Message | None:
    """Return the candidates by value, `chunked by a and b; content-length by c`; None if alike."""
    groups: dict[Hashable, list[str]] = {}
    for name, answer in answers.items():
        groups.setdefault(key(answer), []).append(name)
    if len(groups) < 2:
        return None
    parts = [
        message(
            "answers.by", "{what} by {names}", what=words(answers[names[0]]), names=_names(names)
        )
        for names in groups.values()
    ]
    return message_list("; ", parts)


def _connection_end(answer: ResponseDigest) -> Message:
    """Return what happened to the connection after the first response."""
    if answer.is_reused is None:
        return message("answers.not_tried_twice", "not tried a second time")
    if answer.is_reused:
        return message("answers.reused", "reused")
    if answer.says_close:
        return message("answers.closed", "closed after each response")
    return message("answers.closed_silently", "closed after each response without saying so")


def _headers(answers: Mapping[str, ResponseDigest]) -> list[Message]:
    """Return sentences about headers that only some candidates send, one per set of candidates.

    Headers that determine framing and connections are left to the sentences about those.
    """
    known = {"content-length", "transfer-encoding", "connection", "keep-alive"}
    senders: dict[str, list[str]] = {}
    for name, answer in answers.items():
        for header in dict.fromkeys(key for key, _ in answer.headers if key not in known):
            senders.setdefault(header, []).append(name)
    by_senders: dict[tuple[str, ...], list[str]] = {}
    for header, names in senders.items():
        if len(names) < len(answers):
            by_senders.setdefault(tuple(names), []).append(header)
    return [
        message(
            "answers.headers",
            "Headers differ: only {names} sent {headers}.",
            names=_names(names),
            headers=_names(headers),
        )
        for names, headers in by_senders.items()
    ]


def _names(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    before = message_list(", ", names[:-1])
    return message("list.and", "{before} and {last}", before=before, last=names[-1])
