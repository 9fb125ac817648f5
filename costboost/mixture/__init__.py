"""Different learners, weighed by what they say of rows they have not seen."""
