"""The options of a run or a ladder, as one typed value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torr.options.cluster import ClusterOptions
from torr.options.connection import ConnectionOptions
from torr.options.definition import build_options
from torr.options.grpc import GrpcOptions
from torr.options.ladder import LadderOptions
from torr.options.load import LoadOptions
from torr.options.request import OnceOptions, RequestOptions
from torr.options.result import ResultOptions
from torr.options.stream import StreamOptions
from torr.options.trace import TraceOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torr.options.definition import VerbOptions
    from torr.planning.prompt_text.calibration import Calibration


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """What is measured, how, and where results go; `urls` may begin with a plan file.

    A run has no `ladder`, and a ladder leaves what only a run has at its defaults. `round` is that
    of a comparison, whose servers do not run yet when its loads are planned; 0 is not measured.
    `calibrations` are what its servers said of the tokens of prompts, None before they were asked.
    """

    urls: tuple[str, ...]
    load: LoadOptions = field(default_factory=LoadOptions)
    request: RequestOptions = field(default_factory=RequestOptions)
    stream: StreamOptions = field(default_factory=StreamOptions)
    trace: TraceOptions = field(default_factory=TraceOptions)
    grpc: GrpcOptions = field(default_factory=GrpcOptions)
    connection: ConnectionOptions = field(default_factory=ConnectionOptions)
    cluster: ClusterOptions = field(default_factory=ClusterOptions)
    once: OnceOptions = field(default_factory=OnceOptions)
    result: ResultOptions = field(default_factory=ResultOptions)
    ladder: LadderOptions | None = None
    round: int | None = None
    calibrations: tuple[Calibration, ...] | None = None

    @classmethod
    def of(
        cls, verb: VerbOptions, urls: Sequence[str], values: Mapping[str, object]
    ) -> MeasureOptions:
        """Return the options with these values, by the names of their fields."""
        return cls(
            urls=tuple(urls),
            load=build_options(LoadOptions, values),
            request=build_options(RequestOptions, values),
            stream=build_options(StreamOptions, values),
            trace=build_options(TraceOptions, values),
            grpc=build_options(GrpcOptions, values),
            connection=build_options(ConnectionOptions, values),
            cluster=build_options(ClusterOptions, values),
            once=build_options(OnceOptions, values),
            result=build_options(ResultOptions, values),
            ladder=build_options(LadderOptions, values) if LadderOptions in verb.kinds else None,
        )
