"""What JSON lacks after it was read and written again."""


def lost(before, after, place=""):
    """Yield each place at which JSON lacks what it had, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from lost(value, after.get(key, "missing"), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from lost(one, other, f"{place}[{at}]")
    elif before != after:
        yield place, before, after
