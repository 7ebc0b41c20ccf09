"""What a fit will cost, said before the work where it is much."""

from __future__ import annotations

from ._checks import warn_user

SECONDS = 20.0  # of CPU; what is expected to take longer is announced
_RATE = 1e9  # multiplications a second of compiled code on one core, as a rule of thumb


def announce(owner: str, work: float, advice: str = "") -> None:
    """Warn of a fit that is expected to take long.

    Parameters
    ----------
    owner : str
        Who will work.
    work : float
        Multiplications to come, to an order of magnitude.
    advice : str, default=""
        What would be faster, if anything is.

    Examples
    --------
    >>> import warnings
    >>> from sparsieve._cost import announce
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     announce("MIKFSSelector", 6e11, "fewer samples are faster")
    >>> print(caught[0].message)
    MIKFSSelector will take about 10 minutes on these data; fewer samples are faster
    """
    announce_seconds(owner, work / _RATE, advice)


def announce_seconds(owner: str, seconds: float, advice: str = "") -> bool:
    """The same where the time is known in seconds; whether there was anything to say."""
    if seconds <= SECONDS:
        return False
    warn_user(expectation(owner, seconds, advice))
    return True


def expectation(owner: str, seconds: float, advice: str = "") -> str:
    """How long work will take, as a sentence."""
    return f"{owner} will take about {_duration(seconds)} on these data{advice and '; '}{advice}"


def _duration(seconds: float) -> str:
    for size, name in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
