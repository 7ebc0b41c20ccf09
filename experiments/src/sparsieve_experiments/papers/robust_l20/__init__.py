"""The experiments of the robust l2,0 paper (An, Dong and Qin, 2021): its figures 1 to 5.

The paper prints no numbers beside the curves, so that every exhibit holds ours only.
"""

from ..declared import preset

PRESET = preset(__package__)
