"""TLS to Redis and to the broker: no connection of the product speaks to a server that it cannot verify."""

import asyncio
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from celery import Celery
from kombu.exceptions import OperationalError
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from chat.infrastructure.redis_client import connection_pool
from config.broker_tls import broker_options, with_plain_requirement, wrong_option
from tests.services import Services
from tests.tls_front import Certificates, TlsFront, make_certificates

PASSWORD = "p@ss:w/rd?#%"


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return make_certificates(tmp_path, "127.0.0.1")


@pytest.fixture
def front(certificates: Certificates, services: Services) -> Iterator[TlsFront]:
    with TlsFront(certificates, services.environment()["REDIS_URL"]) as front:
        yield front


def with_ca_file(url: str, path: str) -> str:
    return f"{url}?ssl_ca_certs={quote(path)}"


def by_celery(url: str) -> None:
    app = Celery(set_as_current=False)
    app.conf.broker_url, app.conf.broker_use_ssl = broker_options(url)
    with app.connection_for_write(connect_timeout=5) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0)
        if url.startswith("rediss"):
            connection.default_channel.client.ping()


def by_threads(url: str) -> None:
    with Redis.from_url(url, socket_timeout=5) as client:
        client.ping()


def by_tasks(url: str) -> None:
    async def ping() -> None:
        async with AsyncRedis.from_pool(connection_pool(url, socket_timeout=5)) as client:
            await client.ping()

    asyncio.run(ping())


CONNECTIONS = [
    pytest.param("rediss", by_celery, id="Celery to Redis"),
    pytest.param("amqps", by_celery, id="Celery to RabbitMQ"),
    pytest.param("rediss", by_threads, id="threads to Redis"),
    pytest.param("rediss", by_tasks, id="tasks to Redis"),
]
Connect = Callable[[str], None]


@pytest.mark.parametrize(("scheme", "connect"), CONNECTIONS)
def test_a_server_of_an_unknown_authority_is_told_nothing(
    front: TlsFront, scheme: str, connect: Connect
) -> None:
    with pytest.raises(Exception, match=r"(?i)certificate.verify.failed"):
        connect(f"{scheme}://:{quote(PASSWORD, safe='')}@127.0.0.1:{front.port}/0")
    assert front.received == b""


@pytest.mark.parametrize(("scheme", "connect"), CONNECTIONS)
def test_a_server_of_another_name_is_told_nothing(
    tmp_path: Path, services: Services, scheme: str, connect: Connect
) -> None:
    certificates = make_certificates(tmp_path, "other.example")
    with TlsFront(certificates, services.environment()["REDIS_URL"]) as front:
        url = with_ca_file(f"{scheme}://:secret@127.0.0.1:{front.port}/0", str(certificates.ca))
        with pytest.raises(Exception, match=r"(?i)certificate.verify.failed"):
            connect(url)
        assert front.received == b""


@pytest.mark.parametrize(("scheme", "connect"), [case for case in CONNECTIONS if "rediss" in case.values])
def test_a_server_of_a_private_authority_is_talked_to(
    front: TlsFront, certificates: Certificates, scheme: str, connect: Connect
) -> None:
    connect(with_ca_file(f"{scheme}://{front.userinfo}127.0.0.1:{front.port}/0", str(certificates.ca)))
    assert front.received


def test_a_rabbitmq_of_a_private_authority_is_talked_to(certificates: Certificates) -> None:
    with TlsFront(certificates) as front:  # which hangs up after the handshake
        with pytest.raises(OperationalError, match="closed"):
            by_celery(with_ca_file(f"amqps://127.0.0.1:{front.port}//", str(certificates.ca)))
        assert front.received.startswith(b"AMQP")


@pytest.mark.parametrize("connect", [by_celery, by_threads])
def test_a_password_with_reserved_characters_arrives_as_it_is(
    front: TlsFront, certificates: Certificates, connect: Connect
) -> None:
    url = f"rediss://someone:{quote(PASSWORD, safe='')}@127.0.0.1:{front.port}/0"
    with pytest.raises(Exception, match=r"(?i)invalid (username-password pair|password)"):
        connect(with_ca_file(url, str(certificates.ca)))
    assert PASSWORD.encode() in front.received


def test_only_a_url_that_says_so_is_not_verified(front: TlsFront, certificates: Certificates) -> None:
    by_celery(f"rediss://{front.userinfo}127.0.0.1:{front.port}/0?ssl_cert_reqs=none")
    assert front.received
    with TlsFront(certificates) as rabbit:
        with pytest.raises(OperationalError, match="closed"):
            by_celery(f"amqps://127.0.0.1:{rabbit.port}//?ssl_cert_reqs=none")
        assert rabbit.received.startswith(b"AMQP")


@pytest.mark.pure
def test_a_url_keeps_what_it_says_and_one_without_tls_is_unchanged() -> None:
    assert broker_options("redis://h/0") == ("redis://h/0", {})
    assert (
        wrong_option("rediss://h/0?ssl_cert_reqs=maybe")
        == "ssl_cert_reqs must be one of none, optional, required"
    )
    assert not wrong_option("amqps://h/0?ssl_cert_reqs=optional")


@pytest.mark.pure
@pytest.mark.parametrize("scheme", ["rediss", "amqps"])
def test_a_requirement_may_be_written_as_celery_documents_it(scheme: str) -> None:
    url = f"{scheme}://h/0?ssl_cert_reqs=CERT_OPTIONAL"
    assert not wrong_option(url)
    assert ssl.CERT_OPTIONAL in broker_options(url)[1].values()


@pytest.mark.pure
def test_redis_py_understands_a_requirement_that_celery_documents() -> None:
    url = with_plain_requirement("rediss://h/0?ssl_cert_reqs=CERT_OPTIONAL")
    connection = Redis.from_url(url).connection_pool.make_connection()
    assert connection.cert_reqs == ssl.CERT_OPTIONAL
    assert with_plain_requirement("rediss://h/0?a=b") == "rediss://h/0?a=b"
