// The package where it is used: in workers, and beside onnxruntime-web.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { browsers, open } from './harness.mjs';

const limit = { timeout: 120_000 };

for (const browser of browsers) {
  describe(`use, ${browser.name}`, { skip: browser.missing, ...limit }, () => {
    let opened;
    before(async () => {
      opened = await open(browser, { args: ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'] });
    }, limit);
    after(() => opened?.close());

    test('in a worker', limit, async () => {
      assert.deepEqual(await opened.call('check_use', 'worksInAWorker', browser.webnn), []);
    });
    test('tensors to and from onnxruntime-web', { skip: browser.webnn ? false : 'needs WebNN', ...limit }, async () => {
      const { location, most } = await opened.call('check_use', 'worksWithOnnxruntime');
      assert.equal(location, 'ml-tensor');
      assert.ok(most < 0.01, `probabilities differ by ${most}`);
    });
    test('LiteRT.js takes what importFrame gives', limit, async () => {
      assert.equal(await opened.call('check_use', 'litertRecipe'), null);
    });
    test('TensorFlow.js takes what importFrame gives', limit, async () => {
      assert.equal(await opened.call('check_use', 'tensorflowRecipe'), null);
    });
    test('WebGPU takes what importFrame gives', limit, async (t) => {
      const wrong = await opened.call('check_use', 'webgpuRecipe');
      if (wrong === null) t.skip('no adapter here');
      else assert.equal(wrong, '');
    });
    test('the page is not cross-origin isolated', limit, async () => {
      assert.equal(await opened.page.evaluate(() => crossOriginIsolated), false);
    });
    test('had no error that was not shown', () => assert.deepEqual(opened.errors, []));
  });
}
