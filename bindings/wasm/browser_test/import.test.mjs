// importFrame in real browsers: values against the double-precision reference in pages/reference.js.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { browsers, camera, open } from './harness.mjs';

const limit = { timeout: 120_000 };
const { missing } = camera();
const formats = [
  'I420', 'I420A', 'I422', 'I422A', 'I444', 'I444A', 'NV12',
  'I420P10', 'I420AP10', 'I422P10', 'I422AP10', 'I444P10', 'I444AP10',
  'RGBA', 'RGBX', 'BGRA', 'BGRX',
];

for (const browser of browsers) {
  describe(`import, ${browser.name}`, { skip: browser.missing, ...limit }, () => {
    let opened;
    before(async () => { opened = await open(browser); }, limit);
    after(() => opened?.close());
    const nothingWrong = async (...call) => assert.deepEqual(await opened.call('check_import', ...call), []);

    test('the browser makes frames of every format', limit, async () => {
      assert.deepEqual(await opened.call('check_import', 'constructible'), formats);
    });
    for (const format of formats) {
      test(`${format}, all types and layouts, odd sizes and rectangles`, limit, () => nothingWrong('formatIsRight', format));
    }
    for (const [index, format] of formats.entries()) {
      test(`jobs of ${format} at random`, limit, () => nothingWrong('anyJobIsRight', { format, count: 60, seed: 100 + index }));
    }
    for (const format of ['I420', 'NV12', 'I422', 'RGBA']) {
      test(`rotation and flip of ${format}, by every filter`, limit, () => nothingWrong('orientationsAreRight', format));
    }
    test('orientation is that of drawImage', limit, () => nothingWrong('isAsDrawn'));
    test('fit, anchor, border, channel order, channels', limit, () => nothingWrong('fitsAreRight'));
    test('colour spaces, also unspecified ones', limit, () => nothingWrong('colourSpacesAreRight'));
    test('visible part of larger memory', limit, () => nothingWrong('visiblePartsAreRight'));
    test('frames that do not show their planes, as the browser converts them', limit, () => nothingWrong('convertedIsRight'));
    test('decoded frames', limit, async (t) => {
      const { found, sizes } = await opened.call('check_import', 'decodedIsRight');
      for (const size of sizes) t.diagnostic(size);
      assert.ok(sizes.length > 0, 'this browser encodes nothing');
      assert.deepEqual(found, []);
    });
    test('a frame of a canvas', limit, () => nothingWrong('canvasIsRight'));
    test('a frame of a video element', { skip: missing, ...limit }, async (t) => {
      const { found, format } = await opened.call('check_import', 'videoElementIsRight', '/output/camera.webm');
      t.diagnostic(`its format is ${format}`);
      assert.deepEqual(found, []);
    });
    test('fills the array it is given', limit, () => nothingWrong('fillsInto'));
    test('had no error that was not shown', () => assert.deepEqual(opened.errors, []));
  });
}
