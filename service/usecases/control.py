"""Letting a share of refused rows through, so that it becomes known what refusing costs."""

from dataclasses import replace

import numpy as np

from service.learning import Answers
from service.usecases.predicting import Control, Predicted
from service.usecases.scoring import Loaded

_RANDOM = np.random.default_rng()


def controlled(predicted: Predicted, loaded: Loaded, random: np.random.Generator = _RANDOM) -> Predicted:
    """Let chance answer the share of refused rows that the model says; without a share nothing changes."""
    share, positive = loaded.model.control_share, loaded.predictor.positive
    if share is None or positive is None or predicted.answers is None:
        return predicted
    return _let_through(predicted, predicted.answers, positive, share, random)


def _let_through(
    predicted: Predicted, answers: Answers, positive: str, share: float, random: np.random.Generator
) -> Predicted:
    refusing = answers.classes.index(positive)
    passing = [action for action, served in enumerate(answers.serves) if served == 1 - refusing]
    refused = answers.label == refusing
    if not passing or not refused.any():
        return predicted
    drawn = refused & (random.random(len(refused)) < share)
    cheapest = np.array(passing)[answers.expected_cost[:, passing].argmin(axis=1)]
    control = Control(
        drawn=drawn,
        rule_decision=answers.decision,
        propensity=np.where(drawn, share, np.where(refused, 1.0 - share, 1.0)),
    )
    answered = replace(
        answers,
        decision=np.where(drawn, cheapest, answers.decision),
        label=np.where(drawn, 1 - refusing, answers.label),
    )
    return replace(predicted, answers=answered, control=control)
