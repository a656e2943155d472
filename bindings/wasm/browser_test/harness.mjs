// Starts the browsers and opens pages in them. Used by the tests here and by scripts/bench-web; .ci/web
// sets the environment. Whatever happens, the browser and the server of an opened page end with it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../demo/serve.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const tools = process.env.SPARING_WEB_TOOLS ?? path.join(root, '.deps/web');
const home = path.join(tools, 'browser_test');
const { chromium } = createRequire(path.join(home, 'package.json'))('playwright-core');

const withWebnn = path.join(home, 'chromium/chromium');
const without = [process.env.SPARING_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', withWebnn]
  .find((file) => file && existsSync(file));

// Where no distribution's Chromium is, the one with WebNN runs with it switched off.
export const browsers = [
  { name: 'Chromium with WebNN', webnn: true, program: withWebnn, features: 'WebMachineLearningNeuralNetwork' },
  { name: 'Chromium without WebNN', webnn: false, program: without },
].map((browser) => ({
  ...browser,
  missing: existsSync(browser.program ?? '') ? false : 'not here; run: scripts/setup --browsers',
}));

export const launchSeconds = 60;

async function launch({ program, features, name }, { args = [], environment } = {}) {
  const all = ['--disable-dev-shm-usage', '--enable-precise-memory-info', ...args];
  if (process.getuid?.() === 0) all.push('--no-sandbox');
  if (features) all.push(`--enable-features=${features}`);
  try {
    return await chromium.launch({ executablePath: program, args: all, timeout: 1000 * launchSeconds, env: environment });
  } catch (error) {
    // Its message is pages of flags; the browser's own last words are what tells.
    const lines = error.message.split('\n').filter((line) => /\[err\]|error while loading|rror:/.test(line));
    throw new Error(`${name} ('${program}'): did not start: ${(lines.at(-1) ?? error.message).slice(0, 300)}`);
  }
}

// open(browser) -> {page, call, errors, close}. `call(module, function, ...arguments)` runs an exported
// function of pages/MODULE.js in the page and resolves to what it returns.
export async function open(browser, { start = '/test/index.html', seconds = 60, permissions = [], ...options } = {}) {
  const server = await serve();
  let instance;
  const close = async () => {
    await instance?.close();
    await server.close();
  };
  try {
    instance = await launch(browser, options);
    const context = await instance.newContext({ permissions, viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(1000 * seconds);
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('crash', () => errors.push('the page crashed'));
    await page.goto(server.url + start);
    const call = (module, name, ...values) => page.evaluate(
      async ([file, exported, given]) => (await import(file))[exported](...given),
      [`/test/${module}.js`, name, values]);
    return { page, call, errors, url: server.url, version: instance.version(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

// The path of a picture of the page, kept as build output.
export function screenshot(name) {
  const folder = path.join(root, 'build/web/screenshots');
  mkdirSync(folder, { recursive: true });
  return path.join(folder, `${name}.png`);
}

// {y4m, webm, missing}: the camera that make_camera.py makes of the sample video.
export function camera() {
  const y4m = path.join(root, 'build/web/camera.y4m');
  const webm = path.join(root, 'build/web/camera.webm');
  if (existsSync(y4m) && existsSync(webm)) return { y4m, webm, missing: false };
  const python = process.env.SPARING_PYTHON ?? path.join(root, '.deps/python/bin/python3');
  const sample = process.env.SPARING_SAMPLE ?? path.join(root, '.deps/samples/vtest.avi');
  if (!existsSync(sample)) return { missing: 'the sample video is not here; run: scripts/setup' };
  try {
    execFileSync(python, [path.join(root, 'bindings/wasm/browser_test/make_camera.py'), sample, y4m, webm],
      { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    if (/No module named/.test(error.stderr)) {
      return { missing: 'OpenCV for Python is not here; run: scripts/setup --test' };
    }
    throw new Error(`make_camera.py: ${error.stderr}`);
  }
  return { y4m, webm, missing: false };
}
