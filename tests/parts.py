"""`pytest --part NUMBER/COUNT`: every COUNT-th of the tests that would run, from the NUMBER-th on. All parts together are all tests."""

import pytest


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", type=numbers_of, metavar="NUMBER/COUNT", help="run one of COUNT parts of the tests"
    )


def numbers_of(text: str) -> tuple[int, int]:
    """Raise ValueError if there is no such part."""
    number, count = (int(digits) for digits in text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(f"{number} is not a part of {count}")
    return number, count


def deselect_others(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("part") is None:
        return
    number, count = config.getoption("part")
    chosen = items[number - 1 :: count]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
