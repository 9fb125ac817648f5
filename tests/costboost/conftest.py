from hypothesis import settings

# The first example of a test may import or compile something; a deadline would make it flaky.
settings.register_profile("costboost", deadline=None)
settings.load_profile("costboost")
