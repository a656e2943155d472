// Requests that no script of the package would make: whatever the table holds, the module answers with an
// error or with an import, and does not trap.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { folder } from './package.mjs';
import { randomNumbers } from './pictures.mjs';

const at = (name) => pathToFileURL(`${folder}/${name}`).href;
const { Kernel } = await import(at('kernel.js'));
const { FIELDS } = await import(at('request.js'));
const { loadModule } = await import(at('load.js'));

const ODD = [NaN, Infinity, -Infinity, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, -1e300, 3, 16385];

for (const simd of [true, false]) {
  it(`${simd ? 'SIMD' : 'scalar'}: random requests`, async () => {
    const kernel = new Kernel(await loadModule({ simd }));
    const random = randomNumbers(77);
    kernel.reserveFrame(1 << 20);
    kernel.reserveTensor(1 << 20);
    const formats = kernel.formatNames.length;
    const names = Object.keys(FIELDS).filter((name) => !/^(plane|stride|tensor)/.test(name));
    let imported = 0;
    for (let k = 0; k < 6000; ++k) {
      const format = random(formats);
      const width = 1 + random(40);
      const height = 1 + random(40);
      const fields = {
        format, codedWidth: width, codedHeight: height, frameWidth: width, frameHeight: height,
        visibleWidth: width, visibleHeight: height,
        rotation: 90 * random(4), flip: random(2), matrix: random(4), range: random(3), siting: random(4),
        dataType: random(7), layout: random(2), channels: [1, 3, 4][random(3)],
        height: 1 + random(60), width: 1 + random(60),
        hasSource: random(2), sourceX: random(30) - 9, sourceY: random(30) - 9, sourceWidth: random(60), sourceHeight: random(60),
        mean0: 1, std0: 1, std1: 2, std2: 1e-3, order: random(2), fit: random(3), anchor: random(2),
        filter: random(5), outside: random(2), chroma: random(2), quantizationScale: 1,
      };
      for (let odd = random(3); odd > 0; --odd) fields[names[random(names.length)]] = ODD[random(ODD.length)];
      const extents = kernel.planeExtents(format, width, height);
      const layout = extents.map(({ rowBytes }, plane) => ({
        offset: 4096 * plane,
        stride: random(20) === 0 ? ODD[random(ODD.length)] : rowBytes + random(9),
      }));
      if (random(20) === 0) layout[0].offset = [2 ** 31, 2 ** 32, -1e9, NaN, kernel.memoryBytes][random(5)];
      try {
        kernel.draw({ fields, layout }, RangeError);
        ++imported;
      } catch (error) {
        assert.ok(error instanceof RangeError && error.thing && error.problem && error.fix, error.stack);
      }
      assert.equal(kernel.broken, false);
    }
    assert.ok(imported > 1500, `${imported} were imported`);
  });
}
