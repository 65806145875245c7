"""A scheduler with two workers, processes of this machine, for tests."""

from __future__ import annotations

import contextlib
import logging
import tempfile

ADDRESS_OF_NOBODY = "tcp://127.0.0.1:9"


@contextlib.contextmanager
def small_cluster():
    """Start it, yield its address, and end it; what it says of workers that tests kill is not shown."""
    import dask
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    quick = {
        "distributed.comm.timeouts.connect": "10s",
        "distributed.admin.log-length": 0,
        "distributed.worker.profile.enabled": False,
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set(quick),
        LocalCluster(
            n_workers=2,
            local_directory=folder,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # None takes one port for all, which may be taken
            worker_dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster.scheduler_address
