"""``python3 -m stanchion sweep``: what ``stanchion sweep`` starts."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from stanchion._native import __version__


def main() -> int:
    """Runs a sweep; the exit code: 0 all cells are there, 1 some are not, 2 bad input, 130 interrupted."""
    parser = argparse.ArgumentParser(prog="stanchion", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"stanchion {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("sweep", help="simulate each cell of a grid", allow_abbrev=False)
    command.add_argument("grid", help="a TOML file with the axes of the grid")
    command.add_argument("--out", required=True, metavar="DIR", help="where results go; a sweep goes on there")
    command.add_argument("--jobs", type=int, metavar="N", help="processes [default: the CPUs]")
    command.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler to send the cells to: tcp://HOST:8786")
    command.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster to send them to; 'auto' finds one")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")
    arguments = parser.parse_args()
    if arguments.jobs is not None and arguments.jobs < 1:
        return _refuse("--jobs: the least is 1")
    if arguments.dask and arguments.ray:
        return _refuse("--dask and --ray: name one cluster")
    try:
        return _sweep(arguments)
    except KeyboardInterrupt:
        print(f"stanchion: interrupted; the same command goes on in {arguments.out}", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        return _refuse(f"no module {error.name}: pip install 'stanchion[sweep]', [dask] or [ray]")
    except (ValueError, OSError) as error:
        return _refuse(str(error))


def _sweep(arguments: argparse.Namespace) -> int:
    from stanchion._sweep.run import Unfinished, sweep

    executor: Any = None
    if arguments.dask:
        from distributed import Client

        executor = Client(arguments.dask, timeout=10)
    elif arguments.ray:
        from stanchion.executors import Ray

        executor = Ray(arguments.ray)
    try:
        sweep(arguments.grid, executor, out=arguments.out, workers=arguments.jobs, progress=not arguments.quiet)
    except Unfinished as error:
        print(f"stanchion: {error}", file=sys.stderr)
        return 1
    finally:
        if arguments.dask:
            executor.close()
    return 0


def _refuse(message: str) -> int:
    print(f"stanchion: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
