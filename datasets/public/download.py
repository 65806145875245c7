"""Download one public file into the cache, with its hash checked and progress on a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.public.sources import Source

TIMEOUT_SECONDS = 30


def cache_folder() -> Path:
    """Where downloads are kept: the folder in LINKRISK_CACHE, else the cache folder of the system."""
    import pooch

    return Path(os.environ.get("LINKRISK_CACHE") or pooch.os_cache("linkrisk"))


def cached_file(source: Source) -> Path:
    """Where the raw file of a source is or would be kept."""
    return cache_folder() / f"{source.name}-{source.address.rsplit('/', 1)[-1]}"


def is_cached(source: Source) -> bool:
    """Whether the raw file of a source is in the cache, whole."""
    import pooch

    path = cached_file(source)
    return path.is_file() and pooch.file_hash(str(path)) == source.sha256


def download(source: Source) -> Path:
    """Download the raw file of a source unless the cache has it.

    The file takes its name in the cache only when it is complete and its hash is right.

    Raises
    ------
    DataError
        If there is no network, the server refuses, the transfer breaks off, the content is not the expected
        one, or the cache folder cannot be written.
    """
    path = cached_file(source)
    if is_cached(source):
        return path
    # Imported here because they take long and most runs download nothing.
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    try:
        with _Bar(source.name) as bar:
            pooch.retrieve(
                url=source.address,
                known_hash=f"sha256:{source.sha256}",
                fname=path.name,
                path=path.parent,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT_SECONDS),
            )
    except (ValueError, OSError) as error:
        # requests' errors are OSErrors too; pooch reports a wrong hash as a ValueError, and leaves the
        # connection of a refused request open.
        if isinstance(error, requests.HTTPError) and error.response is not None:
            error.response.close()
        raise DataError(f"{source.name}: {_explain(error, source)}; {_way_out(error, source)}") from error
    return path


def _explain(error: Exception, source: Source) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} for {source.address}"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the download from {source.address} broke off"
    if isinstance(error, requests.Timeout):
        return f"no answer from {source.address} within {TIMEOUT_SECONDS} seconds"
    if isinstance(error, requests.ConnectionError):
        return f"no connection to {source.address}"
    if isinstance(error, requests.RequestException):
        return f"the download from {source.address} failed ({type(error).__name__})"
    if isinstance(error, OSError):
        return f"the cache folder {cache_folder()} cannot be used ({(error.strerror or str(error)).lower()})"
    return f"the file at {source.address} is not the expected one (its sha256 differs)"


def _way_out(error: Exception, source: Source) -> str:
    import requests

    if isinstance(error, OSError) and not isinstance(error, requests.RequestException):
        return "name another folder in LINKRISK_CACHE"
    return f"try again later or put {source.local_file} into the folder named by LINKRISK_DATA"


class _Bar:
    """A progress bar in the shape that pooch expects; silent unless standard error is a terminal."""

    def __init__(self, name: str) -> None:
        self.total = 0
        self._progress = Progress(
            TextColumn(f"downloading {name}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task(name, total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self, count: int) -> None:
        """Count bytes that have come in."""
        self._progress.update(self._task, advance=count, total=self.total or None)

    def reset(self) -> None:
        """Start counting again."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """Do nothing: the bar ends with its `with` block, also when the download fails."""
