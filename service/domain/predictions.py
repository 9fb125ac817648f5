"""What can be asked of `/predict`: rows, and how they shall be priced and decided."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from service.domain import strict_json
from service.domain.errors import FieldError, InvalidError, pointer
from service.domain.models import CHAMPION

OnRowError = Literal["fail", "null"]
Record = bool | Literal["durable"]

# msgspec says where: "Expected `int`, got `str` - at `$.version`".
_PLACE = re.compile(r"(?P<detail>.*?)(?: - at (?:the key in )?`\$(?P<place>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\.\.\.)\]")


_NULL = msgspec.Raw(b"null")


class Explain(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    """
    The wish for reasons.

    Attributes
    ----------
    top : int or None
        How many of a row's columns are told, those that push most towards its decision; None: all.
    """

    top: int | None = None


class PredictOptions(msgspec.Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """
    What may be said beside the rows; all of it may be left out.

    Attributes
    ----------
    costs : object
        Costs in one of their three forms; kept as JSON until the classes are known.
    record : bool or "durable"
        Keep the decisions; "durable": answer only when they are kept.
    """

    model: str | None = None
    alias: str | None = None
    version: int | None = None
    costs: msgspec.Raw = _NULL
    cost_spec: str | None = None
    priors: dict[str, float] | None = None
    threshold: float | None = None
    on_row_error: OnRowError = "fail"
    explain: Explain | None = None
    record: Record = False

    @property
    def own_costs(self) -> bytes | None:
        """Costs of the request as JSON."""
        return None if bytes(self.costs) == b"null" else bytes(self.costs)


class PredictBody(PredictOptions, forbid_unknown_fields=True, gc=False, kw_only=True):
    """
    The JSON body of a prediction.

    Attributes
    ----------
    rows : list
        Objects of column and value, and an `id` that is given back.
    """

    rows: list[Any]


@dataclass(frozen=True)
class Selector:
    """
    Which version shall answer.

    Attributes
    ----------
    model : str or None
        None: the only model there is.
    alias, version : str, int or None
        At most one of them; the alias champion when neither is given.
    """

    tenant: str
    model: str | None = None
    alias: str | None = None
    version: int | None = None


_UNKNOWN = f"there is no field of this name here; known are {', '.join(PredictBody.__struct_fields__)}"
#: What msgspec calls the kinds of JSON values.
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
#: How fields are written that many would write as a single value.
_EXAMPLES = {"explain": 'such as {"top": 3}'}
#: What can be chosen from, field by field.
_CHOICES = {"on_row_error": "'fail' or 'null'", "record": "true, false or 'durable'"}
_DECODER = msgspec.json.Decoder(PredictBody)


def decode(body: bytes) -> PredictBody:
    """
    Read the JSON body.

    Raises
    ------
    MalformedError
        What the strict reader refuses.
    InvalidError
        A field is unknown, of the wrong type, or not supported yet.
    """
    try:
        wish = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # msgspec stops at the first fault: whether the rest is JSON at all is not known yet.
        raise _refused(error, strict_json.parse(body)) from None
    names = sum([len(row) for row in wish.rows if type(row) is dict])
    if may_be_odd(wish, body, names, body.count(b":")):
        strict_json.parse(body)
    _check(wish)
    return wish


def may_be_odd(wish: PredictOptions, body: bytes, names: int, colons: int) -> bool:
    """Whether a name may come twice or a text be no text: the strict reader, several times slower, must look.

    `names` is how many were understood within the rows, `colons` how many the body has. Each name has its
    colon. When there are as many colons as names, none was overwritten; a colon within a text, or a field
    that is null, is a false alarm that costs time only.
    """
    # One byte is found many times as fast as two.
    if wish.own_costs is not None or (b"\\" in body and b"\\u" in body):
        return True
    fields = sum(value is not None for value in (wish.model, wish.alias, wish.version, wish.cost_spec))
    fields += (wish.threshold is not None) + (wish.on_row_error != "fail") + (wish.record is not False) + 1
    if wish.priors is not None:
        fields += 1 + len(wish.priors)
    if wish.explain is not None:
        fields += 1 + (wish.explain.top is not None)
    return colons != fields + names


def _refused(error: Exception, value: Any) -> InvalidError:
    places = list(_infinite(value, ""))
    if isinstance(error, msgspec.ValidationError) and not places:
        return _invalid(str(error))
    detail = "the number is too large"
    return InvalidError("invalid", detail, [FieldError(at, "out_of_range", detail) for at in places or [""]])


def _infinite(value: Any, at: str) -> Iterator[str]:
    """Places of numbers beyond the largest float: JSON, but no numbers to reckon with."""
    if isinstance(value, float) and math.isinf(value):
        yield at
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _infinite(item, at + pointer(name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _infinite(item, f"{at}/{index}")


def selected(path: Selector, wish: PredictOptions) -> Selector:
    """
    Join what path and query say to what the body says.

    Raises
    ------
    InvalidError
        They name two models, or alias and version, or one of them twice.
    """
    if path.model is not None and wish.model not in (None, path.model):
        raise _inconsistent("/model", "is another one than that of the path")
    given = [one for one in (path.alias, path.version, wish.alias, wish.version) if one is not None]
    if len(given) > 1:
        raise _inconsistent("/alias" if wish.version is None else "/version", "give one alias or one version")
    version = path.version or wish.version
    alias = path.alias or wish.alias or (CHAMPION if version is None else None)
    return Selector(path.tenant, path.model or wish.model, alias, version)


def _inconsistent(place: str, detail: str) -> InvalidError:
    return InvalidError("invalid", "the request is not consistent", [FieldError(place, "exclusive", detail)])


def _check(wish: PredictBody) -> None:
    check_options(wish)
    if not wish.rows:
        fault = FieldError("/rows", "too_few", "at least one row is needed")
        raise InvalidError("invalid", "a field of the request is wrong", [fault])
    check_ids(wish.rows)


def check_ids(rows: Sequence[Any]) -> None:
    """Refuse ids of rows that are neither text nor numbers."""
    faults = list[FieldError]()
    for index, row in enumerate(rows):
        if type(row) is not dict or "id" not in row:
            continue
        if not is_id(row["id"]):
            faults.append(FieldError(pointer("rows", index, "id"), "wrong_type", "must be text or a number"))
    if faults:
        raise InvalidError("invalid", "a field of the request is wrong", faults)


def is_id(given: object) -> bool:
    """Whether this may be the id of a row."""
    return isinstance(given, str | int | float | None) and not isinstance(given, bool)


def check_options(wish: PredictOptions) -> None:
    """Refuse options beyond their bounds, and those that exclude each other."""
    if wish.own_costs is not None and wish.cost_spec is not None:
        raise _inconsistent("/cost_spec", "cannot be given together with costs")
    faults = [
        FieldError(f"/{name}", "too_short", "must be a name, or be left out")
        for name in ("model", "alias")
        if getattr(wish, name) == ""
    ]
    if wish.threshold is not None and not 0.0 <= wish.threshold <= 1.0:
        faults.append(FieldError("/threshold", "out_of_range", "must lie between 0 and 1"))
    if wish.explain is not None and wish.explain.top is not None and wish.explain.top < 1:
        faults.append(FieldError("/explain/top", "out_of_range", "must be at least 1"))
    if wish.version is not None and not 1 <= wish.version < 2**31:
        faults.append(FieldError("/version", "out_of_range", "must be the number of a version"))
    if faults:
        raise InvalidError("invalid", "a field of the request is wrong", faults)


def refusal_of(error: msgspec.ValidationError) -> InvalidError:
    """Say in our words what msgspec found wrong."""
    return _invalid(str(error))


def _spoken(kinds: str) -> str:
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds.split(" | "))


def _invalid(message: str) -> InvalidError:
    match = _PLACE.fullmatch(message)
    assert match is not None
    detail, place = match["detail"], match["place"] or ""
    steps = [name or index for name, index in _STEP.findall(place) if name or index != "..."]
    code = "wrong_type"
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", detail, re.DOTALL):
        steps, code, detail = [*steps, unknown[1]], "unknown_field", _UNKNOWN
    elif missing := re.fullmatch(r"Object missing required field `(.*)`", detail):
        steps, code, detail = [*steps, missing[1]], "missing", "is required"
    elif detail.startswith("Invalid enum value"):
        code, detail = "unknown_value", f"must be {_CHOICES[steps[-1]]}"
    elif typed := re.fullmatch(r"Expected `(.*)`, got `(.*)`", detail):
        detail = f"must be {_spoken(typed[1])}, not {_spoken(typed[2])}"
        if len(steps) == 1 and steps[0] in _EXAMPLES:
            detail += f", {_EXAMPLES[steps[0]]}"
    return InvalidError(
        "invalid", "a field of the request is wrong", [FieldError(pointer(*steps), code, detail)]
    )
