// People out of a frame, by one of two engines: the browser's own (WebNN), on a graph built here, so that
// the page needs no library for it; else onnxruntime-web in WebAssembly, on the same network as ONNX.
import { importFrame, install } from 'sparing-webnn';
import { buildSelfieGraph } from './selfie_graph.js';
import { canvasWay, copyToWay } from './usual_ways.js';

export const size = 256;
// What the network was trained on: RGB of 0..1.
const normalisation = { mean: 0, std: 255 };

// The ways to fill the tensor; the first is the default.
export const ways = {
  sparing: 'Sparing',
  copyto: 'copyTo + JavaScript',
  canvas: 'canvas + JavaScript',
};

// {engine, layout, segment(frame, way, clock)}; segment resolves to Float32Array of size * size
// probabilities. Without WebNN, or with `without: 'webnn'`, the fallback.
export async function createSegmenter({ without, status }) {
  const failures = [];
  if (without !== 'webnn') {
    try {
      return await createWebnn(status);
    } catch (error) {
      failures.push(`WebNN: ${error.message}`);
    }
  }
  status('loading onnxruntime-web');
  return { ...await createFallback(), failures };
}

async function createWebnn(status) {
  if (!navigator.ml) throw new Error('this browser does not have it (navigator.ml is missing)');
  const installation = await install(navigator.ml);
  const context = await navigator.ml.createContext({ deviceType: 'gpu' });
  status('compiling the network');
  const graph = await buildSelfieGraph(context, '/models/people.source');
  const input = await context.createTensor(
    { dataType: 'float32', shape: [1, size, size, 3], writable: true });
  const output = await context.createTensor(
    { dataType: 'float32', shape: [1, size, size, 1], readable: true });
  const usual = usualWays('nhwc');
  return {
    engine: installation.native ? 'WebNN, its own import' : 'WebNN',
    layout: 'nhwc',
    async segment(frame, way, clock) {
      if (way === 'sparing') {
        context.writeTensor(input, {
          frame, isNchw: false, ...normalisation,
          visibleRect: new DOMRect(0, 0, frame.displayWidth, frame.displayHeight),
        });
        // dispatch() would wait for it by itself; this is for the clock alone.
        await installation.idle(context);
        clock.mark('importWrite');
      } else {
        const values = await usual[way](frame);
        clock.mark('import');
        context.writeTensor(input, values);
        clock.mark('write');
      }
      context.dispatch(graph, { input }, { output });
      const mask = new Float32Array(await context.readTensor(output));
      clock.mark('inference');
      return mask;
    },
  };
}

async function createFallback() {
  const ort = await import('/ort/ort.wasm.min.mjs');
  ort.env.wasm.wasmPaths = '/ort/';
  // More threads need a cross-origin isolated page, which this one does not ask for.
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create('/models/people.onnx', { executionProviders: ['wasm'] });
  const usual = usualWays('nchw');
  const values = new Float32Array(3 * size * size);
  const input = new ort.Tensor('float32', values, [1, 3, size, size]);
  return {
    engine: 'onnxruntime-web (WebAssembly)',
    layout: 'nchw',
    async segment(frame, way, clock) {
      if (way === 'sparing') {
        await importFrame(frame, {
          width: size, height: size, layout: 'nchw', dataType: 'float32', ...normalisation, into: values,
        });
        clock.mark('import');
      } else {
        const filled = await usual[way](frame);
        clock.mark('import');
        values.set(filled);
        clock.mark('write');
      }
      const { logits } = await session.run({ input });
      const mask = logits.data.map((logit) => 1 / (1 + Math.exp(-logit)));
      clock.mark('inference');
      return mask;
    },
  };
}

function usualWays(layout) {
  const options = { width: size, height: size, layout, ...normalisation };
  return { copyto: copyToWay(options), canvas: canvasWay(options) };
}
