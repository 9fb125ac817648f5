"""Checkpoints in memory, and a training that is interrupted."""


class DeathError(Exception):
    """Stands for the death of the process."""


class KeptFits:
    """Keeps scores by name, and interrupts after so many; rounds too, if asked."""

    def __init__(self, dies_after=None, is_due=False):
        self.scores, self.found, self.dies_after, self.is_due = {}, [], dies_after, is_due

    def find(self, fit):
        self.found += [fit] * (fit in self.scores)
        return self.scores.get(fit)

    def keep(self, fit, scores):
        assert fit not in self.scores
        self.scores[fit] = scores
        if len(self.scores) == self.dies_after:
            raise DeathError
