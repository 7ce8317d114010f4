"""What the files below a folder contain."""


def files_with(folder, text):
    """Return the files below a folder that contain a text; fails if there is no file at all."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files, f"no file is in {folder}"
    return [path for path in files if text.encode() in path.read_bytes()]
