"""Programs of the system's packages that few tests need: R for `make test-r`, Java for `make test-engines`, nginx and
LaTeX for `make test-long`, debootstrap for `make machine`.

python -m tools.packages install-debootstrap
python -m tools.packages install-r
python -m tools.packages install-java
python -m tools.packages install-latex
python -m tools.packages install-servers
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys


class MissingTool(RuntimeError):
    """A program that the tests need is not here."""


def can_install() -> bool:
    """Whether packages of the system can be installed: by apt, as root."""
    return bool(shutil.which("apt-get")) and os.geteuid() == 0


def install_package(package: str) -> None:
    """Install a package of the system."""
    _update()
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])


@functools.cache
def _update() -> None:
    """Learn which packages there are, once a process."""
    run(["apt-get", "update", "-qq"])


def run(command: list[str]) -> None:
    """Run a command that asks nothing and prints nothing unless it fails."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def bring(program: str, package: str) -> None:
    """Install the package of a program, if the program is missing and that may be done."""
    if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin") and can_install():
        install_package(package)


def rscript() -> str:
    """Path of the program that runs R scripts."""
    if found := shutil.which("Rscript"):
        return found
    raise MissingTool("R is needed: run 'make test-r' as root where there is apt, or install R (r-base-core) yourself")


def install_r() -> None:
    """Bring R, if it is missing and that may be done."""
    bring("Rscript", "r-base-core")
    print(f"R: {rscript()}")


def install_java() -> None:
    """Bring Java, on which Spark runs, if it is missing and that may be done."""
    bring("java", "openjdk-17-jre-headless")
    if not shutil.which("java"):
        raise MissingTool(
            "Java 17 or newer is needed: run 'make test-engines' as root where there is apt, or install it yourself"
        )
    print(f"Java: {shutil.which('java')}")


def curl() -> str:
    """Path of the program by which documents ask servers."""
    if found := shutil.which("curl"):
        return found
    raise MissingTool("curl is needed: run 'make test' as root where there is apt, or install it yourself")


def install_debootstrap() -> None:
    """Bring debootstrap, if it is missing and that may be done."""
    bring("debootstrap", "debootstrap")
    if not shutil.which("debootstrap"):
        raise MissingTool("debootstrap is needed: run 'make machine' as root where there is apt")
    print(f"debootstrap: {shutil.which('debootstrap')}")


def nginx() -> str:
    """Path of the web server that stands before collectors and places."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found:
        return found
    raise MissingTool("nginx is needed: run 'make test-long' as root where there is apt, or install it yourself")


def tor() -> str:
    """Path of the program that gives servers an onion address."""
    found = shutil.which("tor") or shutil.which("tor", path="/usr/sbin")
    if found:
        return found
    raise MissingTool("tor is needed: run 'make test-long' as root where there is apt, or install it yourself")


def install_servers() -> None:
    """Bring nginx and Tor, if they are missing and that may be done, and start nothing: tests start their own."""
    os.environ["SYSTEMD_OFFLINE"] = (
        "1"  # systemctl then ignores what the package asks it to start (systemd's ENVIRONMENT)
    )
    bring("nginx", "nginx-light")
    bring("tor", "tor")
    print(f"nginx: {nginx()}, Tor: {tor()}")


def pdflatex() -> str:
    """Path of the program that sets LaTeX."""
    if found := shutil.which("pdflatex"):
        return found
    raise MissingTool("LaTeX is needed: run 'make test-long' as root where there is apt, or install texlive-latex-base")


def install_latex() -> None:
    """Bring LaTeX, if it is missing and that may be done."""
    bring("pdflatex", "texlive-latex-base")
    print(f"LaTeX: {pdflatex()}")


if __name__ == "__main__":
    installers = {
        "install-debootstrap": install_debootstrap,
        "install-java": install_java,
        "install-latex": install_latex,
        "install-r": install_r,
        "install-servers": install_servers,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in installers:
        sys.exit(__doc__)
    installers[sys.argv[1]]()
