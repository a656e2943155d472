// What an import costs under Node, without the copy of the frame into the module's memory and of the result
// out of it: `node bindings/wasm/bench.mjs [ROUNDS]`. Medians of rounds in which both modules take turns.
// The browser's figures are scripts/bench-web's.
import { Kernel } from '../../build/web/sparing-webnn/kernel.js';
import { describePlanes, makeRequest, planPlanes } from '../../build/web/sparing-webnn/frame.js';
import { loadModule } from '../../build/web/sparing-webnn/load.js';
import { DATA_TYPES, readOptions } from '../../build/web/sparing-webnn/options.js';

const rounds = Number(process.argv[2] ?? 200);
const size = { width: 640, height: 640 };
const JOBS = [
  ['NV12', {}], ['NV12', { layout: 'nhwc' }], ['NV12', { dataType: 'float16' }], ['NV12', { dataType: 'uint8' }],
  ['NV12', { filter: 'area' }], ['I420', {}], ['I420P10', {}], ['RGBA', {}], ['RGBA', { filter: 'area' }],
];

const modules = { SIMD: await loadModule({ simd: true }), scalar: await loadModule({ simd: false }) };

function prepare(module, format, more) {
  const kernel = new Kernel(module);
  const extents = kernel.planeExtents(kernel.formatIndex(format), 1920, 1080);
  let state = 1;
  const planes = extents.map(({ rowBytes, rows }) => ({
    data: Uint8Array.from({ length: rowBytes * rows }, () => (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16),
  }));
  if (format.endsWith('P10')) for (const { data } of planes) data.forEach((_, i) => { if (i % 2) data[i] &= 3; });
  const source = { format, codedWidth: 1920, codedHeight: 1080, planes };
  const settings = readOptions({ ...size, mean: 127.5, std: 127.5, ...more });
  const description = describePlanes(source);
  const memory = planPlanes(kernel, source, description);
  const request = makeRequest(description, memory, settings, DATA_TYPES[settings.dataType].index);
  kernel.reserveFrame(memory.bytes);
  kernel.reserveTensor(settings.count * DATA_TYPES[settings.dataType].bytes);
  for (const piece of memory.pieces) kernel.frameView(memory.bytes).set(piece.bytes, piece.offset);
  return () => {
    const begin = performance.now();
    kernel.draw(request, RangeError);
    return performance.now() - begin;
  };
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

console.log(`1920x1080 to 640x640, ms, median of ${rounds}`);
for (const [format, more] of JOBS) {
  const jobs = Object.entries(modules).map(([name, module]) => [name, prepare(module, format, more), []]);
  // The engine compiles what runs often once more, and better.
  for (let k = 0; k < 20; ++k) for (const [, run] of jobs) run();
  for (let k = 0; k < rounds; ++k) for (const [, run, times] of jobs) times.push(run());
  const figures = jobs.map(([name, , times]) => `${name} ${median(times).toFixed(2)}`).join('  ');
  console.log(`${format.padEnd(8)} ${JSON.stringify(more).padEnd(24)} ${figures}`);
}
