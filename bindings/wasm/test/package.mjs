// The built package, as a user gets it: bindings/wasm/build makes it.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const folder = process.env.SPARING_WEBNN ??
  fileURLToPath(new URL('../../../build/web/sparing-webnn', import.meta.url));
if (!existsSync(folder)) throw new Error(`${folder} is not there; run bindings/wasm/build`);

const at = (name) => pathToFileURL(`${folder}/${name}`).href;
export const { createImporter, importFrame, importPlanes, install, ready, ImportErrorEvent } =
  await import(at('index.js'));
