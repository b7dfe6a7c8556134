"""A certificate authority of its own for each test."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Authority:
    def __init__(self, directory, name):
        self.directory = directory
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"test authority {name}")])
        self.certificate = directory / f"{name}-authority.pem"
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        built = self._builder(self.name, self.key).add_extension(constraints, critical=True)
        self.certificate.write_bytes(built.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def issue(self, name, *hosts):
        """The paths of a certificate for these names and addresses, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        names = x509.SubjectAlternativeName([general_name(host) for host in hosts])
        built = self._builder(subject, key).add_extension(names, critical=False).sign(self.key, hashes.SHA256())
        certificate_path, key_path = self.directory / f"{name}.pem", self.directory / f"{name}.key"
        certificate_path.write_bytes(built.public_bytes(Encoding.PEM))
        key_path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate_path, key_path

    def _builder(self, subject, key):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
        )


def general_name(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
