"""What the Python tests of the command line share: where things are, and how to run them.

Environment: SPARING_BINARY (the program under test), SPARING_SAMPLE (the sample video). A test that
needs what is missing exits with 77, which ctest reports as skipped.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.environ.get("SPARING_BINARY", "build/release/bin/sparing")
SAMPLE = pathlib.Path(os.environ.get("SPARING_SAMPLE", ".deps/samples/vtest.avi"))
MODEL = "nanodet-g"


def sparing(*arguments, timeout=300, **options):
    """Runs the program; a CompletedProcess with text output."""
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, **options)


def model_file():
    info = sparing("info", "--json")
    if info.returncode != 0:
        sys.exit(f"sparing info failed: {info.stderr}")
    return pathlib.Path(json.loads(info.stdout)["models"]) / f"{MODEL}.onnx"


def skip_without(*needs):
    """needs: (path, how to get it)."""
    for path, fix in needs:
        if not pathlib.Path(path).exists():
            print(f"skipped: {path} is missing ({fix})")
            sys.exit(77)


def skip_without_model_and_sample():
    skip_without((SAMPLE, "scripts/setup"), (model_file(), f"sparing models get {MODEL}"))


def end_of(process, timeout):
    """What a Popen that is to end by itself wrote to its pipes. Its standard input stays open
    until then: closing it would be an end of data that races with whatever ends the process."""
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
        raise AssertionError(f"did not end within {timeout} s: {errors}") from None
    return process.communicate()


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class CommandTest(unittest.TestCase):
    """A test with a folder of its own, self.dir, that is gone afterwards."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def assert_error(self, run, code, *words):
        """The command ended with this code and one line on standard error that has all words."""
        self.assertEqual(run.returncode, code, run.stderr + run.stdout)
        lines = run.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        for word in words:
            self.assertIn(word, lines[0])
