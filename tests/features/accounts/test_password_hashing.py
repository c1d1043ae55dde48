"""How many logins hash and wait at once, and who is refused."""

import threading
from contextlib import ExitStack

import pytest

from chat.protocol.errors import ApiError
from features.accounts.login_attempt import PasswordHashing

pytestmark = pytest.mark.pure


def refusal(hashing: PasswordHashing, address: str) -> str:
    with pytest.raises(ApiError) as refused, hashing.entered(address):
        pass
    assert refused.value.retry_after_s
    return refused.value.code


def test_one_address_takes_only_its_share_of_the_places() -> None:
    hashing = PasswordHashing(slots=1, max_inside=5, max_inside_per_address=2)
    with ExitStack() as inside:
        for _ in range(2):
            inside.enter_context(hashing.entered("192.0.2.7"))
        assert refusal(hashing, "192.0.2.7") == "rate_limited"
        for number in range(3):
            inside.enter_context(hashing.entered(f"192.0.2.{number}"))
        assert refusal(hashing, "192.0.2.9") == "login_busy"
    for _ in range(10):  # every place is free again
        with hashing.entered("192.0.2.7"):
            pass


def test_no_more_than_the_slots_hash_at_once() -> None:
    hashing = PasswordHashing(slots=2, max_inside=20, max_inside_per_address=20)
    lock, hashes, most = threading.Lock(), 0, 0
    two = threading.Barrier(2)

    def log_in() -> None:
        nonlocal hashes, most
        with hashing.entered("192.0.2.7"), hashing.slot():
            with lock:
                hashes += 1
                most = max(most, hashes)
            two.wait(30)  # the slots are used side by side, two by two
            with lock:
                hashes -= 1

    threads = [threading.Thread(target=log_in) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (hashes, most) == (0, 2)
