// scripts/bench-web: the browser package against what pages do without it, and against the native kernel.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { browsers, open, root } from '../browser_test/harness.mjs';

const { values: options } = parseArgs({
  options: { json: { type: 'string' }, quick: { type: 'boolean' }, 'without-webnn': { type: 'boolean' } },
});
const figures = [];
const skipped = [];

function add(id, value, unit, note) {
  figures.push({ id, value, unit, note });
  console.log(`${id.padEnd(26)} ${value.toFixed(3).padStart(10)} ${unit.padEnd(4)} ${note}`);
}
function skip(id, reason) {
  skipped.push({ id, reason });
  console.log(`${id.padEnd(26)} ${'skipped'.padStart(10)}      ${reason}`);
}

// The native kernel's figures on job J1, the same sizes and types; null with the reason printed.
function native() {
  const program = process.env.SPARING_BENCH ?? path.join(root, 'build/release/bin/sparing-bench');
  if (!existsSync(program)) return { missing: `'${program}' is not there; run scripts/test, or name one in SPARING_BENCH` };
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-web-'));
  try {
    const file = path.join(folder, 'native.json');
    execFileSync(program, ['import', '--quick', '--jobs', 'J1', '--json', file], { stdio: ['ignore', 'ignore', 'inherit'] });
    const found = JSON.parse(readFileSync(file, 'utf8')).figures;
    const value = (id) => found.find((figure) => figure.id === id)?.value;
    if (!value('J1.ms.sparing-sse4')) return { missing: `'${program}' did not measure SSE4` };
    return { sse4: value('J1.ms.sparing-sse4'), best: value('J1.ms') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Resident MB of all of this browser's processes: descendants of this one.
function residentMegabytes() {
  const children = new Map();
  const resident = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      children.set(parent, [...children.get(parent) ?? [], pid]);
      resident.set(pid, Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096 / 1e6);
    } catch {
      // The process has ended meanwhile.
    }
  }
  const sum = (pid) => (children.get(pid) ?? []).reduce((total, child) => total + resident.get(child) + sum(child), 0);
  return sum(String(process.pid));
}

async function measureSpeed(opened) {
  const rounds = options.quick ? 10 : 60;
  const before = native();
  const { ways, ratios } = await opened.page.evaluate(
    async (count) => (await import('/bench/page.js')).speed({ rounds: count }), rounds);
  const after = before.missing ? before : native();
  const copyto = Object.keys(ways).filter((name) => name.startsWith('copyto-'))
    .reduce((best, name) => (ways[name].ms < ways[best].ms ? name : best));
  const ours = ways.sparing;
  add('web.ms', ours.ms, 'ms', `1080p NV12 to 640x640 NCHW float32, importFrame; min ${ours.min.toFixed(3)}, off by ${ours.offBy.toFixed(3)} of 255`);
  add('web.vs_copyto', ratios[copyto], 'x', `times faster than ${copyto}, ${ways[copyto].ms.toFixed(2)} ms; target at least 3.5`);
  add('web.vs_canvas', ratios.canvas, 'x', `times faster than drawImage + getImageData + JavaScript, ${ways.canvas.ms.toFixed(2)} ms; target at least 6`);
  for (const [name, { ms, min, offBy }] of Object.entries(ways)) {
    if (name !== 'sparing') add(`web.ms.${name}`, ms, 'ms', `min ${min.toFixed(3)}, off by ${offBy.toFixed(2)} of 255`);
  }
  if (before.missing) {
    for (const id of ['web.vs_native', 'web.kernel_vs_native']) skip(id, before.missing);
  } else {
    const sse4 = (before.sse4 + after.sse4) / 2;
    add('web.vs_native', ours.ms / sse4, 'x',
      `importFrame's time over that of the native kernel in SSE4, ${sse4.toFixed(3)} ms (before ${before.sse4.toFixed(3)}, after ${after.sse4.toFixed(3)}; on the best instruction set ${before.best.toFixed(3)}); target at most 2`);
    add('web.kernel_vs_native', ways.kernel.ms / sse4, 'x',
      'the same of the WebAssembly kernel alone: planes already in its memory, no promises, no copy of the result');
  }
}

async function measureSustained(opened, browser) {
  if (!browser.webnn) {
    skip('web.fps', 'this browser has no WebNN');
    return;
  }
  const seconds = options.quick ? 10 : 60;
  const run = (name, value) => opened.page.evaluate(
    async ([exported, given]) => (await import('/bench/page.js'))[exported](given), [name, value]);
  const inspector = await opened.page.context().newCDPSession(opened.page);
  const heap = async () => {
    await inspector.send('HeapProfiler.collectGarbage');
    return (await inspector.send('Runtime.getHeapUsage')).usedSize / 1e6;
  };
  await run('prepare');
  await run('sustain', 3);
  const before = { heap: await heap(), resident: residentMegabytes() };
  const { frames, seconds: taken, median, p99 } = await run('sustain', seconds);
  const after = { heap: await heap(), resident: residentMegabytes() };
  const span = (key) => `${before[key].toFixed(1)} to ${after[key].toFixed(1)} MB`;
  add('web.fps', frames / taken, '1/s',
    `720p NV12, import + dispatch + read at 256x256, ${taken.toFixed(0)} s; median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)}; target at least 60`);
  add('web.heap_growth', after.heap - before.heap, 'MB', `of the page's heap over that time, after collection: ${span('heap')}`);
  add('web.resident_growth', after.resident - before.resident, 'MB', `of all of the browser's processes: ${span('resident')}`);
}

const browser = browsers.find(({ webnn }) => webnn !== Boolean(options['without-webnn']));
if (browser.missing) {
  console.error(`bench-web: error: ${browser.name}: ${browser.missing}`);
  process.exit(1);
}
const opened = await open(browser, { seconds: 300 });
try {
  console.log(`bench-web: Chromium ${opened.version}, ${os.cpus()[0].model}`);
  await measureSpeed(opened);
  await measureSustained(opened, browser);
} finally {
  await opened.close();
}
if (options.json) {
  const machine = { cpu: os.cpus()[0].model, cores: os.availableParallelism(), chromium: opened.version };
  writeFileSync(options.json, `${JSON.stringify({ schema: 1, machine, figures, skipped }, null, 2)}\n`);
}
