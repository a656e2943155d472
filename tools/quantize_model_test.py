"""quantize_model.py on a toy network, without a network connection.

The tool runs in the quantiser's environment: $SPARING_QUANTIZE_PYTHON, or the one that
`scripts/setup --quantize` makes. Without it these tests are skipped, but for those of usage.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "quantize_model.py"


def quantize_python():
    deps = os.environ.get("SPARING_DEPS_DIR") or HERE.parent / ".deps"
    path = os.environ.get("SPARING_QUANTIZE_PYTHON") or \
        pathlib.Path(deps) / "python-quantize" / "bin" / "python3"
    return str(path) if pathlib.Path(path).exists() else None


PYTHON = quantize_python()

# Two convolutions with a leaky activation between them, of any height and width.
MAKE_TOY = """
import sys
import numpy as np
import openvino as ov
from openvino import opset13 as op
random = np.random.default_rng(1)
x = op.parameter(ov.PartialShape([1, 3, -1, -1]), np.float32, name="image")
x.output(0).set_names({"image"})
def conv(x, inputs, outputs):
    w = np.float32(random.normal(size=(outputs, inputs, 3, 3)) / np.sqrt(9 * inputs))
    return op.convolution(x, op.constant(w), [1, 1], [1, 1], [1, 1], [1, 1])
y = conv(op.prelu(conv(x, 3, 16), op.constant(np.float32([.1]))), 16, 8)
y.output(0).set_names({"scores"})
ov.save_model(ov.Model([op.result(y)], [x]), sys.argv[1], compress_to_fp16=False)
"""

# The outputs of both models for one input, and the layers of the second that compute in integers.
COMPARE = """
import sys
import numpy as np
import openvino as ov
core = ov.Core()
x = np.load(sys.argv[3])
f32 = {"INFERENCE_PRECISION_HINT": "f32"}
a, b = (core.compile_model(m, "CPU", f32)(x)["scores"] for m in sys.argv[1:3])
print(float(np.abs(a - b).mean() / np.abs(a).mean()))
ops = core.compile_model(sys.argv[2], "CPU", f32).get_runtime_model().get_ops()
print(sum(o.get_rt_info()["runtimePrecision"].astype(str) in ("u8", "i8") for o in ops
          if o.get_rt_info()["layerType"].astype(str) == "Convolution"))
"""

# The tool with sockets forbidden: an attempt is written to a file, for NNCF catches exceptions.
WITHOUT_SOCKETS = """
import pathlib, runpy, socket, sys
script, marker = sys.argv[1], pathlib.Path(sys.argv[-1])
def refuse(*arguments, **options):
    marker.touch()
    raise OSError("no network here")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
sys.argv = sys.argv[1:-1]
runpy.run_path(script, run_name="__main__")
"""


def run(*words, python=PYTHON, **options):
    return subprocess.run([python, *map(str, words)], capture_output=True, text=True, timeout=240,
                          **options)


class QuantizeModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.inputs = self.root / "inputs"
        self.inputs.mkdir()
        self.out = self.root / "out"
        self.out.mkdir()

    def assert_error(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual(os.listdir(self.out), [])


class Usage(QuantizeModel):
    def test_wrong_arguments(self):
        for words in (("--out", self.out / "q.onnx"), ("--out", self.out / "q.xml", "--threads", -1),
                      ("--out", self.out / "q.xml", "--preset", "tiny"), ()):
            result = run(SCRIPT, "m.onnx", "--inputs", self.inputs, *words, python=sys.executable)
            self.assertEqual(result.returncode, 2, result.stderr)

    def test_missing_packages_are_named(self):
        result = run("-S", SCRIPT, "m.onnx", "--inputs", self.inputs, "--out", self.out / "q.xml",
                     python=sys.executable)
        self.assert_error(result, 5, "is missing", "scripts/setup --quantize")


@unittest.skipUnless(PYTHON, "scripts/setup --quantize has not been run")
class Quantize(QuantizeModel):
    def setUp(self):
        super().setUp()
        self.model = self.root / "toy.xml"
        result = run("-c", MAKE_TOY, self.model)
        self.assertEqual(result.returncode, 0, result.stderr)
        random = np.random.default_rng(2)
        for i, (height, width) in enumerate([(32, 32), (32, 48), (64, 32)]):
            np.save(self.inputs / f"{i}.npy",
                    random.normal(size=(1, 3, height, width)).astype(np.float32))

    def quantize(self, *words, model=None):
        return run(SCRIPT, model or self.model, "--inputs", self.inputs, "--out",
                   self.out / "q.xml", *words)

    def test_result_computes_in_integers_and_nearly_the_same(self):
        result = self.quantize()
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual(sorted(os.listdir(self.out)), ["q.bin", "q.xml"])
        compared = run("-c", COMPARE, self.model, self.out / "q.xml", self.inputs / "1.npy")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        error, integer_layers = compared.stdout.split()
        self.assertLess(float(error), 0.03)
        self.assertGreater(float(error), 0)
        self.assertEqual(int(integer_layers), 2)
        self.assertNotIn(str(self.root), (self.out / "q.xml").read_text())

    def test_two_runs_are_equal_byte_by_byte(self):
        self.quantize()
        first = [(self.out / name).read_bytes() for name in ("q.xml", "q.bin")]
        self.quantize()
        self.assertEqual(first, [(self.out / name).read_bytes() for name in ("q.xml", "q.bin")])

    def test_nothing_is_sent(self):
        marker = self.root / "attempt"
        result = run("-c", WITHOUT_SOCKETS, SCRIPT, self.model, "--inputs", self.inputs, "--out",
                     self.out / "q.xml", marker)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(marker.exists())

    def test_a_quantised_model_is_refused(self):
        self.assertEqual(self.quantize().returncode, 0)
        for name in ("q.xml", "q.bin"):
            (self.out / name).rename(self.root / name)
        self.assert_error(self.quantize(model=self.root / "q.xml"), 5, "quantised already")

    def test_inputs_that_do_not_fit(self):
        np.save(self.inputs / "0.npy", np.zeros((1, 4, 8, 8), np.float32))
        self.assert_error(self.quantize(), 3, "0.npy", "[1, 4, 8, 8]")
        np.save(self.inputs / "0.npy", np.zeros((1, 3, 8, 8), np.float64))
        self.assert_error(self.quantize(), 3, "0.npy", "float64")
        (self.inputs / "0.npy").unlink()
        (self.inputs / "2.npy").write_bytes((self.inputs / "1.npy").read_bytes()[:-100])
        self.assert_error(self.quantize(), 3, "2.npy")
        for file in self.inputs.iterdir():
            file.unlink()
        self.assert_error(self.quantize(), 3, "no .npy")

    def test_models_that_are_none(self):
        self.assert_error(self.quantize(model=self.root / "none.onnx"), 3, "none.onnx")
        self.assert_error(self.quantize("--input", "picture"), 2, "picture", "image")

    def test_output_that_cannot_be_written(self):
        result = run(SCRIPT, self.model, "--inputs", self.inputs, "--out",
                     self.root / "none" / "q.xml")
        self.assert_error(result, 6, "none/q.xml", "No such file")

    def test_interrupted_leaves_nothing(self):
        # One large file under many names: seconds of work.
        np.save(self.inputs / "large.npy", np.zeros((1, 3, 1024, 1024), np.float32))
        for i in range(10, 400):
            (self.inputs / f"{i}.npy").symlink_to(self.inputs / "large.npy")
        process = subprocess.Popen([PYTHON, SCRIPT, self.model, "--inputs", self.inputs, "--out",
                                    self.out / "q.xml"], stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertEqual(os.listdir(self.out), [])


if __name__ == "__main__":
    unittest.main()
