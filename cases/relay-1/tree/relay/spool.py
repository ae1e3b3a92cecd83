"""The sender's records on disk, until the receiver has them."""
import json
import os


class Spool:
    """Numbers records from 1 and keeps those that are not released yet."""

    def __init__(self, path):
        self.path = path
        self.records = {}
        self.last = 0
        if os.path.exists(path):
            self._recover()
        self.file = open(path, "a", encoding="utf-8")

    def _recover(self):
        with open(self.path, encoding="utf-8") as f:
            for line in f:
                entry = json.loads(line)
                if "put" in entry:
                    self.last = entry["put"]
                    self.records[self.last] = entry["data"]
                else:
                    self._forget(entry["released"])

    def _write(self, **entry):
        self.file.write(json.dumps(entry) + "\n")
        self.file.flush()

    def _forget(self, number):
        for n in [n for n in self.records if n <= number]:
            del self.records[n]

    def put(self, data):
        """Keep a new record; returns its number."""
        self.last += 1
        self.records[self.last] = data
        self._write(put=self.last, data=data)
        return self.last

    def release(self, number):
        """Forget every record up to and including `number`."""
        self._forget(number)
        self._write(released=number)

    def get(self, number):
        """The record, or None if it is released."""
        return self.records.get(number)

    def __len__(self):
        return len(self.records)
