"""OpenTelemetry by the framework's own hooks: what is sent, and to which trace a request belongs."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from fastapi.telemetry import TelemetryConfig
from opentelemetry import metrics, trace

_EXPORTERS: Final = "OTEL_EXPORTER_OTLP_"
#: Probes say nothing; the address of a subject names whom it is about.
_EXCLUDED: Final = ("/livez", "/readyz", "/metrics", "/v1/subjects/")
# version - trace id - parent id - flags (W3C Trace Context, section 3.2)
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")


def telemetry(environ: Mapping[str, str]) -> TelemetryConfig:
    """Say what is sent; without an exporter in the environment nothing is, unless a provider is set up.

    Of what is not sent FastAPI need not find out anew with each request that nobody wants it.
    """
    has_exporter = any(name.startswith(_EXPORTERS) and value for name, value in environ.items())
    return {
        "auto_configure": has_exporter,
        "tracing": has_exporter or _is_set_up(trace.get_tracer_provider()),
        "metrics": has_exporter or _is_set_up(metrics.get_meter_provider()),
        # Their messages may hold values of rows; our own log holds none.
        "logs": False,
        "exclude": _is_excluded,
    }


def _is_set_up(provider: object) -> bool:
    """Whether somebody did: the providers that the API itself brings send nothing."""
    return not type(provider).__module__.startswith(("opentelemetry.trace", "opentelemetry.metrics"))


def trace_id(traceparent: str | None) -> str | None:
    """Give the trace that a request belongs to: that of the current span, else of the caller's header."""
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        return trace.format_trace_id(span.trace_id)
    found = None if traceparent is None else _TRACEPARENT.fullmatch(traceparent)
    return None if found is None else found[1]


def _is_excluded(scope: MutableMapping[str, Any]) -> bool:
    return str(scope.get("path", "")).startswith(_EXCLUDED)
