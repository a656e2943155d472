// The demo page end to end, in both browsers, with a camera made of the sample video.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { browsers, camera, open, screenshot } from './harness.mjs';

const { y4m, webm, missing } = camera();
const fake = ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${y4m}`];
const limit = { timeout: 120_000 };

// Resolves when the page has drawn so many frames more; fails with what the page says.
async function frames(page, more = 10) {
  const start = await page.evaluate(() => Number(document.body.dataset.frames ?? 0));
  await page.waitForFunction((least) => {
    const { state, frames: drawn } = document.body.dataset;
    if (state === 'failed') throw new Error(document.getElementById('message').textContent);
    return Number(drawn ?? 0) >= least;
  }, start + more);
}

// Of a frame drawn before a green background: the share of the picture that is green, and the share that
// is not green but is one of the colours of the people's clothes (dark).
const covered = (page) => page.evaluate(() => {
  const canvas = document.getElementById('output');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let green = 0;
  let dark = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b] = data.subarray(at, at + 3);
    if (r === 0 && g === 177 && b === 64) ++green;
    else if (r < 60 && g < 60 && b < 60) ++dark;
  }
  return { green: 4 * green / data.length, dark: 4 * dark / data.length };
});

for (const browser of browsers) {
  describe(`demo, ${browser.name}`, { skip: browser.missing || missing, ...limit }, () => {
    const short = browser.webnn ? 'webnn' : 'fallback';
    let opened;
    before(async () => {
      opened = await open(browser, { start: '/demo/', args: fake, permissions: ['camera'] });
    }, limit);
    after(() => opened?.close());

    test('shows people from the camera before a blurred background', limit, async () => {
      const { page } = opened;
      await frames(page, 30);
      const engine = await page.textContent('#engine');
      assert.match(engine, browser.webnn ? /^WebNN/ : /^onnxruntime-web/);
      if (!browser.webnn) assert.match(await page.textContent('#notes'), /WebNN: this browser does not have it/);
      await page.screenshot({ path: screenshot(`demo-${short}`) });
    });

    for (const way of ['sparing', 'copyto', 'canvas']) {
      test(`cuts the people out, frames by ${way}`, limit, async () => {
        const { page } = opened;
        await page.click(`#ways [data-name=${way}]`);
        await page.click('#backgrounds [data-name=colour]');
        await frames(page, 15);
        const { green, dark } = await covered(page);
        // The camera shows two people in dark clothes on a lawn: both must be there in part.
        assert.ok(green > 0.3 && green < 0.97, `${(100 * green).toFixed(1)} % of the picture is background`);
        assert.ok(dark > 0.02, `${(100 * dark).toFixed(1)} % of the picture is people's clothes`);
        const stages = await page.$$eval('#stages tr', (rows) => rows.map((row) => row.dataset.stage));
        assert.ok(stages.includes('inference') && stages.includes('compose') && stages.at(-1) === 'total', stages.join());
        await page.screenshot({ path: screenshot(`demo-${short}-${way}`) });
      });
    }

    test('plays a video file', limit, async () => {
      const { page } = opened;
      await page.setInputFiles('#file', webm);
      await page.click('#backgrounds [data-name=replace]');
      await frames(page, 15);
      await page.screenshot({ path: screenshot(`demo-${short}-file`) });
    });

    test('says what to do when a file is no video', limit, async () => {
      const { page } = opened;
      await page.setInputFiles('#file', { name: 'notes.webm', mimeType: 'video/webm', buffer: Buffer.from('no video') });
      await page.waitForSelector('body[data-state=failed]');
      assert.match(await page.textContent('#message'), /'notes.webm' is no video that this browser plays/);
    });

    test('had no error that it did not show', () => assert.deepEqual(opened.errors, []));
  });

  describe(`demo without a camera, ${browser.name}`, { skip: browser.missing, ...limit }, () => {
    for (const [name, args, says] of [
      // A headless shell has nobody to ask.
      ['refused', ['--use-fake-device-for-media-stream'],
        /The camera was refused.\nAllow it for this page|gives no camera to pages.\nUse another one/],
      ['not there', ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream=device-count=0'], /no camera/],
    ]) {
      test(`says what to do when it is ${name}`, limit, async () => {
        const opened = await open(browser, { start: '/demo/', args });
        try {
          await opened.page.waitForSelector('body[data-state=failed]');
          assert.match(await opened.page.textContent('#message'), says);
          await opened.page.screenshot({ path: screenshot(`demo-${browser.webnn ? 'webnn' : 'fallback'}-camera-${name.replace(' ', '-')}`) });
          assert.deepEqual(opened.errors, []);
        } finally {
          await opened.close();
        }
      });
    }
  });
}
