"""What Rust has of the package."""

from typing import TypeAlias

__version__: str

_Files: TypeAlias = list[tuple[str, str]]
_Cell: TypeAlias = tuple[int, str, str, str, int, list[str], int]

class Table:
    """A table: columns with names, all of one length.

    ``pandas.DataFrame.from_arrow(table)``, ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` take it as
    it is. It has Arrow's C stream interface.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def to_dict(self) -> dict[str, list[str | int | float | bool | None]]:
        """All columns as lists, by name. Values that are missing are ``None``."""

    def __getitem__(self, name: str) -> list[str | int | float | bool | None]:
        """The values of a column."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

def machines() -> Table:
    """The machines that come with the simulator, one a row: name, about, cpus, sockets, cores, scheduler."""

def workloads() -> Table:
    """The workloads that come with the simulator, one a row.

    name, about, behaviour, unit, lower_is_better, takes. The last says which kind of locks they take.
    """

def locks() -> Table:
    """The locks that can be simulated, one a row, the default one first.

    name, kind, about, suits, variant_of, bytes.
    """

def reproduce(table: list[str] = ..., cell: list[str] = ..., *, seeds: int = 3, quick: bool = False) -> Table: ...
def simulate(
    machine: str,
    workload: str,
    lock: str,
    vcpus: str | None,
    overcommit: str | None,
    set: list[str],
    seeds: list[int],
    time_text: str,
    warm_up: str,
    limit: int,
    jobs: int,
) -> Table: ...
def read_file(name: str) -> str | None: ...
def resolve(
    machine: str, workload: str, lock: str, vcpus: str | None, set: list[str], files: _Files
) -> tuple[list[str], list[int]]: ...
def run_cells(cells: list[_Cell], time_text: str, warm_up: str, limit: int, files: _Files) -> Table: ...
