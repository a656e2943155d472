// Finding, choosing and compiling the WebAssembly module.

// One function that uses a 128-bit vector: (func i32.const 0, i8x16.splat, drop).
const SIMD_PROBE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0,
  65, 0, 253, 15, 26, 11]);

export const hasSimd = () => WebAssembly.validate(SIMD_PROBE);

async function bytesOf(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  if (typeof Response !== 'undefined' && source instanceof Response) return source.arrayBuffer();
  const url = new URL(source, import.meta.url);
  // Not an import of node:fs, which bundlers for browsers would stumble over.
  const fs = url.protocol === 'file:' ? globalThis.process?.getBuiltinModule?.('node:fs') : undefined;
  if (fs) return fs.promises.readFile(url);
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`sparing-webnn: ${url} could not be loaded (status ${response.status}); ` +
      'serve the .wasm files beside the scripts, or give createImporter({wasm})');
  }
  return response.arrayBuffer();
}

/**
 * @param {{wasm?: WebAssembly.Module | BufferSource | Response | URL | string, simd?: boolean}} options
 * @returns {Promise<WebAssembly.Module>}
 */
export async function loadModule({ wasm, simd = hasSimd() } = {}) {
  if (wasm instanceof WebAssembly.Module) return wasm;
  // Written so that bundlers see both files.
  const source = wasm ?? (simd
    ? new URL('./sparing-import.wasm', import.meta.url)
    : new URL('./sparing-import-scalar.wasm', import.meta.url));
  return WebAssembly.compile(await bytesOf(source));
}
