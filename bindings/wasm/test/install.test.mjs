// install(): the overload, the order of calls, errors, and what stays as it was.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FakeContext, FakeFrame, FakeTensor, makeMl, open } from './fakes.mjs';
import { createImporter, install } from './package.mjs';
import { Picture } from './pictures.mjs';
import { fromFloat16, reference } from './reference.mjs';

const importer = await createImporter();
const picture = new Picture('NV12', 20, 14, 5);
const SHAPE = [1, 3, 6, 8];
const settle = (milliseconds = 5) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

let ml;
let handle;
let context;
let tensor;
let frame;

const makeTensor = (on, more = {}) =>
  on.createTensor({ dataType: 'float32', shape: SHAPE, readable: true, writable: true, ...more });
const source = (more = {}) => ({ frame, isNchw: true, mean: 127.5, std: 127.5, ...more });
const operations = (on = context) => on.log.map(([name]) => name);

function assertHolds(bytes, options = { mean: 127.5, std: 127.5 }) {
  const expected = reference(picture, { width: 8, height: 6, ...options });
  const tolerance = 0.02 / Math.min(...[options.std ?? 1].flat());
  new Float32Array(bytes).forEach(
    (one, i) => assert.ok(Math.abs(one - expected[i]) <= tolerance, `${i}: ${one} for ${expected[i]}`));
}

beforeEach(async () => {
  ml = makeMl();
  handle = await install(ml, { importer });
  context = await ml.createContext();
  context.log.length = 0;
  tensor = await makeTensor(context);
  frame = new FakeFrame(picture);
});

afterEach(async () => {
  frame.close();
  await handle.idle(context);
  assert.equal(open.count, 0, 'frames are open');
});

describe('the overload', () => {
  it('writes the frame, which may be closed after the call', async () => {
    assert.equal(context.writeTensor(tensor, source()), undefined);
    frame.close();
    assertHolds(await context.readTensor(tensor));
    assert.deepEqual(operations(), ['write', 'read']);
  });

  it('defaults: mean 0, std 1, the whole frame', async () => {
    context.writeTensor(tensor, { frame, isNchw: true });
    assertHolds(await context.readTensor(tensor), {});
  });

  it('NHWC, a rectangle, values for each channel, extensions', async () => {
    const nhwc = await makeTensor(context, { shape: [1, 6, 8, 3] });
    const options = { visibleRect: { x: 2, y: 1, width: 11, height: 9 }, mean: [1, 2, 3], std: [4, 5, 6], fit: 'letterbox', filter: 'area' };
    context.writeTensor(nhwc, { frame, isNchw: false, ...options });
    assertHolds(await context.readTensor(nhwc), { ...options, layout: 'nhwc' });
  });

  it('float16 and bytes', async () => {
    const expected = reference(picture, { width: 8, height: 6 });
    for (const [dataType, array] of [['uint8', Uint8Array], ['int32', Int32Array], ['int64', BigInt64Array]]) {
      const typed = await makeTensor(context, { dataType });
      context.writeTensor(typed, { frame, isNchw: true });
      new array(await context.readTensor(typed)).forEach(
        (one, i) => assert.ok(Math.abs(Number(one) - expected[i]) <= 0.52));
    }
    const half = await makeTensor(context, { dataType: 'float16' });
    context.writeTensor(half, { frame, isNchw: true });
    new Uint16Array(await context.readTensor(half)).forEach(
      (one, i) => assert.ok(Math.abs(fromFloat16(one) - expected[i]) <= 0.09));
  });

  it('says that it is not the browser\'s, and that nothing waits', async () => {
    assert.equal(handle.native, false);
    assert.equal(handle.pending(context), 0);
    await handle.idle(context);
  });
});

describe('validation, before anything is written', () => {
  const bad = [
    ['frame missing', () => ({ isNchw: true }), /^frame: missing/],
    ['frame no frame', () => source({ frame: {} }), /^frame: Object is not a VideoFrame/],
    ['isNchw missing', () => ({ frame }), /^isNchw: missing/],
    ['std of 0', () => source({ std: 0 }), /^std: 0 cannot divide/],
    ['std of 0 in one channel', () => source({ std: [1, 0, 1] }), /^std\[1\]: 0 cannot divide/],
    ['mean not finite', () => source({ mean: NaN }), /^mean: NaN is not finite/],
    ['mean a string', () => source({ mean: '1' }), /^mean: '1' is neither/],
    ['rectangle empty', () => source({ visibleRect: { x: 0, y: 0, width: 0, height: 4 } }), /^visibleRect: 0 x 4 is empty/],
    ['rectangle outside', () => source({ visibleRect: { x: 50, y: 0, width: 4, height: 4 } }), /outside the frame/],
    ['unknown filter', () => source({ filter: 'cubic' }), /^filter: 'cubic' is not one of its values; give 'bilinear'/],
    ['wrong layout', () => source({ isNchw: false }), /^channels: 8 is none of 1, 3 and 4/],
    ['pad out of range', () => source({ pad: 256 }), /^pad: 256 is not a pixel value/],
    ['quantization of floats', () => source({ quantization: { scale: 2 } }), /^quantization: the tensor is of float32/],
  ];
  for (const [name, make, message] of bad) {
    it(name, async () => {
      assert.throws(() => context.writeTensor(tensor, make()), (error) => {
        assert.ok(error instanceof TypeError, error.name);
        assert.match(error.message, message);
        assert.ok(error.thing && error.problem && error.fix);
        return true;
      });
      await settle();
      assert.deepEqual(operations(), []);
    });
  }

  it('a closed frame', () => {
    frame.close();
    assert.throws(() => context.writeTensor(tensor, source()), { name: 'TypeError', message: /^frame: is closed/ });
  });

  it('tensors that cannot take it', async () => {
    const throws = (one, message) =>
      assert.throws(() => context.writeTensor(one, source()), { name: 'TypeError', message });
    throws({}, /^tensor: Object is not an MLTensor/);
    throws(null, /^tensor: null is not an MLTensor/);
    throws(await makeTensor(context, { writable: false }), /^tensor: is not writable/);
    throws(await makeTensor(context, { shape: [2, 3, 6, 8] }), /^tensor of shape: \[2, 3, 6, 8\] does not hold one/);
    throws(await makeTensor(context, { shape: [3, 6, 8] }), /does not hold one picture/);
    throws(await makeTensor(context, { dataType: 'uint32' }), /^tensor: 'uint32' is no type/);
    throws(await makeTensor(await ml.createContext()), /^tensor: belongs to another context/);
    tensor.destroy();
    throws(tensor, /^tensor: has been destroyed/);
  });

  it('a context that is destroyed or lost', async () => {
    const other = await ml.createContext();
    const its = await makeTensor(other);
    other.crash('the service went away');
    await settle(0);
    assert.throws(() => other.writeTensor(its, source()), { name: 'InvalidStateError', message: /service went away/ });
    context.destroy();
    assert.throws(() => context.writeTensor(tensor, source()), { name: 'InvalidStateError' });
  });
});

describe('order', () => {
  it('later calls of the context wait, in order', async () => {
    const output = await makeTensor(context);
    const graph = new ml.Graph(context);
    const first = context.readTensor(tensor);
    context.writeTensor(tensor, source());
    const second = context.readTensor(tensor);
    const inputs = { a: tensor };
    context.dispatch(graph, inputs, { b: output });
    inputs.a = null; // the caller's object is read at the call
    const buffer = new Float32Array(3 * 6 * 8).fill(7);
    context.writeTensor(tensor, buffer);
    buffer.fill(0); // and so is the buffer
    const third = context.readTensor(tensor);
    const result = context.readTensor(output);
    tensor.destroy();
    graph.destroy();
    assert.equal(handle.pending(context), 8);
    assert.deepEqual(operations(), ['read']);
    assert.deepEqual(new Uint8Array(await first), new Uint8Array(4 * 144));
    assertHolds(await second);
    assert.ok(new Float32Array(await third).every((one) => one === 7));
    assert.deepEqual(new Uint8Array(await result), new Uint8Array(await second).map((byte) => byte + 1));
    assert.deepEqual(operations(),
      ['read', 'write', 'read', 'dispatch', 'write', 'read', 'read', 'destroy tensor', 'destroy graph']);
    assert.equal(handle.pending(context), 0);
  });

  it('two frames, two tensors: imports one after the other', async () => {
    const other = await makeTensor(context);
    const slow = new FakeFrame(picture, { delay: 20 });
    context.writeTensor(tensor, source({ frame: slow }));
    context.writeTensor(other, source());
    slow.close();
    await Promise.all([context.readTensor(other), context.readTensor(tensor)]);
    assert.deepEqual(context.log.map(([name, of]) => [name, of]),
      [['write', tensor], ['write', other], ['read', other], ['read', tensor]]);
  });

  it('other contexts do not wait', async () => {
    const other = await ml.createContext();
    const its = await makeTensor(other);
    const slow = new FakeFrame(picture, { delay: 30 });
    context.writeTensor(tensor, source({ frame: slow }));
    slow.close();
    other.writeTensor(its, new Float32Array(144).fill(3));
    assert.deepEqual(operations(other), ['write']);
    other.writeTensor(its, source());
    await other.readTensor(its);
    assert.deepEqual(operations(), []);
    await handle.idle(context);
    assert.deepEqual(operations(), ['write']);
  });

  it('without an import under way calls go straight through', async () => {
    context.writeTensor(tensor, new Float32Array(144).fill(1));
    assert.deepEqual(operations(), ['write']);
    context.writeTensor(tensor, source());
    await handle.idle(context);
    context.log.length = 0;
    context.dispatch(new ml.Graph(context), { a: tensor }, { b: await makeTensor(context) });
    tensor.destroy();
    assert.deepEqual(operations(), ['dispatch', 'destroy tensor']);
  });

  it('reading into a buffer', async () => {
    context.writeTensor(tensor, source());
    const into = new ArrayBuffer(4 * 144);
    assert.equal(await context.readTensor(tensor, into), undefined);
    assertHolds(into);
    context.writeTensor(tensor, source());
    await assert.rejects(context.readTensor(tensor, new ArrayBuffer(4)), { name: 'TypeError' });
  });

  it('a tensor destroyed while its import waits is written and then destroyed', async () => {
    context.writeTensor(tensor, source());
    const read = context.readTensor(tensor);
    tensor.destroy();
    assert.equal(tensor.destroyed, false);
    assert.throws(() => context.writeTensor(tensor, source()), { name: 'TypeError', message: /destroyed/ });
    await assert.rejects(context.readTensor(tensor), { name: 'InvalidStateError', message: /destroyed/ });
    assert.throws(() => context.writeTensor(tensor, new Float32Array(144)), { name: 'InvalidStateError' });
    assert.throws(() => context.dispatch(new ml.Graph(context), { a: tensor }, { b: tensor }), /inputs.a: has been destroyed/);
    assertHolds(await read);
    await handle.idle(context);
    assert.deepEqual(operations(), ['write', 'read', 'destroy tensor']);
  });

  it('a context destroyed while imports wait', async () => {
    context.writeTensor(tensor, source());
    const read = context.readTensor(tensor);
    context.destroy();
    assert.throws(() => context.dispatch(new ml.Graph(context), {}, {}), { name: 'InvalidStateError' });
    await assert.rejects(context.readTensor(tensor), { name: 'InvalidStateError' });
    assertHolds(await read);
    await context.lost;
    assert.deepEqual(operations(), ['write', 'read', 'destroy context']);
  });

  it('many frames: clones are closed, memory stays', async () => {
    const before = importer.memoryBytes;
    for (let k = 0; k < 30; ++k) {
      const one = new FakeFrame(picture);
      context.writeTensor(tensor, source({ frame: one }));
      one.close();
    }
    await handle.idle(context);
    assert.equal(open.count, 1, 'the test\'s own');
    assert.equal(operations().length, 30);
    assert.equal(importer.memoryBytes, before);
  });
});

describe('queued calls that are wrong', () => {
  beforeEach(() => { context.writeTensor(tensor, source()); });

  it('are refused at once, as far as that can be known', async () => {
    const throws = (call, message) => assert.throws(call, { name: 'TypeError', message });
    throws(() => context.writeTensor(tensor, new Float32Array(3)), /^buffer: has 12 bytes; the tensor float32\[1, 3, 6, 8\] needs 576/);
    throws(() => context.writeTensor(tensor, 5), /^buffer: 5 is not a buffer/);
    throws(() => context.writeTensor({}, new Float32Array(144)), /is not an MLTensor/);
    throws(() => context.dispatch(null, {}, {}), /^graph: null/);
    throws(() => context.dispatch(new ml.Graph(context), 1, {}), /^inputs: 1/);
    throws(() => context.dispatch(new ml.Graph(context), { a: 3 }, {}), /^inputs.a: 3 is not an MLTensor/);
    await handle.idle(context);
    assert.deepEqual(operations(), ['write']);
  });

  it('others are told by the event, and by the tensors that they would have written', async () => {
    const events = [];
    handle.addEventListener('error', (event) => events.push(event));
    const output = await makeTensor(context);
    context.dispatch(new ml.Graph(context), { wrong: tensor }, { b: output });
    await assert.rejects(context.readTensor(output), { name: 'TypeError', message: 'names' });
    assert.deepEqual(events.map(({ operation, tensor: of }) => [operation, of]), [['dispatch', output]]);
  });
});

describe('errors of imports', () => {
  const failing = () => new FakeFrame(picture, { fail: new DOMException('gone', 'AbortError'), delay: 1 });

  it('reject readTensor and are told by an event', async () => {
    const events = [];
    handle.addEventListener('error', (event) => events.push(event));
    const bad = failing();
    context.writeTensor(tensor, source({ frame: bad }));
    bad.close();
    await assert.rejects(context.readTensor(tensor), (error) => {
      assert.equal(error.name, 'OperationError');
      assert.match(error.message, /could not be imported.*NV12, 20x14.*gone/);
      assert.equal(error, events[0].error);
      return true;
    });
    assert.equal(events.length, 1);
    assert.equal(events[0].operation, 'writeTensor');
    assert.equal(events[0].context, context);
    assert.equal(events[0].tensor, tensor);
    assert.deepEqual(operations(), []);
    // Also later, when nothing waits.
    await assert.rejects(context.readTensor(tensor), { name: 'OperationError' });
  });

  it('go on through dispatch, and end with the next good write', async () => {
    const output = await makeTensor(context);
    const graph = new ml.Graph(context);
    const bad = failing();
    context.writeTensor(tensor, source({ frame: bad }));
    bad.close();
    context.dispatch(graph, { a: tensor }, { b: output });
    await assert.rejects(context.readTensor(output), { name: 'OperationError' });
    context.dispatch(graph, { a: tensor }, { b: output });
    await assert.rejects(context.readTensor(output), { name: 'OperationError' });
    assert.deepEqual(operations(), []);
    context.writeTensor(tensor, new Float32Array(144));
    context.dispatch(graph, { a: tensor }, { b: output });
    assert.equal(new Uint8Array(await context.readTensor(output))[0], 1);
    const good = new FakeFrame(picture);
    context.writeTensor(tensor, source({ frame: good }));
    good.close();
    assertHolds(await context.readTensor(tensor));
  });

  it('a context lost under way', async () => {
    const events = [];
    handle.addEventListener('error', (event) => events.push(event));
    context.writeTensor(tensor, source());
    const read = context.readTensor(tensor);
    context.crash('gone');
    await assert.rejects(read, { name: 'OperationError', message: /Context is lost/ });
    assert.equal(events.length, 1);
  });
});

describe('installing', () => {
  it('steps aside when the browser takes frames', async () => {
    class Native extends FakeContext {
      writeTensor(to, from) {
        if (!ArrayBuffer.isView(from) && from.frame === undefined) throw new TypeError('frame');
        this.log.push(['native', to, from]);
      }
    }
    const other = makeMl(Native);
    const before = Native.prototype.writeTensor;
    const installed = await install(other);
    assert.equal(installed.native, true);
    assert.equal(Native.prototype.writeTensor, before);
    await installed.uninstall();
    const its = await other.createContext();
    its.writeTensor('a', source());
    assert.deepEqual(operations(its), ['native']);
  });

  it('twice is once', async () => {
    const replaced = ml.Context.prototype.writeTensor;
    assert.equal(await install(ml), handle);
    assert.equal(ml.Context.prototype.writeTensor, replaced);
    const other = makeMl();
    const [a, b] = await Promise.all([install(other, { importer }), install(other, { importer })]);
    assert.equal(a, b);
  });

  it('a context that is there already is used', async () => {
    const other = makeMl();
    const its = await other.createContext();
    await install(other, { importer, context: its });
    assert.equal(other.made, 1);
    assert.equal(its.destroyed, false);
    const there = await makeTensor(its);
    its.writeTensor(there, source());
    await its.readTensor(there);
  });

  it('keeps what functions look like', async () => {
    const { prototype } = makeMl().Context;
    for (const name of ['writeTensor', 'readTensor', 'dispatch', 'destroy', 'createTensor']) {
      const was = Object.getOwnPropertyDescriptor(prototype, name);
      const is = Object.getOwnPropertyDescriptor(ml.Context.prototype, name);
      assert.deepEqual([is.value.name, is.value.length, is.enumerable, is.writable, is.configurable],
        [was.value.name, was.value.length, was.enumerable, was.writable, was.configurable]);
      assert.notEqual(is.value, was.value);
    }
  });

  it('uninstall() puts everything back once nothing waits', async () => {
    context.writeTensor(tensor, source());
    const read = context.readTensor(tensor);
    await handle.uninstall();
    assertHolds(await read);
    for (const name of ['writeTensor', 'readTensor', 'dispatch', 'destroy', 'createTensor']) {
      assert.equal(ml.Context.prototype[name], FakeContext.prototype[name]);
    }
    assert.throws(() => context.writeTensor(tensor, { frame, isNchw: true }), /parameter 2/);
    assert.equal(ml.Tensor.prototype.destroy, FakeTensor.prototype.destroy);
    await handle.uninstall();
  });

  it('errors of the browser stay as they are', () => {
    assert.throws(() => context.writeTensor(tensor), /parameter 2/);
    assert.throws(() => context.writeTensor(tensor, null), /parameter 2/);
    assert.throws(() => ml.Context.prototype.writeTensor.call({}, tensor, {}), TypeError);
    assert.throws(() => context.dispatch(), /parameter 1/);
  });

  it('without WebNN', async () => {
    await assert.rejects(install(undefined), { name: 'TypeError', message: /^navigator.ml: undefined is not WebNN/ });
    const error = new DOMException('no backend', 'NotSupportedError');
    await assert.rejects(install({ createContext: async () => { throw error; } }), error);
  });
});
