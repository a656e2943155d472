// The importer and the module under it: bad options, memory, imports at the same time, what the package
// weighs.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { FakeFrame, open } from './fakes.mjs';
import { createImporter, folder, importFrame, importPlanes, ready } from './package.mjs';
import { Picture } from './pictures.mjs';
import { reference } from './reference.mjs';

const importer = await createImporter();
const picture = new Picture('NV12', 20, 14, 5);
const size = { width: 8, height: 6 };

function assertClose(actual, options, of = picture) {
  const expected = reference(of, options);
  actual.forEach((one, i) => assert.ok(Math.abs(one - expected[i]) <= 0.02, `${i}: ${one}`));
}

describe('bad options name the member, the value and the fix', () => {
  const cases = [
    [{}, TypeError, 'width: missing; give the tensor\'s width and height, or its dimensions'],
    [{ width: 8 }, TypeError, /^height: missing/],
    [{ ...size, width: 0 }, RangeError, 'width: 0 is out of range; give a whole number of 1 to 1048576'],
    [{ ...size, width: 2.5 }, RangeError, /^width: 2.5 is out of range/],
    [{ ...size, height: '6' }, TypeError, 'height: \'6\' is not a number; give a finite number'],
    [{ ...size, channels: 2 }, RangeError, /^channels: 2 is none of 1, 3 and 4/],
    [{ width: 2 ** 20, height: 2 ** 20 }, RangeError, /too large/],
    [{ ...size, dimensions: [1, 3, 6, 8] }, TypeError, /^dimensions: given beside width/],
    [{ dimensions: [3, 6, 8] }, TypeError, /^dimensions: \[3, 6, 8\] does not hold one picture; give \[1, channels, height, width\]/],
    [{ dimensions: 7 }, TypeError, /^dimensions: 7 does not hold/],
    [{ ...size, layout: 'hwc' }, TypeError, 'layout: \'hwc\' is not one of its values; give \'nchw\', \'nhwc\''],
    [{ ...size, dataType: 'float64' }, TypeError, /^dataType: 'float64' is no type/],
    [{ ...size, dataType: 'toString' }, TypeError, /^dataType/],
    [{ ...size, mean: [1, 2] }, TypeError, /^mean: \[1, 2\] is neither a number nor three/],
    [{ ...size, mean: [1, 2, Infinity] }, RangeError, /^mean\[2\]: Infinity is not finite/],
    [{ ...size, std: 0 }, RangeError, 'std: 0 cannot divide; give a number other than 0'],
    [{ ...size, std: 1e-60 }, RangeError, /^std: 1e-60 cannot divide/],
    [{ ...size, pad: [0, -1, 0] }, RangeError, /^pad\[1\]: -1 is not a pixel value/],
    [{ ...size, fit: 'cover' }, TypeError, /^fit: 'cover'.*'letterbox'/],
    [{ ...size, rotation: 45 }, RangeError, /^rotation: 45 is not a quarter turn/],
    [{ ...size, flip: 1 }, TypeError, /^flip: 1 is not a boolean/],
    [{ ...size, alpha: NaN }, RangeError, /^alpha: NaN/],
    [{ ...size, visibleRect: 5 }, TypeError, /^visibleRect: 5 is not an object/],
    [{ ...size, visibleRect: { x: 'a', width: 1, height: 1 } }, TypeError, /^visibleRect.x: 'a' is not a number/],
    [{ ...size, visibleRect: { width: 1 } }, RangeError, /^visibleRect: 1 x 0 is empty/],
    [{ ...size, visibleRect: { x: 30, width: 1, height: 1 } }, RangeError, /lies outside the frame/],
    [{ ...size, colorSpace: { matrix: 'bt601' } }, TypeError, /^colorSpace.matrix: 'bt601'.*'bt470bg'/],
    [{ ...size, colorSpace: { siting: 'up' } }, TypeError, /^colorSpace.siting/],
    [{ ...size, quantization: { scale: 0 }, dataType: 'uint8' }, RangeError, /^quantization.scale: 0/],
    [{ ...size, quantization: { zeroPoint: 1.5 }, dataType: 'uint8' }, RangeError, /^quantization.zeroPoint: 1.5/],
    [{ ...size, quantization: { scale: 2 } }, TypeError, /^quantization: the tensor is of float32/],
    [{ ...size, into: new Uint8Array(3 * 48) }, TypeError, 'into: Uint8Array does not hold float32; give a Float32Array'],
    [{ ...size, into: new Float32Array(3) }, RangeError, /^into: has 3 elements; the tensor needs 144/],
    [{ ...size, fliter: 'area' }, TypeError, /^options.fliter: unknown; known are width/],
    [null, TypeError, /^options: null is not an object/],
  ];
  for (const [options, Type, message] of cases) {
    it(String(message), async () => {
      const check = (error) => {
        assert.equal(error.constructor, Type, error.stack);
        if (message instanceof RegExp) assert.match(error.message, message);
        else assert.equal(error.message, message);
        return true;
      };
      assert.throws(() => importer.importPlanes(picture.source(), options), check);
      const frame = new FakeFrame(picture);
      await assert.rejects(importer.importFrame(frame, options), check);
      await assert.rejects(importFrame(frame, options), check);
      frame.close();
      assert.equal(open.count, 0);
    });
  }
});

describe('bad planes', () => {
  const good = picture.source();
  const [y, uv] = good.planes;
  const cases = [
    [null, /^source: null is not an object/],
    [{ ...good, format: 'NV13' }, /^format: 'NV13' is not a format of import; give one of I420/],
    [{ ...good, format: undefined }, /^format: 'undefined'|^format: undefined/],
    [{ ...good, codedWidth: 0 }, /^codedWidth: 0 is out of range; give a whole number of 1 to 16384/],
    [{ ...good, codedHeight: 20000 }, /^codedHeight: 20000/],
    [{ ...good, planes: [y] }, /^planes: \[Object\] is not 2 planes/],
    [{ ...good, planes: [y, { data: 'no' }] }, /^planes\[1\].data: 'no' is not a buffer/],
    [{ ...good, planes: [{ ...y, stride: 19 }, uv] }, /^plane 0: stride 19 is shorter than a row/],
    [{ ...good, planes: [{ ...y, offset: 1 }, uv] }, /^plane 0: 280 bytes from 1 on are not within 280/],
    [{ ...good, planes: [{ ...y, stride: 2 ** 40 }, uv] }, /^plane 0: stride/],
    [{ ...good, planes: undefined, data: new Uint8Array(5) }, /^plane 0: 280 bytes from 0 on are not within 5/],
    [{ ...good, planes: undefined, data: new Uint8Array(900), layout: [{ offset: 0, stride: 20 }] }, /^layout: \[Object\] is not 2/],
    [{ ...good, visibleRect: { x: 15, width: 10, height: 5 } }, /visible rectangle of the frame.*reaches outside/],
    [{ ...good, rotation: 30 }, /^source.rotation: 30 is not a quarter turn/],
    [{ ...good, colorSpace: { fullRange: 'yes' } }, /^source.colorSpace.fullRange: 'yes' is not a boolean/],
  ];
  for (const [source, message] of cases) {
    it(String(message), () => {
      assert.throws(() => importer.importPlanes(source, size), (error) => {
        assert.ok(error instanceof TypeError || error instanceof RangeError, error.stack);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it('one buffer with and without a layout', () => {
    const data = new Uint8Array(y.data.length + uv.data.length);
    data.set(y.data);
    data.set(uv.data, y.data.length);
    const expected = importer.importPlanes(good, size);
    assert.deepEqual(importer.importPlanes({ ...good, planes: undefined, data }, size), expected);
    const layout = [{ offset: 0, stride: 20 }, { offset: y.data.length, stride: 20 }];
    assert.deepEqual(importer.importPlanes({ ...good, planes: undefined, data: data.buffer, layout }, size), expected);
  });
});

describe('frames', () => {
  it('a closed frame, and what is no frame', async () => {
    const frame = new FakeFrame(picture);
    frame.close();
    await assert.rejects(importer.importFrame(frame, size), { name: 'TypeError', message: /^frame: is closed/ });
    await assert.rejects(importer.importFrame(5, size), { name: 'TypeError', message: /^frame: 5 is not a VideoFrame/ });
  });

  it('may be closed as soon as the call has returned, also the first, which loads the module', async () => {
    const frame = new FakeFrame(picture, { delay: 3 });
    const result = importFrame(frame, size);
    frame.close();
    assertClose(await result, size);
    await ready();
    assertClose(importPlanes(picture.source(), size), size);
  });

  it('an error of copyTo() says whose', async () => {
    const frame = new FakeFrame(picture, { fail: new TypeError('no') });
    await assert.rejects(importer.importFrame(frame, size), {
      name: 'OperationError', message: 'frame: its pixels (NV12, 20x14) could not be copied: no',
    });
    frame.close();
  });

  it('a format that the kernel has not goes through RGBA, as format null does', async () => {
    const rgba = new Picture('RGBA', 10, 8, 3);
    class NewFormat extends FakeFrame { get format() { return 'I999P16'; } clone() { return new NewFormat(this.picture); } }
    const frame = new NewFormat(rgba);
    assertClose(await importer.importFrame(frame, size), size, rgba);
    frame.close();
  });

  it('at the same time, more than there are instances, with planes between', async () => {
    const frames = Array.from({ length: 9 }, (_, k) => new FakeFrame(new Picture('NV12', 20 + k, 14, k + 1), { delay: 9 - k }));
    const results = frames.map((frame) => importer.importFrame(frame, size));
    frames.forEach((frame) => frame.close());
    assertClose(importer.importPlanes(picture.source(), size), size);
    (await Promise.all(results)).forEach((one, k) => assertClose(one, size, frames[k].picture));
    assert.equal(open.count, 0);
  });

  it('errors among them do not hold up the others', async () => {
    const frames = Array.from({ length: 8 }, (_, k) =>
      new FakeFrame(picture, { delay: 2, fail: k % 2 ? new Error('odd') : undefined }));
    const results = await Promise.allSettled(frames.map((frame) => importer.importFrame(frame, size)));
    frames.forEach((frame) => frame.close());
    assert.deepEqual(results.map(({ status }) => status === 'fulfilled'), [0, 1, 2, 3, 4, 5, 6, 7].map((k) => k % 2 === 0));
  });
});

describe('memory', () => {
  it('grows with the frames, and results that were given out stay', async () => {
    const one = await createImporter();
    const small = one.importPlanes(picture.source(), size);
    const kept = small.slice();
    const before = one.memoryBytes;
    const large = new Picture('NV12', 1500, 1100, 4);
    const frame = new FakeFrame(large);
    const result = await one.importFrame(frame, { width: 700, height: 500 });
    frame.close();
    assert.ok(one.memoryBytes > before);
    assert.deepEqual(small, kept);
    const planes = one.importPlanes(large.source(), { width: 700, height: 500 });
    assert.deepEqual(planes, result);
    assert.deepEqual(one.importPlanes(picture.source(), size), kept);
  });

  it('stays the same over many imports, and is given back', async () => {
    const one = await createImporter();
    const source = picture.source();
    const into = new Float32Array(144);
    one.importPlanes(source, { ...size, into });
    const before = one.memoryBytes;
    for (let k = 0; k < 2000; ++k) one.importPlanes(source, { ...size, into });
    for (let k = 0; k < 200; ++k) assert.throws(() => one.importPlanes(source, { ...size, visibleRect: { x: 99, width: 1, height: 1 } }));
    assert.equal(one.memoryBytes, before);
    one.trim();
    assert.equal(one.memoryBytes, 0);
    assert.deepEqual(one.importPlanes(source, size), into);
  });

  it('what is too large is an error, and the next import works', async () => {
    const one = await createImporter();
    const huge = { width: 16384, height: 16384, channels: 4, dataType: 'float32' };
    assert.throws(() => one.importPlanes(picture.source(), huge), RangeError);
    assert.equal(one.importPlanes(picture.source(), size).length, 144);
  });
});

describe('the package', () => {
  it('its modules are at most 60 KB compressed, and ask nothing of a system', async (t) => {
    for (const name of ['sparing-import.wasm', 'sparing-import-scalar.wasm']) {
      const bytes = readFileSync(`${folder}/${name}`);
      const compressed = gzipSync(bytes, { level: 9 }).length;
      t.diagnostic(`${name}: ${bytes.length} bytes, ${compressed} compressed`);
      assert.ok(compressed <= 61440);
      const module = await WebAssembly.compile(bytes);
      const imports = WebAssembly.Module.imports(module).map((one) => one.name);
      assert.ok(imports.every((one) => /^(fd_|proc_exit)/.test(one)), imports.join(' '));
    }
  });

  it('everything that package.json names is there', () => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const files = readdirSync(folder);
    for (const file of [manifest.main, manifest.types, 'README.md', 'LICENSE']) {
      assert.ok(files.includes(file.replace('./', '')), file);
    }
  });

  it('a module of the caller\'s', async () => {
    const bytes = readFileSync(`${folder}/sparing-import-scalar.wasm`);
    for (const wasm of [bytes, await WebAssembly.compile(bytes), `${folder}/sparing-import-scalar.wasm`.replace(/^/, 'file://')]) {
      assert.notEqual((await createImporter({ wasm })).target, 'WASM');
    }
    await assert.rejects(createImporter({ wasm: new Uint8Array([1, 2, 3]) }), WebAssembly.CompileError);
  });
});
