"""TlsFront: terminates TLS in front of a server, and remembers what clients sent through it; authority(): certificates for it."""

import datetime as dt
import select
import socket
import ssl
import threading
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Certificates(NamedTuple):
    """Paths of PEM files. ca: who signed.  server: certificate and key."""

    ca: Path
    server: Path


def make_certificates(folder: Path, name: str) -> Certificates:
    """An authority of its own, and a certificate for this name or address."""
    now = dt.datetime.now(dt.UTC)
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for tests")])

    def builder(subject: x509.Name) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(ca_name)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=1))
        )

    own = x509.BasicConstraints(ca=True, path_length=0)
    signing = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    ca = builder(ca_name).public_key(ca_key.public_key()).add_extension(own, critical=True)
    ca = ca.add_extension(signing, critical=True)
    is_address = name.replace(".", "").isdigit()
    names = [x509.IPAddress(ip_address(name)) if is_address else x509.DNSName(name)]
    leaf = builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])).public_key(key.public_key())
    leaf = leaf.add_extension(x509.SubjectAlternativeName(names), critical=False)
    pem = serialization.Encoding.PEM
    paths = Certificates(folder / "ca.pem", folder / "server.pem")
    paths.ca.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths.server.write_bytes(leaf.sign(ca_key, hashes.SHA256()).public_bytes(pem) + private)
    return paths


class TlsFront:
    """On a loopback port of its own, which leads to the server of a URL; without one it hangs up when something was sent.

    received: what clients sent, decrypted.  userinfo: user and password in that URL, as in the one of the front.
    """

    def __init__(self, certificates: Certificates, url: str = "") -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.server)
        parts = urlsplit(url)
        self._behind = parts.port
        self.userinfo = "".join(parts.netloc.rpartition("@")[:2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.received = b""

    def __enter__(self) -> "TlsFront":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with self._context.wrap_socket(client, server_side=True) as outer:
                if self._behind is None:
                    self.received += outer.recv(65_536)
                    return
                with socket.create_connection(("127.0.0.1", self._behind)) as inner:
                    self._relay(outer, inner)
        except OSError:  # the client does not trust it, or has gone
            client.close()

    def _relay(self, outer: ssl.SSLSocket, inner: socket.socket) -> None:
        while True:
            ready = [outer] if outer.pending() else select.select([outer, inner], [], [])[0]
            for source, target in ((outer, inner), (inner, outer)):
                if source in ready:
                    if not (data := source.recv(65_536)):
                        return
                    if source is outer:
                        self.received += data
                    target.sendall(data)
