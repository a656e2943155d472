// Values: every format, option, type and layout against the double-precision reference of this folder.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeFrame, open } from './fakes.mjs';
import { createImporter } from './package.mjs';
import { FORMATS, Picture } from './pictures.mjs';
import { fromFloat16, geometry, reference } from './reference.mjs';

// docs/import.md: what every fast path keeps to, in steps of 0..255 before normalisation.
const TOLERANCE = 0.02;

const simd = await createImporter({ simd: true });
const scalar = await createImporter({ simd: false });
const importers = [['SIMD', simd], ['scalar', scalar]];

function compare(actual, picture, options, tolerance = TOLERANCE) {
  const expected = reference(picture, options);
  assert.equal(actual.length, expected.length);
  const std = [options.std ?? 1].flat();
  const finest = Math.min(...std.map(Math.abs)) * Math.abs(options.quantization?.scale ?? 1);
  let worst = 0;
  let at = 0;
  for (let i = 0; i < expected.length; ++i) {
    const difference = Math.abs(actual[i] - expected[i]) * finest;
    if (!(difference <= worst)) {
      worst = difference;
      at = i;
    }
  }
  assert.ok(worst <= tolerance, `element ${at}: ${actual[at]} for ${expected[at]} (${worst} of 255)`);
}

async function both(picture, options, tolerance) {
  for (const [, importer] of importers) {
    const frame = new FakeFrame(picture);
    const fromFrame = await importer.importFrame(frame, options);
    frame.close();
    compare(fromFrame, picture, options, tolerance);
    compare(importer.importPlanes(picture.source(3), options), picture, options, tolerance);
  }
}

describe('every format', () => {
  for (const format of Object.keys(FORMATS)) {
    it(`${format}: odd sizes, scaled down and up`, async () => {
      await both(new Picture(format, 37, 23, 5), { width: 16, height: 12 });
      await both(new Picture(format, 9, 7, 6), { width: 20, height: 11, layout: 'nhwc' });
    });
    it(`${format}: odd visible rectangle within a larger picture`, async () => {
      const picture = new Picture(format, 40, 30, 7, { visible: { x: 3, y: 5, width: 21, height: 17 } });
      await both(picture, { width: 14, height: 10 });
      await both(picture, { width: 14, height: 10, filter: 'area', visibleRect: { x: 1.5, y: 2, width: 11, height: 9.25 } });
    });
  }

  it('a frame of format null through RGBA', async () => {
    const picture = new Picture('RGBA', 18, 14, 9, { visible: { x: 3, y: 1, width: 11, height: 12 } });
    const frame = new FakeFrame(picture, { hidden: true });
    const options = { width: 7, height: 5 };
    compare(await simd.importFrame(frame, options), picture, options);
    frame.close();
  });
});

describe('colour', () => {
  for (const matrix of ['bt709', 'bt470bg', 'smpte170m', 'bt2020-ncl']) {
    for (const fullRange of [false, true]) {
      it(`${matrix}, ${fullRange ? 'full' : 'limited'} range`, async () => {
        for (const format of ['NV12', 'I420P10']) {
          await both(new Picture(format, 12, 10, 3, { colorSpace: { matrix, fullRange } }), { width: 12, height: 10 });
        }
      });
    }
  }

  it('what a frame does not say: BT.709 from 720 coded rows up, though fewer are visible', async () => {
    for (const height of [718, 720]) {
      const visible = { x: 0, y: 300, width: 8, height: 16 };
      await both(new Picture('NV12', 8, height, 4, { visible }), { width: 8, height: 16 });
    }
  });

  it('options replace the frame\'s, member by member', async () => {
    const picture = new Picture('I420', 12, 10, 3, { colorSpace: { matrix: 'bt709', fullRange: true } });
    for (const colorSpace of [{ matrix: 'bt470bg' }, { fullRange: false }, { siting: 'center' }, { siting: 'top-left' }]) {
      await both(picture, { width: 9, height: 7, colorSpace });
    }
  });

  it('luma of YUV and of RGB, and four channels', async () => {
    for (const format of ['NV12', 'BGRA']) {
      const picture = new Picture(format, 13, 9, 8);
      await both(picture, { width: 6, height: 5, channels: 1 });
      await both(picture, { width: 6, height: 5, channels: 4, alpha: 0.5, layout: 'nhwc' });
    }
  });
});

describe('geometry', () => {
  for (const rotation of [0, 90, 180, 270]) {
    for (const flip of [false, true]) {
      it(`rotation ${rotation}${flip ? ', flipped' : ''}`, async () => {
        for (const format of ['I420', 'NV12', 'RGBX']) {
          const picture = new Picture(format, 26, 18, 2, { rotation, flip, visible: { x: 4, y: 2, width: 15, height: 13 } });
          await both(picture, { width: 10, height: 8 });
          await both(picture, { width: 9, height: 12, visibleRect: { x: 2, y: 1, width: 8, height: 10.5 }, filter: 'triangle' });
        }
      });
      it(`rotation ${rotation}${flip ? ', flipped' : ''} of the options`, async () => {
        const picture = new Picture('I422', 22, 16, 2, { rotation: 90, flip: true });
        await both(picture, { width: 10, height: 8, rotation, flip });
        await both(picture, { width: 10, height: 8, rotation });
      });
    }
  }

  for (const fit of ['stretch', 'letterbox', 'crop']) {
    for (const anchor of ['center', 'top-left']) {
      it(`${fit}, ${anchor}`, async () => {
        const picture = new Picture('NV12', 40, 20, 6);
        await both(picture, { width: 11, height: 13, fit, anchor, pad: [1, 2, 3] });
        await both(picture, { width: 31, height: 8, fit, anchor, mean: 10, std: [2, 3, 4] });
      });
    }
  }

  it('a rectangle beyond the frame', async () => {
    const picture = new Picture('I444', 12, 9, 6);
    const visibleRect = { x: -4, y: -3, width: 20, height: 16 };
    for (const outside of ['clamp', 'pad']) await both(picture, { width: 15, height: 12, visibleRect, outside });
  });

  it('a small part of a large frame, of which only that is copied: as from the whole', async () => {
    for (const [format, visible] of [['NV12', { x: 3, y: 5, width: 90, height: 70 }], ['I422P10', { x: 0, y: 0, width: 96, height: 80 }], ['BGRA', { x: 7, y: 0, width: 81, height: 80 }]]) {
      for (const rotation of [0, 90, 180, 270]) {
        for (const flip of [false, true]) {
          const picture = new Picture(format, 96, 80, 21, { rotation, flip, visible });
          for (const [k, filter] of ['bilinear', 'nearest', 'area', 'triangle'].entries()) {
            for (const visibleRect of [{ x: 20.25, y: 13.5, width: 17, height: 21.5 }, { x: -5, y: 40, width: 20, height: 15 }, { x: 60, y: 59, width: 40, height: 30 }]) {
              const options = { width: 6 + k, height: 5, filter, visibleRect, fit: ['stretch', 'letterbox', 'crop'][k % 3], outside: k === 1 ? 'pad' : 'clamp' };
              const frame = new FakeFrame(picture);
              const part = await simd.importFrame(frame, options);
              frame.close();
              compare(part, picture, options);
              const whole = simd.importPlanes(picture.source(), options);
              // One unit of the weights, which have 15 bits: half of one may be rounded up or down.
              part.forEach((one, i) => assert.ok(Math.abs(one - whole[i]) <= 255 / 2 ** 15 + 1e-3, `${i}: ${one} ${whole[i]}`));
            }
          }
        }
      }
    }
  });

  it('copies no more of a frame than it looks at', async () => {
    const picture = new Picture('NV12', 640, 480, 21);
    const frame = new FakeFrame(picture);
    let copied = 0;
    frame.clone = () => Object.assign(new FakeFrame(picture), {
      copyTo(into, options) { copied = into.byteLength; return FakeFrame.prototype.copyTo.call(this, into, options); },
    });
    await simd.importFrame(frame, { width: 16, height: 16, visibleRect: { x: 301, y: 201, width: 32, height: 32 } });
    frame.close();
    assert.ok(copied < 2 * 50 * 50 * 1.5, `${copied}`);
  });

  it('display pixels that are not square: visibleRect is in them', async () => {
    const picture = new Picture('NV12', 24, 16, 6);
    const options = { width: 10, height: 8, visibleRect: { x: 12, y: 2, width: 30, height: 12 } };
    const frame = new FakeFrame(picture, { displayWidth: 48 });
    const actual = await simd.importFrame(frame, options);
    compare(actual, picture, { ...options, visibleRect: { x: 6, y: 2, width: 15, height: 12 } });
    const map = simd.tensorToDisplay(frame, options);
    assert.deepEqual([map.a, map.tx, map.d, map.ty], [3, 12, 1.5, 2]);
    frame.close();
  });

  it('the map leads back to the frame', () => {
    const picture = new Picture('NV12', 40, 20, 6, { rotation: 90 });
    const options = { width: 16, height: 16, fit: 'letterbox' };
    const { S, C } = geometry(picture, options);
    const map = simd.tensorToDisplay(picture.source(), options);
    const frame = new FakeFrame(picture);
    assert.deepEqual(simd.tensorToDisplay(frame, options), map);
    frame.close();
    assert.ok(Math.abs(map.a - S.width / C.width) < 1e-12 && map.b === 0 && map.c === 0);
    assert.ok(Math.abs(map.a * C.x + map.tx) < 1e-9 && Math.abs(map.d * C.y + map.ty) < 1e-9);
  });
});

describe('filters', () => {
  for (const filter of ['bilinear', 'nearest', 'area', 'triangle', 'auto']) {
    it(filter, async () => {
      for (const format of ['I420', 'NV12', 'BGRX', 'I444P10']) {
        // Sizes whose centres are not where two samples are equally near.
        await both(new Picture(format, 61, 47, 3), { width: 13, height: 10, filter });
        await both(new Picture(format, 11, 9, 3), { width: 28, height: 20, filter, chroma: 'replicate' });
      }
    });
  }
});

describe('types', () => {
  const picture = new Picture('NV12', 33, 21, 11);
  const base = { width: 12, height: 9, mean: [100, 120, 130], std: [50, 60, -70] };

  it('float16 within half a unit in the last place', () => {
    for (const [, importer] of importers) {
      const bits = importer.importPlanes(picture.source(), { ...base, dataType: 'float16' });
      const expected = reference(picture, base);
      const raw = new Uint16Array(bits.buffer, bits.byteOffset, bits.length);
      raw.forEach((one, i) => {
        const ulp = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(expected[i])))) - 10);
        assert.ok(Math.abs(fromFloat16(one) - expected[i]) <= ulp / 2 + TOLERANCE / 50, `${i}`);
      });
    }
  });

  for (const [dataType, low, high] of [['uint8', 0, 255], ['int8', -128, 127], ['int32', -(2 ** 31), 2 ** 31 - 1], ['int64', -(2 ** 53), 2 ** 53]]) {
    it(`${dataType}, rounded and saturated`, () => {
      for (const quantization of [undefined, { scale: 0.02, zeroPoint: 3 }]) {
        const options = { ...base, dataType, quantization, mean: 128, std: 1, layout: 'nhwc' };
        const expected = reference(picture, options);
        const slack = quantization ? 1 + TOLERANCE / 0.02 : 0.5 + TOLERANCE;
        for (const [, importer] of importers) {
          const actual = importer.importPlanes(picture.source(), options);
          actual.forEach((one, i) => {
            const wanted = Math.min(high, Math.max(low, expected[i]));
            assert.ok(Math.abs(Number(one) - wanted) <= slack, `${i}: ${one} for ${expected[i]}`);
          });
        }
      }
    });
  }

  it('into an array that is there', async () => {
    const into = new Float32Array(3 * 9 * 12);
    const frame = new FakeFrame(picture);
    assert.equal(await simd.importFrame(frame, { ...base, into }), into);
    compare(into, picture, base);
    const part = new Float32Array(new ArrayBuffer(4 * into.length + 16), 8, into.length);
    assert.equal(simd.importPlanes(picture.source(), { ...base, into: part }), part);
    compare(part, picture, base);
    frame.close();
  });

  it('dimensions in place of width and height', () => {
    const nchw = simd.importPlanes(picture.source(), { dimensions: [1, 3, 9, 12] });
    assert.deepEqual(nchw, simd.importPlanes(picture.source(), { width: 12, height: 9 }));
    const nhwc = simd.importPlanes(picture.source(), { dimensions: [1, 9, 12, 1], layout: 'nhwc' });
    assert.deepEqual(nhwc, simd.importPlanes(picture.source(), { width: 12, height: 9, channels: 1, layout: 'nhwc' }));
  });
});

describe('the two modules', () => {
  it('are what they are called', () => {
    assert.equal(simd.target, 'WASM');
    assert.notEqual(scalar.target, 'WASM');
    assert.equal(simd.version, scalar.version);
  });

  // Multiplications and sums are the same and in the same order; only fused ones could differ, and
  // WebAssembly has none.
  it('agree to a unit in the last place of 255', () => {
    for (const format of ['NV12', 'I420', 'RGBA', 'I420P10']) {
      for (const filter of ['bilinear', 'area', 'triangle']) {
        const source = new Picture(format, 131, 77, 13).source();
        const [a, b] = importers.map(([, importer]) => importer.importPlanes(source, { width: 50, height: 40, filter }));
        a.forEach((one, i) => assert.ok(Math.abs(one - b[i]) <= 2 ** -16, `${format} ${filter} ${i}: ${one} ${b[i]}`));
      }
    }
  });
});

it('every frame was closed', () => { assert.equal(open.count, 0); });
