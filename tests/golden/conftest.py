"""The option that keeps wanted differences."""


def pytest_addoption(parser):
    parser.addoption("--golden-update", action="store_true", help="keep what is seen as expected")
