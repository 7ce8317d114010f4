"""Write every generated page again; say which ones changed."""

from __future__ import annotations

from reference import PAGES, ROOT

for name, text in PAGES.items():
    path = ROOT / name
    fresh = text()
    if not path.exists() or path.read_text(encoding="utf-8") != fresh:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fresh, encoding="utf-8")
        print(f"written: {name}")
