"""A real S3-compatible server (SeaweedFS) with one bucket, on loopback; ends with the test process."""

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.instance import free_port
from tests.process_reaper import end_with_this_process

KEY, SECRET, BUCKET = "turnwire", "secret-of-tests", "turnwire-tests"
PATIENCE_S = 60
_PORTS = (
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
    "s3.port.grpc",
)  # fmt: skip


class ObjectStore:
    """Keeps its objects when it is stopped and started again."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="turnwire-s3-"))
        self.port = free_port()
        self._ports = {name: free_port() for name in _PORTS}
        self._process: subprocess.Popen[bytes] | None = None
        actions = ["Admin", "Read", "Write", "List"]
        owner = {
            "name": "tests",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": actions,
        }
        reader = {
            "name": "reader",
            "credentials": [{"accessKey": "reader", "secretKey": SECRET}],
            "actions": ["Read"],
        }
        (self.directory / "s3.json").write_text(json.dumps({"identities": [owner, reader]}))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, prefix: str = "", *, key: str = KEY, secret: str = SECRET, **differs: str) -> str:
        """For STORAGE_URL. differs: bucket, endpoint."""
        endpoint = quote(differs.get("endpoint", self.endpoint))
        bucket = differs.get("bucket", BUCKET)
        return f"s3://{key}:{secret}@{bucket}/{prefix}?endpoint_url={endpoint}&region=us-east-1"

    def start(self) -> None:
        """Return once it stores objects."""
        directory = self.directory
        options = {
            "dir": directory, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "filer": "true", "s3": "true",
            "s3.port": self.port, "s3.config": directory / "s3.json", "s3.iam": "false", "s3.autoCreateBucket": "false",
            "s3.port.iceberg": 0, "s3.port.lance": 0, "s3.localSocket": directory / "s3.sock",
            "filer.localSocket": directory / "filer.sock", "master.telemetry": "false", "volume.max": 10,
            "master.volumeSizeLimitMB": 100, **self._ports,
        }  # fmt: skip
        program = [str(Path(sys.executable).with_name("weed")), "server"]
        with (directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                program + [f"-{name}={value}" for name, value in options.items()],
                cwd=directory, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        end_with_this_process(self._process)
        self._wait_until_it_stores()

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def keys(self, prefix: str = "") -> list[str]:
        pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return sorted(
            entry["Key"].removeprefix(f"{prefix}/") for page in pages for entry in page.get("Contents", ())
        )

    def client(self) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10)
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1", config=config,
            aws_access_key_id=KEY, aws_secret_access_key=SECRET,
        )  # fmt: skip

    def _wait_until_it_stores(self) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        client = self.client()
        limit = time.monotonic() + PATIENCE_S
        while True:
            try:
                with contextlib.suppress(
                    client.exceptions.BucketAlreadyExists, client.exceptions.BucketAlreadyOwnedByYou
                ):
                    client.create_bucket(Bucket=BUCKET)
                client.put_object(Bucket=BUCKET, Key="started", Body=b"x")
                client.delete_object(Bucket=BUCKET, Key="started")
            except (BotoCoreError, ClientError):
                if time.monotonic() > limit:
                    raise RuntimeError((self.directory / "log").read_text()[-2000:]) from None
                time.sleep(0.1)
            else:
                return
