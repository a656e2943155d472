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

// The recipes of docs/browser.md, each down to reading the tensor back. Each resolves to what is wrong.
const recipe = { width: 24, height: 20, layout: 'nhwc', dataType: 'float32', mean: 127.5, std: 127.5 };

async function comesThrough(read) {
  const { frame, picture } = makeFrame({ format: 'NV12', width: 48, height: 32 });
  try {
    return compare(await read(await importFrame(frame, recipe)), referenceImport(picture, recipe), 'float32').message ?? null;
  } finally {
    frame.close();
  }
}

export function litertRecipe() {
  return comesThrough(async (values) => {
    const { loadLiteRt, Tensor } = await import('@litertjs/core');
    await loadLiteRt('/libraries/@litertjs/core/wasm/');
    const tensor = new Tensor(values, [1, 20, 24, 3]);
    return tensor.data();
  });
}

async function loadScript(address) {
  const script = document.createElement('script');
  script.src = address;
  document.head.append(script);
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${address}: not loaded`));
  });
}

export function tensorflowRecipe() {
  return comesThrough(async (values) => {
    await loadScript('/libraries/@tensorflow/tfjs-core/dist/tf-core.min.js');
    await loadScript('/libraries/@tensorflow/tfjs-backend-cpu/dist/tf-backend-cpu.min.js');
    const tensor = tf.tensor4d(values, [1, 20, 24, 3]);
    return tensor.data();
  });
}

// null where there is no adapter, else what is wrong, '' for nothing.
export async function webgpuRecipe() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  const device = await adapter.requestDevice();
  const wrong = await comesThrough(async (values) => {
    const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    const buffer = device.createBuffer({ size: values.byteLength, usage: STORAGE | COPY_DST | COPY_SRC });
    device.queue.writeBuffer(buffer, 0, values);
    const back = device.createBuffer({ size: values.byteLength, usage: MAP_READ | COPY_DST });
    const commands = device.createCommandEncoder();
    commands.copyBufferToBuffer(buffer, 0, back, 0, values.byteLength);
    device.queue.submit([commands.finish()]);
    await back.mapAsync(GPUMapMode.READ);
    return new Float32Array(back.getMappedRange());
  });
  device.destroy();
  return wrong ?? '';
}
