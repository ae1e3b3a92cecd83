"""The interval of a mean with NumPy, vectorised, on one thread.

Reads per-case means, prints mean, interval and the median seconds as JSON;
numbers as hexadecimal floats, so that nothing is rounded on the way.
"""

import json
import statistics
import sys
import time

import numpy


def interval(values):
    generator = numpy.random.Generator(numpy.random.PCG64(2026))
    n = len(values)
    rows = generator.integers(0, n, size=(10_000, n))
    return numpy.percentile(values[rows].mean(axis=1), [2.5, 97.5])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        values = numpy.array(json.load(file))
    interval(values)
    spent = []
    for _ in range(int(sys.argv[2])):
        start = time.perf_counter()
        low, high = interval(values)
        spent.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "seconds": statistics.median(spent),
                "mean": float(values.mean()).hex(),
                "low": float(low).hex(),
                "high": float(high).hex(),
                "numpy": numpy.__version__,
            }
        )
    )


main()
