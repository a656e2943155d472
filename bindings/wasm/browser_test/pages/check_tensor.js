// writeTensor(tensor, {frame, ...}) on a real MLContext: values, order, errors. Functions resolve to a
// list of what is wrong; empty is good.
import { install } from 'sparing-webnn';
import { numbers } from './check_import.js';
import { makeFrame } from './frames.js';
import { compare, referenceImport } from './reference.js';

const arrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array, float16: globalThis.Float16Array ?? Uint16Array };
const context = await navigator.ml?.createContext({ deviceType: 'cpu' });

function shapeOf({ width, height, isNchw, channels = 3 }) {
  return isNchw ? [1, channels, height, width] : [1, height, width, channels];
}
const makeTensor = (dataType, shape) => context.createTensor({ dataType, shape, readable: true, writable: true });
const read = async (tensor, dataType = 'float32') => numbers(new arrays[dataType](await context.readTensor(tensor)), dataType);
const whole = (frame) => new DOMRect(0, 0, frame.displayWidth, frame.displayHeight);
const expect = (picture, { isNchw, width, height, dataType = 'float32', ...options }) =>
  referenceImport(picture, { width, height, layout: isNchw ? 'nchw' : 'nhwc', dataType, ...options });

async function holds(name, tensor, picture, options) {
  const dataType = options.dataType ?? 'float32';
  const { message } = compare(await read(tensor, dataType), expect(picture, options), dataType);
  return message ? [`${name}: ${message}`] : [];
}

// What the explainer's dictionary has, and all of it: every data type and layout.
export async function valuesAreRight() {
  await install(navigator.ml);
  const found = [];
  for (const dataType of Object.keys(arrays)) {
    for (const isNchw of [true, false]) {
      for (const format of ['I420', 'NV12', 'RGBA', 'BGRX', 'I422P10']) {
        const { frame, picture } = makeFrame({ format, width: 44, height: 30, rotation: 90 });
        const size = { width: 20, height: 26, isNchw };
        const integer = dataType.endsWith('int8');
        const numbersOf = integer ? { mean: dataType === 'int8' ? 128 : 0, std: 1 } : { mean: 127.5, std: 127.5 };
        const tensor = await makeTensor(dataType, shapeOf(size));
        const visibleRect = new DOMRect(1, 3, 25, 31);
        context.writeTensor(tensor, { frame, isNchw, visibleRect, ...numbersOf });
        frame.close();
        found.push(...await holds(`${format}, ${dataType}, isNchw ${isNchw}`, tensor, picture, { ...size, ...numbersOf, dataType, visibleRect }));
        tensor.destroy();
      }
    }
  }
  return found;
}

export async function extensionsWork() {
  await install(navigator.ml);
  const { frame, picture } = makeFrame({ format: 'NV12', width: 60, height: 30 });
  const size = { width: 24, height: 24, isNchw: true };
  const tensor = await makeTensor('float32', shapeOf(size));
  const options = {
    mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375], fit: 'letterbox', pad: 50, filter: 'area', order: 'bgr',
  };
  context.writeTensor(tensor, { frame, isNchw: true, ...options });
  const found = await holds('letterbox', tensor, picture, { ...size, ...options });
  frame.close();
  tensor.destroy();
  return found;
}

// visibleRect is the whole frame, mean 0, std 1.
export async function defaultsHold() {
  await install(navigator.ml);
  const { frame, picture } = makeFrame({ format: 'I420', width: 30, height: 40, rotation: 90, flip: true });
  const size = { width: 16, height: 12, isNchw: false };
  const tensor = await makeTensor('float32', shapeOf(size));
  context.writeTensor(tensor, { frame, isNchw: false });
  frame.close();
  const found = await holds('defaults', tensor, picture, size);
  tensor.destroy();
  return found;
}

// A graph that adds one, so that what dispatch saw is told from what was written.
async function plusOne(shape) {
  const builder = new MLGraphBuilder(context);
  const input = builder.input('input', { dataType: 'float32', shape });
  const one = builder.constant({ dataType: 'float32', shape: [1] }, new Float32Array([1]));
  return builder.build({ output: builder.add(input, one) });
}

// Later calls on the context find what earlier ones wrote, though import takes its time.
export async function orderIsKept() {
  await install(navigator.ml);
  const found = [];
  const size = { width: 32, height: 20, isNchw: true };
  const shape = shapeOf(size);
  const count = 3 * 32 * 20;
  const graph = await plusOne(shape);
  const [input, first, second] = await Promise.all([0, 1, 2].map(() => makeTensor('float32', shape)));
  const a = makeFrame({ format: 'NV12', width: 640, height: 360, seed: 21 });
  const b = makeFrame({ format: 'RGBA', width: 320, height: 200, seed: 22 });
  const describe = (frame) => ({ frame, isNchw: true, visibleRect: whole(frame), mean: 0, std: 1 });
  const plus = (picture) => {
    const expected = expect(picture, size);
    return { ...expected, values: expected.values.map((value) => value + 1) };
  };
  const check = async (name, tensor, expected) => {
    const { message } = compare(await read(tensor), expected, 'float32');
    if (message) found.push(`${name}: ${message}`);
  };

  // The explainer's five lines, frame after frame without a wait, frames closed at once.
  const frameA = a.frame.clone();
  context.writeTensor(input, describe(frameA));
  frameA.close();
  context.dispatch(graph, { input }, { output: first });
  const frameB = b.frame.clone();
  context.writeTensor(input, describe(frameB));
  frameB.close();
  context.dispatch(graph, { input }, { output: second });
  await Promise.all([check('first dispatch', first, plus(a.picture)), check('second dispatch', second, plus(b.picture))]);

  // Buffers and frames by turns; the buffer may be changed as soon as the call returns.
  const buffer = new Float32Array(count).fill(7);
  context.writeTensor(input, describe(a.frame));
  context.writeTensor(input, buffer);
  buffer.fill(8);
  const seven = await read(input);
  if (!seven.every((value) => value === 7)) found.push(`a buffer after a frame: ${seven[0]}, not 7`);
  context.writeTensor(input, buffer);
  context.writeTensor(input, describe(b.frame));
  await check('a frame after a buffer', input, expect(b.picture, size));

  // Reading into a caller's buffer, and destroying what is still being written.
  context.writeTensor(input, describe(a.frame));
  const into = new Float32Array(count);
  await context.readTensor(input, into);
  const { message } = compare(into, expect(a.picture, size), 'float32');
  if (message) found.push(`readTensor into a buffer: ${message}`);
  context.writeTensor(input, describe(a.frame));
  context.dispatch(graph, { input }, { output: first });
  input.destroy();
  await check('a tensor destroyed after dispatch', first, plus(a.picture));

  for (const tensor of [first, second]) tensor.destroy();
  a.frame.close();
  b.frame.close();
  return found;
}

// Wrong calls throw before anything is written. Resolves to {case: [error's name, message]}.
export async function wrongCalls() {
  await install(navigator.ml);
  const { frame } = makeFrame({ format: 'I420', width: 16, height: 16 });
  const closed = frame.clone();
  closed.close();
  const good = await makeTensor('float32', [1, 3, 8, 8]);
  const readOnly = await context.createTensor({ dataType: 'float32', shape: [1, 3, 8, 8], readable: true });
  const flat = await makeTensor('float32', [192]);
  const gone = await makeTensor('float32', [1, 3, 8, 8]);
  gone.destroy();
  const marks = new Float32Array(192).fill(42);
  context.writeTensor(good, marks);
  const say = { frame, isNchw: true, visibleRect: whole(frame), mean: 0, std: 1 };
  const cases = {
    'a closed frame': [good, { ...say, frame: closed }],
    'no frame': [good, { ...say, frame: {} }],
    'the other layout': [good, { ...say, isNchw: false }],
    'a tensor without a picture': [flat, say],
    'a tensor that cannot be written': [readOnly, say],
    'a destroyed tensor': [gone, say],
    'std of 0': [good, { ...say, std: 0 }],
    'mean of NaN': [good, { ...say, mean: NaN }],
    'an empty rectangle': [good, { ...say, visibleRect: new DOMRect(0, 0, 0, 4) }],
    'a rectangle outside': [good, { ...say, visibleRect: new DOMRect(100, 100, 4, 4) }],
    'an unknown filter': [good, { ...say, filter: 'best' }],
    'no tensor': [{}, say],
  };
  const thrown = {};
  for (const [name, [tensor, options]] of Object.entries(cases)) {
    try {
      context.writeTensor(tensor, options);
      thrown[name] = null;
    } catch (error) {
      thrown[name] = [error.name, error.message];
    }
  }
  const untouched = (await read(good)).every((value) => value === 42);
  frame.close();
  return { thrown, untouched };
}

// What goes wrong in queued work reaches whoever reads and whoever listens, and later work goes on.
export async function queuedFailure() {
  const installation = await install(navigator.ml);
  const { frame, picture } = makeFrame({ format: 'I420', width: 16, height: 16 });
  const size = { width: 8, height: 8, isNchw: true };
  const tensor = await makeTensor('float32', shapeOf(size));
  const say = { frame, isNchw: true, visibleRect: whole(frame), mean: 0, std: 1 };
  const { copyTo } = VideoFrame.prototype;
  VideoFrame.prototype.copyTo = () => Promise.reject(new DOMException('the decoder took it away', 'OperationError'));
  let rejected = 'nothing';
  let event = 'nothing';
  installation.addEventListener('error', ({ operation, error }) => { event = `${operation}: ${error.message}`; }, { once: true });
  try {
    context.writeTensor(tensor, say);
    await context.readTensor(tensor).catch((error) => { rejected = `${error.name}: ${error.message}`; });
  } finally {
    VideoFrame.prototype.copyTo = copyTo;
  }
  context.writeTensor(tensor, say);
  const found = await holds('after a failure', tensor, picture, size);
  frame.close();
  return { rejected, event, found };
}

// What a call does, so that two can be compared; `first` is called before it, in the same turn.
async function outcome(tensor, value, first) {
  try {
    first?.();
    const returned = context.writeTensor(tensor, value);
    return { returned: String(returned), holds: [...new Uint8Array(await context.readTensor(tensor))] };
  } catch (error) {
    return { threw: error.name };
  }
}

async function bufferOutcomes(first) {
  const make = () => makeTensor('float32', [6]);
  const bytes = Uint8Array.from({ length: 40 }, (_, i) => i + 1);
  const detached = new ArrayBuffer(24);
  structuredClone(detached, { transfer: [detached] });
  const values = {
    'a typed array': Float32Array.of(1, 2, 3, 4, 5, 6),
    'a typed array of another type': Uint8Array.from({ length: 24 }, (_, i) => i),
    'part of a buffer': new Float32Array(bytes.buffer, 8, 6),
    'a DataView': new DataView(bytes.buffer, 4, 24),
    'an ArrayBuffer': Float32Array.of(6, 5, 4, 3, 2, 1).buffer,
    'too short': new Float32Array(5),
    'too long': new Float32Array(7),
    empty: new ArrayBuffer(0),
    'a detached buffer': detached,
    null: null,
    'undefined': undefined,
    'a number': 3,
    'a string': 'six floats',
    'an object': {},
    'an array': [1, 2, 3, 4, 5, 6],
  };
  const outcomes = {};
  for (const [name, value] of Object.entries(values)) {
    const tensor = await make();
    outcomes[name] = await outcome(tensor, value, first);
    tensor.destroy();
  }
  const readOnly = await context.createTensor({ dataType: 'float32', shape: [6], readable: true });
  outcomes['a tensor that cannot be written'] = await outcome(readOnly, new Float32Array(6), first);
  const gone = await make();
  gone.destroy();
  outcomes['a destroyed tensor'] = await outcome(gone, new Float32Array(6), first);
  outcomes['no tensor'] = await outcome(null, new Float32Array(6), first);
  try {
    context.writeTensor();
  } catch (error) {
    outcomes['no arguments'] = { threw: error.name };
  }
  try {
    MLContext.prototype.writeTensor.call({}, gone, new Float32Array(6));
  } catch (error) {
    outcomes['no context'] = { threw: error.name };
  }
  outcomes.shape = [MLContext.prototype.writeTensor.name, MLContext.prototype.writeTensor.length];
  return outcomes;
}

// writeTensor(tensor, buffer) before, with and after the overload; and with it, right behind a frame.
export async function buffersThroughout() {
  const { writeTensor } = MLContext.prototype;
  const unpatched = await bufferOutcomes();
  const installation = await install(navigator.ml);
  const { native } = installation;
  const patched = await bufferOutcomes();
  const { frame } = makeFrame({ format: 'I420', width: 64, height: 48 });
  const other = await makeTensor('float32', [1, 3, 8, 8]);
  const behind = await bufferOutcomes(() => context.writeTensor(other, { frame, isNchw: true }));
  frame.close();
  other.destroy();
  const changed = MLContext.prototype.writeTensor !== writeTensor;
  await installation.uninstall();
  const after = await bufferOutcomes();
  const restored = MLContext.prototype.writeTensor === writeTensor;
  return { native, unpatched, patched, behind, after, changed, restored };
}

// What wrong calls of readTensor and dispatch do on an idle context and right behind a frame, so that the
// two can be compared: {case: [idle, behind]}, each the error's name; 'late: ' comes before that of an
// error that only the event tells of.
export async function wrongCallsBehindAFrame() {
  const installation = await install(navigator.ml);
  let late = null;
  installation.addEventListener('error', ({ error }) => { late = error.name; });
  const { frame } = makeFrame({ format: 'I420', width: 64, height: 48 });
  const busy = await makeTensor('float32', [1, 3, 8, 8]);
  const shape = [1, 3, 8, 8];
  const graph = await plusOne(shape);
  const input = await makeTensor('float32', shape);
  const output = await makeTensor('float32', shape);
  const gone = await makeTensor('float32', shape);
  gone.destroy();
  const flat = await makeTensor('float32', [4]);
  const writeOnly = await context.createTensor({ dataType: 'float32', shape, writable: true });
  const stranger = await (await navigator.ml.createContext({ deviceType: 'cpu' })).createTensor(
    { dataType: 'float32', shape, readable: true, writable: true });
  const cases = {
    'write to a destroyed tensor': async () => context.writeTensor(gone, new Float32Array(192)),
    'read a destroyed tensor': () => context.readTensor(gone),
    'read what cannot be read': () => context.readTensor(writeOnly),
    'read no tensor': () => context.readTensor(null),
    'read without an argument': () => context.readTensor(),
    'read into too little': () => context.readTensor(output, new Float32Array(3)),
    'read into no buffer': () => context.readTensor(output, 'here'),
    'read a tensor of another context': () => context.readTensor(stranger),
    'dispatch no graph': () => context.dispatch(null, { input }, { output }),
    'dispatch without arguments': () => context.dispatch(),
    'dispatch a destroyed input': () => context.dispatch(graph, { input: gone }, { output }),
    'dispatch a destroyed output': () => context.dispatch(graph, { input }, { output: gone }),
    'dispatch no tensor': () => context.dispatch(graph, { input: 3 }, { output }),
    'dispatch a tensor of another context': () => context.dispatch(graph, { input: stranger }, { output }),
    'dispatch one tensor twice': () => context.dispatch(graph, { input }, { output: input }),
    'dispatch without its input': () => context.dispatch(graph, {}, { output }),
    'dispatch an unknown name': () => context.dispatch(graph, { input, other: busy }, { output }),
    'dispatch a tensor of another shape': () => context.dispatch(graph, { input: flat }, { output }),
  };
  const outcomes = {};
  for (const [name, body] of Object.entries(cases)) {
    outcomes[name] = [];
    for (const first of [() => {}, () => context.writeTensor(busy, { frame, isNchw: true })]) {
      late = null;
      first();
      let outcome = 'nothing';
      try {
        await body();
      } catch (error) {
        outcome = error.name;
      }
      await installation.idle(context);
      outcomes[name].push(late ? `late: ${late}` : outcome);
    }
  }
  frame.close();
  return outcomes;
}
