"""Taking in what became known of decisions."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session, sessionmaker

from service.db import feedback
from service.domain.errors import MAX_LISTED_ERRORS, FieldError, InvalidError, listed, pointer
from service.domain.faults import counted
from service.domain.feedback import Counts, Feedback, FeedbackItem, Ledger
from service.domain.ids import new_id
from service.domain.nearest import listed_for

#: A clock of a sender may be ahead of ours by so much.
SKEW = timedelta(minutes=5)


def give(sessions: sessionmaker[Session], tenant: str, items: Sequence[FeedbackItem]) -> Counts:
    """
    Keep labels, each once; a later observation takes the place of an earlier one.

    Raises
    ------
    InvalidError
        A label is no class of the version that decided, or was observed in the future; nothing is kept.
    """
    now = datetime.now(UTC)
    named = {item.prediction_id for item in items}
    with sessions() as session:
        classes = feedback.classes_of(session, tenant, named)
        _check(items, classes, now)
        ledger = Ledger(feedback.current(session, tenant, classes))
        for item in items:
            if item.prediction_id in classes:
                ledger.take(_of(item, tenant, now))
            else:
                ledger.counts.unknown += 1
        feedback.confirm(session, tenant, ledger.confirmed)
        feedback.supersede(session, tenant, ledger.superseded, now)
        feedback.add_all(session, ledger.added.values())
        session.commit()
    return ledger.counts


def read(readers: sessionmaker[Session], tenant: str, prediction_id: str) -> Feedback | None:
    """Give what counts of what became known of a decision."""
    with readers() as session:
        return feedback.current(session, tenant, [prediction_id]).get(prediction_id)


def _of(item: FeedbackItem, tenant: str, now: datetime) -> Feedback:
    return Feedback(
        id=new_id("fb"),
        tenant_id=tenant,
        prediction_id=item.prediction_id,
        label=item.label,
        observed_at=item.observed_at or now,
        amount=item.amount,
        received_at=now,
    )


def _check(items: Sequence[FeedbackItem], classes: Mapping[str, frozenset[str]], now: datetime) -> None:
    faults = list[FieldError]()
    for index, item in enumerate(items):
        known = classes.get(item.prediction_id)
        if known is not None and item.label not in known:
            names = sorted(known)
            told = listed_for(item.label, names) if len(faults) < MAX_LISTED_ERRORS else listed(names)
            detail = f"is not a class of the version that decided; they are {told}"
            faults.append(FieldError(pointer("items", index, "label"), "unknown_class", detail))
        if item.observed_at is not None and item.observed_at > now + SKEW:
            detail = "cannot lie in the future"
            faults.append(FieldError(pointer("items", index, "observed_at"), "out_of_range", detail))
    if faults:
        raise InvalidError("invalid", counted(faults), faults)
