"""Sources of public data: addresses, checksums, download."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.writing import write_whole


class Layout(StrEnum):
    """How the file at the public address is written."""

    COMMA = "comma-separated, no header"
    COMMA_WITH_HEADER = "comma-separated, with a header"
    SPACES = "separated by spaces, no header"
    R_OBJECT = "R data frame"


@dataclass(frozen=True)
class Source:
    """A public data set that is downloaded when it is not in a local folder."""

    name: str  # what users call it
    title: str  # what it is
    rows: int  # how many records it has
    header: str  # its column names, in order, separated by spaces
    origin: str  # who published it
    licence: str  # under which terms
    address: str  # where the raw file is
    sha256: str  # the hash of its bytes
    layout: Layout  # how the raw file is written
    local_file: str  # what the same data, as CSV with a header, is called in a local folder

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.header.split())


_GITHUB = "https://raw.githubusercontent.com/"
_SDCMICRO = _GITHUB + "sdcTools/sdcMicro/cf3251017482bb215f0a9abf4a930f502399fb72/data/"
_UCI_COPY = _GITHUB + "jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f/"
_DERMATOLOGY = _GITHUB + "lobiviam/methods-of-data-analysis/3935133e95e53b0000b90ae135d5e471867055cc/"

_CASC = "CASC project reference microdata (Brand, Domingo-Ferrer, Mateo-Sanz 2002)"
_CASC_TERMS = "public use file; the package that carries it is GPL-2"
_UCI = "UCI Machine Learning Repository"
_UCI_TERMS = "CC BY 4.0 as stated by UCI"

_ALL = (
    Source(
        name="census",
        title="CASC Census: US Current Population Survey 1995, income and taxes, no missing values",
        rows=1080,
        header=(
            "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL"
        ),
        origin=_CASC,
        licence=_CASC_TERMS,
        address=_SDCMICRO + "CASCrefmicrodata.rda",
        sha256="147d0d7fa823a384e36c2297174560e32cdbe6e39803f22f797610fb1a2993d6",
        layout=Layout.R_OBJECT,
        local_file="casc_census.csv",
    ),
    Source(
        name="tarragona",
        title="CASC Tarragona: accounts of companies near Tarragona in 1995",
        rows=834,
        header=(
            "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES "
            "LABOR.COSTS DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT"
        ),
        origin=_CASC,
        licence=_CASC_TERMS,
        address=_SDCMICRO + "Tarragona.rda",
        sha256="e83def0648be5e47eaf202b4dd60dd6981591d0858fd249817b9a2cc97cf2aef",
        layout=Layout.R_OBJECT,
        local_file="casc_tarragona.csv",
    ),
    Source(
        name="eia",
        title="CASC EIA: monthly revenue and sales of US electric utilities in 1996",
        rows=4092,
        header=(
            "UTILITYID UTILNAME STATE YEAR MONTH RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE "
            "INDSALES OTHREVENUE OTHRSALES TOTREVENUE TOTSALES"
        ),
        origin=_CASC,
        licence=_CASC_TERMS,
        address=_SDCMICRO + "EIA.rda",
        sha256="8b61ceb0d1fa01d024bd62171655601abed62ff70a5e9e6fd550c43a1f76695e",
        layout=Layout.R_OBJECT,
        local_file="casc_eia.csv",
    ),
    Source(
        name="abalone",
        title="Abalone: sex, size, weights and rings of shellfish",
        rows=4177,
        header="Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight Rings",
        origin=_UCI,
        licence=_UCI_TERMS,
        address=_UCI_COPY + "abalone.csv",
        sha256="eb2de13be807e9bb9ec4128b9c89b98ab23d7739121cfd17b7dde69b46ba7bf6",
        layout=Layout.COMMA,
        local_file="uci_abalone.csv",
    ),
    Source(
        name="ionosphere",
        title="Ionosphere: radar returns; a02 is constant",
        rows=351,
        header=" ".join(f"a{number:02d}" for number in range(1, 35)) + " class",
        origin=_UCI,
        licence=_UCI_TERMS,
        address=_UCI_COPY + "ionosphere.csv",
        sha256="fd6dd7864b55d56dac0a1e6e24af9ccc35bf2555ac79af8ab9f3d1daa065ab83",
        layout=Layout.COMMA,
        local_file="uci_ionosphere.csv",
    ),
    Source(
        name="boston-housing",
        title="Boston housing 1978; the column B is derived from race and contentious",
        rows=506,
        header="CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV",
        origin="Harrison and Rubinfeld 1978, StatLib",
        licence="none stated",
        address=_UCI_COPY + "housing.data",
        sha256="e3e36f7b9e5435f9eb8320e106aebad00031fefa3064527da0c71dec59e49b76",
        layout=Layout.SPACES,
        local_file="uci_boston_housing.csv",
    ),
    Source(
        name="dermatology",
        title="Dermatology: graded symptoms of skin diseases; 8 ages are missing",
        rows=366,
        header=(
            "erythema scaling definite_borders itching koebner_phenomenon polygonal_papules "
            "follicular_papules oral_mucosal_involvement knee_and_elbow_involvement scalp_involvement "
            "family_history melanin_incontinence eosinophils_in_the_infiltrate pnl_infiltrate "
            "fibrosis_of_the_papillary_dermis exocytosis acanthosis hyperkeratosis parakeratosis "
            "clubbing_of_the_rete_ridges elongation_of_the_rete_ridges "
            "thinning_of_the_suprapapillary_epidermis spongiform_pustule munro_microabcess "
            "focal_hypergranulosis disappearance_of_the_granular_layer "
            "vacuolisation_and_damage_of_basal_layer spongiosis saw_tooth_appearance_of_retes "
            "follicular_horn_plug perifollicular_parakeratosis inflammatory_monoluclear_inflitrate "
            "band_like_infiltrate age class"
        ),
        origin=_UCI,
        licence=_UCI_TERMS,
        address=_DERMATOLOGY + "dermatology.data",
        sha256="e58bcea5bfaef3fd2b9f21cf6833ea1a894c7c306aa9828c1dde209504b43fc8",
        layout=Layout.COMMA_WITH_HEADER,
        local_file="uci_dermatology.csv",
    ),
    Source(
        name="adult",
        title="Adult: training part of the US Census income data; 30162 complete records",
        rows=32561,
        header=(
            "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
            "capital-gain capital-loss hours-per-week native-country class"
        ),
        origin=_UCI,
        licence=_UCI_TERMS,
        address=_UCI_COPY + "adult-train.csv",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        layout=Layout.COMMA,
        local_file="uci_adult_train.csv",
    ),
    Source(
        name="german-credit",
        title="Statlog German credit: codes as published; class 1 is good, 2 is bad",
        rows=1000,
        header=(
            "checking_status duration_months credit_history purpose credit_amount savings employment_since "
            "installment_rate personal_status_sex other_debtors residence_since property age "
            "other_installment_plans housing existing_credits job num_dependents telephone foreign_worker "
            "class"
        ),
        origin=_UCI,
        licence=_UCI_TERMS,
        address=_UCI_COPY + "german.csv",
        sha256="ec12a88b9fc14d74ba646ea0410cf7ff4533bec2eb61652f8ad76796bbfec017",
        layout=Layout.COMMA,
        local_file="uci_german_credit.csv",
    ),
)

SOURCES: Mapping[str, Source] = MappingProxyType({source.name: source for source in _ALL})
"""Downloadable data by name."""


TIMEOUT_SECONDS = 30

_PART = 1 << 16
"""Bytes that are fetched between two looks at how far it is."""


def cache_folder() -> Path:
    """Where downloads are kept: the folder in LINKRISK_CACHE, else the cache folder of the system."""
    chosen = os.environ.get("LINKRISK_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local, "linkrisk", "linkrisk", "Cache")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "linkrisk"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "linkrisk")


def cached_file(source: Source) -> Path:
    """Where the raw file of a source is or would be kept."""
    return cache_folder() / f"{source.name}-{source.address.rsplit('/', 1)[-1]}"


def is_cached(source: Source) -> bool:
    """Whether the raw file of a source is in the cache, whole."""
    path = cached_file(source)
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == source.sha256


def download(source: Source) -> Path:
    """Download the raw file of a source unless the cache has it.

    The file takes its name in the cache only when it is complete and its hash is right.
    """
    path = cached_file(source)
    if is_cached(source):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = _fetched(source)
        if hashlib.sha256(content).hexdigest() != source.sha256:
            raise _DownloadError(f"the file at {source.address} is not the expected one (its sha256 differs)")
        write_whole(path, content)
    except _DownloadError as error:
        raise DataError(
            f"{source.name}: {error}; try again later or put {source.local_file} into the folder named by "
            "LINKRISK_DATA"
        ) from error
    except OSError as error:
        raise DataError(
            f"{source.name}: the cache folder {cache_folder()} cannot be used "
            f"({(error.strerror or str(error)).lower()}); name another folder in LINKRISK_CACHE"
        ) from error
    return path


class _DownloadError(Exception):
    """Why a file could not be had."""


def _fetched(source: Source) -> bytes:
    """What the address answers."""
    # Imported here because they take long and most runs download nothing.
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    address = source.address
    late = f"no answer from {address} within {TIMEOUT_SECONDS} seconds"
    try:
        with urlopen(address, timeout=TIMEOUT_SECONDS) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
            parts = _shown(source.name, size, iter(lambda: answer.read(_PART), b""))
            content = b"".join(parts)
    except HTTPError as error:
        error.close()
        raise _DownloadError(f"the server answered {error.code} for {address}") from error
    except (URLError, ConnectionError) as error:
        slow = isinstance(getattr(error, "reason", None), TimeoutError)
        raise _DownloadError(late if slow else f"no connection to {address}") from error
    except TimeoutError as error:
        raise _DownloadError(late) from error
    except (OSError, HTTPException) as error:
        raise _DownloadError(f"the download from {address} failed ({type(error).__name__})") from error
    if len(content) < size:
        raise _DownloadError(f"the download from {address} broke off")
    return content


def _shown(name: str, size: int, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Parts as they come in, with a line on standard error of how far they are, if it is a terminal."""
    shown, come = sys.stderr.isatty(), 0
    whole = f" of {size / 1e6:.1f}" if size else ""
    try:
        for part in parts:
            come += len(part)
            if shown:
                print(
                    f"\rdownloading {name}: {come / 1e6:.1f}{whole} MB", end="", file=sys.stderr, flush=True
                )
            yield part
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
