"""Runs nginx with docs/proxies/nginx.conf, over TLS at a loopback port and in front of one web process."""

import os
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.instance import ROOT, free_port, is_listening
from tests.process_reaper import end_with_this_process
from tests.tls_front import make_certificates

PATIENCE_S = 30.0
# What belongs to the machine and not to the documented part; Debian installs it where only root looks.
MAIN = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{documented}
}}
"""


class Front(NamedTuple):
    """url: with https.  redirecting_url: the one without TLS.  tls: trusts the certificate."""

    url: str
    redirecting_url: str
    tls: ssl.SSLContext


def find_nginx() -> str:
    """The program's path. Without it the test is skipped with a message, or fails if CI=true."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
    if found is None:
        assert os.environ.get("CI") != "true", "nginx is not installed"
        pytest.skip("nginx is not installed: the documented proxy was NOT tested")
    return found


@contextmanager
def documented_proxy(folder: Path, web_port: int) -> Iterator[Front]:
    port, plain_port = free_port(), free_port()
    certificates = make_certificates(folder, "127.0.0.1")
    documented = (ROOT / "docs" / "proxies" / "nginx.conf").read_text(encoding="utf-8")
    own = {
        r"listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        r"listen 80;": f"listen 127.0.0.1:{plain_port};",
        r"(ssl_certificate(?:_key)?) [^;]*;": rf"\1 {certificates.server};",
        r"(upstream \w+ \{[^}]*?)(server [^;]*;\s*)+": rf"\1server 127.0.0.1:{web_port};",
    }
    for pattern, replacement in own.items():
        documented, count = re.subn(pattern, replacement, documented)
        assert count, f"the documented configuration has no {pattern}"
    path = folder / "nginx.conf"
    path.write_text(MAIN.format(folder=folder, documented=documented), encoding="utf-8")
    process = subprocess.Popen([find_nginx(), "-c", str(path), "-e", str(folder / "error.log")])
    end_with_this_process(process)
    try:
        _wait_for(port, process, folder)
        tls = ssl.create_default_context(cafile=str(certificates.ca))
        yield Front(f"https://127.0.0.1:{port}", f"http://127.0.0.1:{plain_port}", tls)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not is_listening(port):
        assert process.poll() is None, (folder / "error.log").read_text()
        assert time.monotonic() < limit, "nginx does not listen"
        time.sleep(0.05)
