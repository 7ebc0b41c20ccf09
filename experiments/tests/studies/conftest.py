import multiprocessing

import pytest


@pytest.fixture(scope="session")
def processes():
    """Real processes that start at once, because their server has done the imports."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no fork server")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sparsieve_experiments.studies"])
    return context
