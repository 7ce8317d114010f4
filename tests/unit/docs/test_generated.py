import pytest

from documents import ROOT
from reference import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_fresh(name):
    assert (ROOT / name).read_text(encoding="utf-8") == PAGES[name](), "run `make reference`"
