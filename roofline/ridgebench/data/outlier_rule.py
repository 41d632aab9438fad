"""The constants of the rule by which a GPU is slow among GPUs, and a multiprocessor among those of its GPU.

harness/cli/node/outlier.hpp has the same ones for `run --concurrent`, which needs no Python; a test compares them.
"""

LEAST_Z = 3.5  # limit of -z: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993
NORMAL = 0.6745  # MAD over standard deviation of a normal distribution
FLOOR = 0.03  # below the median by less is not a defect
FAIL = 0.06  # below the median by more fails
FEWEST = 8  # values that are compared; fewer have no z
