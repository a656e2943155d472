"""Quantises one model to INT8: the step behind `sparing models quantize`.

    python quantize_model.py MODEL --inputs DIR --out FILE.xml [--input NAME] [--preset mixed]
                             [--threads N]

MODEL is an ONNX file or an OpenVINO IR. DIR holds what the network saw of the calibration frames, a
NumPy file each, as `sparing detect --dump-inputs` writes them; the files may differ in shape. The
result is an OpenVINO IR, FILE.xml with FILE.bin beside it: convolutions and matrix products in
8-bit integers, weights per channel, the ranges of the activations from the frames, biases corrected
for the error that rounding brings (NNCF's post-training quantisation). Whether the result is good
enough is for the caller to judge.

NNCF works on OpenVINO's form of the model, not on ONNX: OpenVINO miscomputes the 8-bit ONNX graph
that NNCF makes of NanoDet-g (ONNX Runtime does not), and ONNX Runtime's own quantiser loses more.

Both files are written under temporary names in the folder of --out and renamed, the .bin first, so
that FILE.xml is there only when all is. Nothing is downloaded or reported to anybody.

Exit codes: 0 done, 2 usage, 3 the inputs or the model cannot be read, 5 quantisation failed (or a
package is missing), 6 output not writable, 130 interrupted. Every failure is one line on stderr.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements-quantize.txt"
PRESETS = ("mixed", "performance")
EXIT_USAGE, EXIT_INPUT, EXIT_QUANTIZE, EXIT_OUTPUT = 2, 3, 5, 6
EXIT_INTERRUPTED = 130


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def one_line(error, limit=300):
    return " ".join(str(error).split())[:limit]


def import_packages():
    """(nncf, numpy, openvino), without their reports to their makers."""
    os.environ["NNCF_CI"] = "1"
    sys.modules["openvino_telemetry"] = None  # importing it is an ImportError now
    # NNCF draws progress bars on standard output, which is not ours to write to.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        import nncf
        import numpy
        import openvino
    except ImportError as error:
        raise Failure(EXIT_QUANTIZE,
                      f"Python package '{error.name}' is missing; run scripts/setup --quantize, or "
                      f"{sys.executable} -m pip install -r {REQUIREMENTS}") from error
    nncf.set_log_level(40)
    return nncf, numpy, openvino


def input_files(folder):
    files = sorted(pathlib.Path(folder).glob("*.npy"))
    if not files:
        raise Failure(EXIT_INPUT, f"inputs '{folder}': no .npy file in it; give a folder that "
                                  "`sparing detect --dump-inputs` wrote")
    return files


def read_model(openvino, path, threads):
    core = openvino.Core()
    if threads:
        core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads})
    try:
        model = core.read_model(path)
    except RuntimeError as error:
        raise Failure(EXIT_INPUT, f"model '{path}': {one_line(error)}; "
                                  "give an ONNX file or an OpenVINO .xml") from error
    if any(op.get_type_name() == "FakeQuantize" for op in model.get_ops()):
        raise Failure(EXIT_QUANTIZE, f"model '{path}': it is quantised already; "
                                     "give the model that it was made of")
    return model


def input_name(model, wanted):
    names = [sorted(port.get_names())[0] if port.get_names() else "" for port in model.inputs]
    if not wanted and len(names) == 1:
        return names[0]
    if any(wanted in port.get_names() for port in model.inputs):
        return wanted
    raise Failure(EXIT_USAGE, f"input '{wanted}': the model has {', '.join(names)}; "
                              "name one of them with --input")


def reader(numpy, openvino, model, name):
    """Gives the network's input that one file holds."""
    port = model.input(name)

    def read(path):
        try:
            values = numpy.load(path)
        except (OSError, ValueError, EOFError) as error:
            raise Failure(EXIT_INPUT, f"input '{path}': {one_line(error)}; "
                                      "write the inputs again") from error
        shape = openvino.PartialShape(list(values.shape))
        if values.dtype != numpy.float32 or not port.partial_shape.compatible(shape):
            raise Failure(EXIT_INPUT, f"input '{path}': {values.dtype} {list(values.shape)} does "
                                      f"not fit the model's {name} {port.partial_shape}; "
                                      "use the inputs of this model")
        return {name: values}

    return read


def quantize(options):
    nncf, numpy, openvino = import_packages()
    files = input_files(options.inputs)
    model = read_model(openvino, options.model, options.threads)
    read = reader(numpy, openvino, model, input_name(model, options.input))
    for path in files:
        numpy_header_only(numpy, path)
    read(files[0])  # so that a wrong folder is told before the work
    dataset = nncf.Dataset(files, read)
    preset = nncf.QuantizationPreset(options.preset)
    try:
        quantized = nncf.quantize(model, dataset, preset=preset, subset_size=len(files))
    except Failure:
        raise
    except Exception as error:  # NNCF raises what it likes
        raise Failure(EXIT_QUANTIZE, f"model '{options.model}': NNCF failed: {one_line(error)}; "
                                     "a model that it cannot quantise is used as it is") from error
    return openvino, quantized


def numpy_header_only(numpy, path):
    """Finds a damaged file at once, and without reading the values."""
    try:
        numpy.load(path, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise Failure(EXIT_INPUT, f"input '{path}': {one_line(error)}; "
                                  "write the inputs again") from error


def save(openvino, model, out):
    """FILE.xml and FILE.bin; the .bin has its name when the .xml gets its own."""
    try:
        work = tempfile.mkdtemp(prefix=".part-", dir=out.parent)
    except OSError as error:
        raise output_failure(out, error) from error
    try:
        temporary = pathlib.Path(work) / out.name
        openvino.save_model(model, temporary, compress_to_fp16=False)
        os.replace(temporary.with_suffix(".bin"), out.with_suffix(".bin"))
        os.replace(temporary, out)
    except (OSError, RuntimeError) as error:
        raise output_failure(out, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def output_failure(out, error):
    reason = getattr(error, "strerror", None) or one_line(error)
    return Failure(EXIT_OUTPUT, f"output '{out}': {reason}; free space or choose another --out")


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Quantises one model to INT8.",
        epilog="exit codes: 0 done, 2 usage, 3 inputs or model not readable, 5 quantisation "
               "failed, 6 output not writable, 130 interrupted")
    parser.add_argument("model", help="an ONNX file or an OpenVINO .xml")
    parser.add_argument("--inputs", required=True, metavar="DIR", help="folder of .npy inputs")
    parser.add_argument("--out", required=True, metavar="FILE.xml", type=pathlib.Path)
    parser.add_argument("--input", default="", metavar="NAME", help="the input; default: the only")
    parser.add_argument("--preset", default="mixed", choices=PRESETS,
                        help="activations asymmetric where they have negative values (mixed), "
                             "or symmetric always (performance)")
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    options = parser.parse_args(arguments)
    if options.out.suffix != ".xml":
        parser.error(f"--out '{options.out}' must end with .xml")
    if options.threads < 0:
        parser.error(f"--threads {options.threads} must be 0 or more")
    return options


def main(arguments):
    options = parse(arguments)
    # A polite kill is treated as Ctrl-C: temporary files go away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        openvino, model = quantize(options)
        save(openvino, model, options.out)
        return 0
    except Failure as failure:
        print(f"quantize_model: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("quantize_model: interrupted; run it again", file=sys.stderr)
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
