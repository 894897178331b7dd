"""Models that tests share are let go before Python ends: compiled indexes would count as leaked."""

from tests.contract import learners


def pytest_sessionfinish() -> None:
    learners.forget_fitted()
