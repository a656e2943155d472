# Sourced by scripts/setup (bash): the npm packages of the browser package's demo and tests.

# Prints "name folder" of each wanted set of npm packages that is not there as its lock file says.
missing_npm_packages() {
  local level name folder
  while read -r level name folder; do
    wanted "$level" || continue
    if [[ $(cat "$WEB_HOME/$name/.installed" 2>/dev/null) != $(sha256sum <"$ROOT/$folder/package-lock.json") ]]; then
      printf '%s %s\n' "$name" "$folder"
    fi
  done <<'END'
web demo bindings/wasm/demo
browsers browser_test bindings/wasm/browser_test
END
}

# Their own install scripts are not run.
install_npm_packages() {
  local name folder log work
  while read -r name folder; do
    did_something=true
    log=$DEPS/logs/npm-$name.log
    work=$DEPS/tmp/npm-$name
    say "fetching npm packages of $folder/package.json"
    mkdir -p "$work" "$WEB_HOME"
    cp "$ROOT/$folder/package.json" "$ROOT/$folder/package-lock.json" "$work"
    (cd -- "$work" && PATH="$(dirname -- "$(node_command)"):$PATH" run_logged "$log" "$(npm_client)" ci \
      --ignore-scripts --no-audit --no-fund --cache "$DEPS/tmp/npm-cache") ||
      fail 22 "npm packages of $folder" "$(last_line "$log")" \
        "check the network and npm's settings, then run this again (log: $log)"
    if [[ $name == browser_test ]]; then unpack_browser "$work" "$log"; fi
    sha256sum <"$ROOT/$folder/package-lock.json" >"$work/.installed"
    rm -rf -- "${WEB_HOME:?}/$name"
    mv -T -- "$work" "$WEB_HOME/$name"
  done < <(missing_npm_packages)
}

# unpack_browser FOLDER LOG: the npm package would unpack itself to the system's temporary folder at
# every use. The GPU libraries belong beside the program: without them WebNN is refused. Only x86-64
# has such a package; elsewhere the tests that need it are skipped.
unpack_browser() {
  [[ $(uname -m) == x86_64 ]] || return 0
  mkdir -p "$1/chromium"
  run_logged "$2" "$(node_command)" "$ROOT/bindings/wasm/browser_test/unpack.mjs" \
    "$1/node_modules/@sparticuz/chromium/bin" "$1/chromium" ||
    fail 22 "browser from npm" "$(last_line "$2")" "check the disk's space and run this again (log: $2)"
  tar -xf "$1/chromium/swiftshader.tar" -C "$1/chromium"
  rm -rf -- "$1/chromium/swiftshader.tar" "$1/node_modules/@sparticuz"
}
