"""Command line: `python3 -m relay sender ...` or `python3 -m relay receiver ...`."""
import argparse
import logging

from . import receiver, sender
from .wire import address


def main():
    parser = argparse.ArgumentParser(prog="relay")
    parser.add_argument("-v", "--verbose", action="store_true", help="log every message")
    commands = parser.add_subparsers(required=True)

    p = commands.add_parser("sender", help="pass records on")
    p.add_argument("--to", type=address, required=True)
    p.add_argument("--spool", required=True)
    p.add_argument("--input", required=True, help="file or pipe with one record a line")
    p.add_argument("--stream", default="default")
    p.add_argument("--window", type=int, default=32)
    p.set_defaults(run=sender.main)

    p = commands.add_parser("receiver", help="keep records")
    p.add_argument("--listen", type=address, required=True)
    p.add_argument("--journal", required=True)
    p.add_argument("--rate", type=float, default=500)
    p.add_argument("--burst", type=int, default=16)
    p.set_defaults(run=receiver.main)

    args = parser.parse_args()
    logging.basicConfig(
        format="%(relativeCreated)7.0f %(name)-14s %(message)s",
        level=logging.DEBUG if args.verbose else logging.INFO,
    )
    args.run(args)


main()
