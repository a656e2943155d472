// Serves the demo, the package and what they load, on this machine alone. `node serve.mjs [PORT]`
// runs it by hand; tests and the benchmark call `serve`. The environment may say where things are:
// SPARING_WEB_TOOLS (what scripts/setup fetched), SPARING_WEB_MODELS (the people model).
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');

export function folders(environment = process.env) {
  const tools = environment.SPARING_WEB_TOOLS ?? path.join(root, '.deps/web');
  return {
    '/demo/': here,
    '/sparing-webnn/': path.join(root, 'build/web/sparing-webnn'),
    '/test/': path.join(root, 'bindings/wasm/browser_test/pages'),
    '/output/': path.join(root, 'build/web'),
    '/libraries/': path.join(tools, 'browser_test/node_modules'),
    '/bench/': path.join(root, 'bindings/wasm/bench'),
    '/ort/': path.join(tools, 'demo/node_modules/onnxruntime-web/dist'),
    '/models/': environment.SPARING_WEB_MODELS ?? path.join(root, 'build/web/models'),
  };
}

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript',
  '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg', '.png': 'image/png', '.onnx': 'application/octet-stream',
};

async function answer(served, request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/') {
    response.writeHead(302, { location: '/demo/' }).end();
    return;
  }
  const prefix = Object.keys(served).find((start) => pathname.startsWith(start));
  const folder = prefix && served[prefix];
  const file = folder && path.join(folder, decodeURIComponent(pathname.slice(prefix.length)) || 'index.html');
  const inside = file && file.startsWith(folder + path.sep);
  const found = inside && await stat(file).catch(() => null);
  if (!found?.isFile()) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`${pathname}: not here\n`);
    return;
  }
  response.writeHead(200, {
    'content-type': types[path.extname(file)] ?? 'application/octet-stream',
    'content-length': found.size,
    'cache-control': 'no-store',
  });
  createReadStream(file).on('error', () => response.destroy()).pipe(response);
}

// Resolves to {url, close()}. Port 0 takes a free one. localhost counts as a secure context, which
// cameras, WebCodecs and WebNN ask for.
export async function serve({ port = 0, environment } = {}) {
  const served = folders(environment);
  const server = http.createServer((request, response) => {
    answer(served, request, response).catch(() => response.writeHead(400).end());
  });
  await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(error.code === 'EADDRINUSE'
      ? new Error(`port ${port}: in use; choose another one, or 0 for any`) : error));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://localhost:${server.address().port}`,
    close: () => new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const server = await serve({ port: Number(process.argv[2] ?? 8420) });
    console.log(`demo-web: open ${server.url}/ in a browser; Ctrl-C ends`);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
  } catch (error) {
    console.error(`demo-web: error: ${error.message}`);
    process.exitCode = 1;
  }
}
