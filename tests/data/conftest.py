"""A machine that is shared stalls now and then: an example that takes long is no failure."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
