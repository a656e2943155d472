#!/usr/bin/env -S node --no-warnings
// Runs a WebAssembly program under Node's WASI: run-wasi.mjs PROGRAM [ARGUMENT...]. Its exit code is the
// program's; the working folder is all that it sees of the files.
import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [program, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...rest],
  env: process.env,
  preopens: { '.': process.cwd() },
});
const module = new WebAssembly.Module(readFileSync(program));
const instance = new WebAssembly.Instance(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
