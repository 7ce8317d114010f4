"""One process: its name, command, environment, limits, open files, memory and cores."""

from __future__ import annotations

import os

from torr.procfs.files import Root, field, field_bytes, read, text

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_LONGEST_COMMAND = 120


def exists(pid: int) -> bool:
    """Return whether there is a process of this number."""
    return os.path.exists(f"/proc/{pid}")


def name_of(pid: int, root: Root = "") -> str:
    """Return the name of a process."""
    return text(f"{root}/proc/{pid}/comm")


def command_of(pid: int) -> str:
    """Return the command line of a process, at most 120 characters, or else its name."""
    words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    command = words or name_of(pid)
    return command if len(command) <= _LONGEST_COMMAND else f"{command[: _LONGEST_COMMAND - 1]}…"


def program_of(pid: int) -> str:
    """Return the file name of a process's program; raise OSError if it is unreadable."""
    return os.path.basename(os.readlink(f"/proc/{pid}/exe"))


def environment_of(pid: int) -> dict[str, str]:
    """Return the variables that a process was started with; none if they cannot be read."""
    entries = read(f"/proc/{pid}/environ").decode(errors="replace").split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def descriptors(pid: int, root: Root = "") -> int | None:
    """Return the number of files that a process has open; None if it cannot be read."""
    folder = f"{root}/proc/{pid}/fd"
    try:
        # Newer kernels give the number as the size: to list 20,000 files takes milliseconds.
        return os.stat(folder).st_size or len(os.listdir(folder))
    except OSError:
        return None


def descriptor_limit(pid: int, root: Root = "") -> int | None:
    """Return the number of files that a process may have open; None where there is no limit."""
    for line in read(f"{root}/proc/{pid}/limits").splitlines():
        if line.startswith(b"Max open files"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else None
    return None


def pss_bytes(pid: int, root: Root = "") -> int | None:
    """Return the proportional set size of a process; slow; None if it is unknown."""
    return field_bytes(f"{root}/proc/{pid}/smaps_rollup", "Pss")


def allowed_cores(pid: int, root: Root = "") -> tuple[int, ...]:
    """Return the cores that a process may run on; none where they cannot be read."""
    parts = (field(f"{root}/proc/{pid}/status", "Cpus_allowed_list") or "").split(",")
    ends = [part.partition("-") for part in parts if part]
    return tuple(core for low, _, high in ends for core in range(int(low), int(high or low) + 1))


def own_private_bytes() -> int:
    """Return the resident memory of this process, without mapped pages of files.

    The call leaves no objects behind, so that it does not disturb the search for leaks. Pages of
    files are not counted, since the kernel can reclaim them.
    """
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        _, resident, of_files, *_ = os.read(descriptor, 256).split()
        return (int(resident) - int(of_files)) * _PAGE_BYTES
    finally:
        os.close(descriptor)
