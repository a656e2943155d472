// node unpack.mjs FROM TO: unpacks the browser and its GPU libraries (.br files in FROM) into TO.
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';

const [from, to] = process.argv.slice(2);
for (const name of ['chromium', 'swiftshader.tar']) {
  await pipeline(createReadStream(`${from}/${name}.br`), createBrotliDecompress(),
    createWriteStream(`${to}/${name}`, { mode: 0o755 }));
}
