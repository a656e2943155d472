// What scripts/bench-web measures, in the page. All ways take turns in one page, on the same frames.
import { importFrame, install } from 'sparing-webnn';
import { buildSelfieGraph } from '/demo/selfie_graph.js';
import { canvasWay, copyToWay, resamplers } from '/demo/usual_ways.js';
import { describeFrame, makeRequest, planCopy } from '/sparing-webnn/frame.js';
import { Kernel } from '/sparing-webnn/kernel.js';
import { loadModule } from '/sparing-webnn/load.js';
import { DATA_TYPES, readOptions } from '/sparing-webnn/options.js';
import { pictureOf } from '/test/frames.js';
import { referenceImport } from '/test/reference.js';

const job = { width: 640, height: 640, layout: 'nchw', mean: 127.5, std: 127.5 };

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// NV12 frames, all different: smooth shapes with a little grain, as cameras see them. BT.601, because that
// is what the native benchmark's frames are.
function makeFrames(count, width, height) {
  return Array.from({ length: count }, (_, index) => {
    const data = new Uint8Array(width * height * 3 / 2);
    let noise = index + 1;
    for (let y = 0; y < height; ++y) {
      const row = 60 * Math.sin(y / 37 + index);
      for (let x = 0; x < width; ++x) {
        noise = Math.imul(noise, 1664525) + 1013904223 | 0;
        data[y * width + x] = 126 + row + 40 * Math.sin(x / 53 + y / 91 + index) + (noise >>> 30);
      }
    }
    for (let y = 0; y < height / 2; ++y) {
      for (let x = 0; x < width; x += 2) {
        const at = (height + y) * width + x;
        data[at] = 128 + 50 * Math.sin(x / 71 + index);
        data[at + 1] = 128 + 50 * Math.cos(y / 47 + index);
      }
    }
    return new VideoFrame(data, {
      format: 'NV12', codedWidth: width, codedHeight: height, timestamp: index,
      colorSpace: { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m', fullRange: false },
    });
  });
}

// The kernel alone, on planes that lie in its memory already: what is left of `sparing` without copyTo,
// promises and the copy of the result.
async function kernelAlone(frame) {
  const kernel = new Kernel(await loadModule());
  const settings = readOptions({ ...job, dataType: 'float32' });
  const description = describeFrame(frame);
  const memory = planCopy(kernel, description);
  const request = makeRequest(description, memory, settings, DATA_TYPES.float32.index);
  kernel.reserveFrame(memory.bytes);
  kernel.reserveTensor(4 * settings.count);
  await frame.copyTo(kernel.frameView(memory.bytes), memory.copyOptions);
  return () => {
    kernel.draw(request, RangeError);
    return kernel.tensorView(settings);
  };
}

// A page's clock has steps of 0.1 ms, so that calls are timed together.
const calls = 5;

// In a round each way makes one untimed call (which meets what its predecessor left in the caches) and then
// `calls` timed ones, each on the next frame; no frame comes again before 96 MB of others. The order moves
// on by one every round. Resolves to {ways: {name: {ms, min, offBy}}, ratios: {name: its time over ours}}.
export async function speed({ rounds, width = 1920, height = 1080 }) {
  const frames = makeFrames(Math.ceil(96e6 / (width * height * 1.5)), width, height);
  const into = new Float32Array(3 * job.width * job.height);
  const ways = {
    sparing: (frame) => importFrame(frame, { ...job, dataType: 'float32', into }),
    kernel: await kernelAlone(frames[0]),
    canvas: canvasWay(job),
  };
  for (const resampler of Object.keys(resamplers)) ways[`copyto-${resampler}`] = copyToWay({ ...job, resampler });
  const names = Object.keys(ways);
  const picture = await pictureOf(frames[0]);
  const expected = referenceImport(picture, job).values;
  const results = {};
  for (const name of names) {
    const values = await ways[name](frames[0]);
    let sum = 0;
    for (let i = 0; i < values.length; ++i) sum += Math.abs(values[i] - expected[i]) * job.std;
    results[name] = { offBy: sum / values.length, rounds: [] };
  }
  let next = 0;
  for (let round = 0; round < rounds; ++round) {
    for (let i = 0; i < names.length; ++i) {
      const name = names[(round + i) % names.length];
      await ways[name](frames[next++ % frames.length]);
      const start = performance.now();
      for (let call = 0; call < calls; ++call) await ways[name](frames[next++ % frames.length]);
      results[name].rounds.push((performance.now() - start) / calls);
    }
  }
  for (const frame of frames) frame.close();
  const ours = results.sparing.rounds;
  const ratios = {};
  for (const name of names) ratios[name] = median(results[name].rounds.map((time, i) => time / ours[i]));
  return {
    ratios,
    ways: Object.fromEntries(names.map((name) => [name, {
      ms: median(results[name].rounds), min: Math.min(...results[name].rounds), offBy: results[name].offBy,
    }])),
  };
}

let sustained;

// Sets up what `sustain` runs: the segmentation network at 256x256 and frames of 1280x720.
export async function prepare() {
  const { native } = await install(navigator.ml);
  const context = await navigator.ml.createContext({ deviceType: 'cpu' });
  const graph = await buildSelfieGraph(context, '/models/people.source');
  const input = await context.createTensor({ dataType: 'float32', shape: [1, 256, 256, 3], writable: true });
  const output = await context.createTensor({ dataType: 'float32', shape: [1, 256, 256, 1], readable: true });
  const result = new Float32Array(256 * 256);
  const frames = makeFrames(16, 1280, 720);
  const visibleRect = new DOMRect(0, 0, 1280, 720);
  sustained = async (frame) => {
    context.writeTensor(input, { frame, isNchw: false, visibleRect, mean: 0, std: 255 });
    context.dispatch(graph, { input }, { output });
    await context.readTensor(output, result);
  };
  sustained.frames = frames;
  for (const frame of frames) await sustained(frame);
  return native;
}

// Frame after frame for so many seconds. Resolves to {frames, seconds, median and p99 of a frame in ms}.
export async function sustain(seconds) {
  const times = new Float32Array(200 * seconds);  // no growth of ours
  let count = 0;
  const begun = performance.now();
  let now = begun;
  while (now - begun < 1000 * seconds) {
    await sustained(sustained.frames[count % sustained.frames.length]);
    const end = performance.now();
    times[count++ % times.length] = end - now;
    now = end;
  }
  const sorted = times.slice(0, Math.min(count, times.length)).sort();
  return {
    frames: count, seconds: (now - begun) / 1000,
    median: sorted[sorted.length >> 1], p99: sorted[Math.floor(0.99 * sorted.length)],
  };
}
