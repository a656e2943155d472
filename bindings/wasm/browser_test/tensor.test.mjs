// writeTensor(tensor, {frame, ...}) on the browser's own MLContext.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { browsers, open } from './harness.mjs';

const limit = { timeout: 120_000 };
const browser = browsers.find(({ webnn }) => webnn);

describe(`writeTensor, ${browser.name}`, { skip: browser.missing, ...limit }, () => {
  let opened;
  before(async () => { opened = await open(browser); }, limit);
  after(() => opened?.close());
  const call = (...given) => opened.call('check_tensor', ...given);

  // First, for it looks at the context as the browser made it.
  test('writeTensor(tensor, buffer) is the same before, with and after the overload', limit, async () => {
    const { native, unpatched, patched, behind, after: afterwards, changed, restored } = await call('buffersThroughout');
    assert.equal(native, false);
    assert.ok(changed, 'the overload was not installed');
    assert.deepEqual(patched, unpatched);
    assert.deepEqual(behind, unpatched, 'behind a frame');
    assert.deepEqual(afterwards, unpatched);
    assert.ok(restored, 'uninstall() did not give writeTensor back');
  });
  test('values of every type, layout and kind of frame', limit, async () => assert.deepEqual(await call('valuesAreRight'), []));
  test('extensions of the dictionary', limit, async () => assert.deepEqual(await call('extensionsWork'), []));
  test('what is left out has its default', limit, async () => assert.deepEqual(await call('defaultsHold'), []));
  test('the frame may be closed at once, and later calls keep their order', limit, async () => {
    assert.deepEqual(await call('orderIsKept'), []);
  });
  test('wrong calls throw before anything is written', limit, async () => {
    const { thrown, untouched } = await call('wrongCalls');
    for (const [name, error] of Object.entries(thrown)) {
      assert.ok(error, `${name}: did not throw`);
      assert.match(error[0], /^(TypeError|RangeError|InvalidStateError)$/, `${name}: threw ${error.join(': ')}`);
      assert.ok(error[1].length > 20, `${name}: says only '${error[1]}'`);
    }
    assert.ok(untouched, 'a wrong call changed the tensor');
  });
  test('what fails later rejects readTensor and fires an event, and work goes on', limit, async () => {
    const { rejected, event, found } = await call('queuedFailure');
    assert.match(rejected, /the decoder took it away/);
    assert.match(event, /^writeTensor: .*the decoder took it away/);
    assert.deepEqual(found, []);
  });
  // What only the graph knows can be told when the dispatch is made, not before.
  const told = ['dispatch one tensor twice', 'dispatch without its input', 'dispatch a tensor of another shape'];
  test('wrong calls behind a frame are those of an idle context, but for what only the graph knows', limit, async () => {
    const outcomes = await call('wrongCallsBehindAFrame');
    const expected = Object.fromEntries(Object.entries(outcomes).map(
      ([name, [idle]]) => [name, [idle, told.includes(name) ? `late: ${idle}` : idle]]));
    assert.deepEqual(outcomes, expected);
  });
  test('had no error that was not shown', () => assert.deepEqual(opened.errors, []));
});
