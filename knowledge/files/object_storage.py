"""Contents of files in a bucket of an S3-compatible server. Imported only if STORAGE_URL is set: boto3 takes 0.3 s."""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, Final
from uuid import uuid4

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from django.core.files.base import ContentFile, File
from storages.backends.s3 import S3Storage

_CHUNK_BYTES: Final = 64 * 1024
# In seconds, for each of two attempts at most. Requests of users wait for them.
_TIMEOUTS: Final = {"connect_timeout": 3, "read_timeout": 10}
# Always one request, which stores a whole content or nothing. Parts of a multipart upload would stay, invisible, when
# the process is killed.
_TRANSFER: Final = TransferConfig(multipart_threshold=5 * 1024**3, use_threads=False)
# Error codes for an object that does not exist; the answer to HEAD has only the status.
_MISSING: Final = ("404", "NoSuchKey")
_WORDS: Final = {
    "NoSuchBucket": "there is no such bucket",
    "InvalidAccessKeyId": "the access key is unknown",
    "SignatureDoesNotMatch": "the secret key is wrong",
    "AccessDenied": "the credentials do not allow it",
    "403": "the credentials do not allow it",
    "PermanentRedirect": "the bucket is in another region",
    "AuthorizationHeaderMalformed": "the bucket is in another region",
}


class ObjectStorage(S3Storage):  # type: ignore[misc]
    """Storage in a bucket, with one client for all threads.
    It raises the errors of a folder: FileNotFoundError if a content does not exist, OSError for all other failures.
    """

    def __init__(self, *, addressing_style: str, **options: Any) -> None:
        config = Config(
            **_TIMEOUTS,
            retries={"total_max_attempts": 2, "mode": "standard"},
            s3={"addressing_style": addressing_style},
            # Servers other than AWS rarely support the newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(client_config=config, transfer_config=_TRANSFER, **options)

    @cached_property
    def connection(self) -> Any:
        """The resource that all threads share. The library creates one per thread, which takes 0.1 s and 10 MB."""
        session = boto3.Session(
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            aws_session_token=self.security_token,
        )
        return session.resource(
            "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config
        )

    def chunks(self, name: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Read the bytes from `start` to before `stop`, or to the end; no others are transferred. Raises OSError."""
        key = posixpath.join(self.location, name)
        is_whole = start == 0 and stop is None
        part = {} if is_whole else {"Range": f"bytes={start}-{'' if stop is None else stop - 1}"}
        with _os_errors(name):
            answer = self.connection.meta.client.get_object(Bucket=self.bucket_name, Key=key, **part)
            with closing(answer["Body"]) as body:
                yield from body.iter_chunks(_CHUNK_BYTES)

    def find_problem(self) -> str:
        """Store, read, list and delete a content; return the first problem in words, empty if there is none."""
        path = f"checks/{uuid4()}"
        steps: dict[str, Callable[[], object]] = {
            "store": lambda: self.save(path, ContentFile(b"check")),
            "read": lambda: list(self.chunks(path, 1, 2)),
            "list": lambda: self.listdir("checks"),
            "delete": lambda: self.delete(path),
        }
        for verb, step in steps.items():
            try:
                step()
            except OSError as error:
                return f"cannot {verb} a content: {error}"
        return ""

    def _open(self, name: str, mode: str = "rb") -> File[Any]:  # noqa: ARG002
        return ContentFile(b"".join(self.chunks(name)), name)

    def _save(self, name: str, content: Any) -> str:
        with _os_errors(name):
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with _os_errors(name):
            super().delete(name)

    def exists(self, name: str) -> bool:
        with _os_errors(name):
            return bool(super().exists(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with _os_errors(path):
            folders, names = super().listdir(path)
            return folders, names

    def size(self, name: str) -> int:
        with _os_errors(name):
            return int(super().size(name))

    def get_modified_time(self, name: str) -> Any:
        with _os_errors(name):
            return super().get_modified_time(name)


@contextmanager
def _os_errors(name: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in _MISSING:
            raise FileNotFoundError(name) from None
        raise OSError(f"{_WORDS[code]} ({code})" if code in _WORDS else str(error)) from error
    except NoCredentialsError as error:
        raise OSError("there are no credentials") from error
    except (BotoCoreError, Boto3Error) as error:
        raise OSError(str(error)) from error
