// The package in a worker, and beside onnxruntime-web.
import { importFrame, install } from 'sparing-webnn';
import { makeFrame } from './frames.js';
import { compare, referenceImport } from './reference.js';

export async function worksInAWorker(withContext) {
  const { frame, picture } = makeFrame({ format: 'NV12', width: 48, height: 32 });
  const options = { width: 24, height: 20, layout: 'nchw', dataType: 'float32', mean: 127.5, std: 127.5 };
  const worker = new Worker('/test/worker.js', { type: 'module' });
  try {
    const { values, written, failure } = await new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve({ failure: `the worker did not start: ${message}` });
      worker.postMessage({ frame, options, shape: withContext ? [1, 3, 20, 24] : null }, [frame]);
    });
    if (failure) return [failure];
    const expected = referenceImport(picture, options);
    return [['importFrame', values], ...(withContext ? [['writeTensor', written]] : [])]
      .map(([name, actual]) => [name, compare(actual, expected, 'float32').message])
      .filter(([, message]) => message)
      .map(([name, message]) => `${name}: ${message}`);
  } finally {
    worker.terminate();
  }
}

const size = 256;
const input = { width: size, height: size, layout: 'nchw', dataType: 'float32', mean: 0, std: 255 };

function difference(a, b) {
  let most = 0;
  for (let i = 0; i < a.length; ++i) most = Math.max(most, Math.abs(a[i] - b[i]));
  return most;
}

const chance = (logits) => Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));

// onnxruntime-web in WebAssembly on what importFrame gives, and with WebNN on a tensor that writeTensor
// filled, its output taken back as an MLTensor. Resolves to {most: largest difference of probabilities}.
export async function worksWithOnnxruntime() {
  await install(navigator.ml);
  const ort = await import('/ort/ort.jspi.min.mjs');
  ort.env.wasm.wasmPaths = '/ort/';
  ort.env.wasm.numThreads = 1;
  const { frame } = makeFrame({ format: 'NV12', width: 320, height: 240 });

  const values = await importFrame(frame, input);
  const plain = await ort.InferenceSession.create('/models/people.onnx', { executionProviders: ['wasm'] });
  const expected = await plain.run({ input: new ort.Tensor('float32', values, [1, 3, size, size]) });

  const context = await navigator.ml.createContext({ deviceType: 'cpu' });
  const session = await ort.InferenceSession.create('/models/people.onnx', {
    executionProviders: [{ name: 'webnn', deviceType: 'cpu', context }],
    freeDimensionOverrides: { height: size, width: size },
    preferredOutputLocation: 'ml-tensor',
  });
  const tensor = await context.createTensor({ dataType: 'float32', shape: [1, 3, size, size], writable: true, readable: true });
  context.writeTensor(tensor, { frame, isNchw: true, visibleRect: new DOMRect(0, 0, 320, 240), mean: 0, std: 255 });
  frame.close();
  const { logits } = await session.run(
    { input: ort.Tensor.fromMLTensor(tensor, { dataType: 'float32', dims: [1, 3, size, size] }) });
  const location = logits.location;
  const actual = new Float32Array(await context.readTensor(logits.mlTensor));
  const most = difference(chance(actual), chance(expected.logits.data));
  logits.dispose();
  tensor.destroy();
  return { location, most };
}
