"""What the picture of a comparison says about its two sides."""

import pytest
from compare.picture import apart


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("/x/commits/a1/build/ridgebench", "/x/commits/b2/build/ridgebench", ("a1", "b2")),
        ("/x/old/build", "/x/new/of/build", ("old", "new/of")),
        ("results/a", "elsewhere/b", ("results/a", "elsewhere/b")),
        ("/x/build", "/x/build", ("/x/build", "/x/build")),
        ("/x/build", "/x/y/build", ("/x/build", "/x/y/build")),
    ],
)
def test_paths_are_told_by_what_they_do_not_share(one, other, told):
    assert apart(one, other) == told
