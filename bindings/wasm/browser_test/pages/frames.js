// Makes VideoFrames out of buffers with known samples, and the pictures that reference.js reads.

// For each plane: bytes of a sample, components in it, halved across, halved down.
const yuv = (bytes, shiftX, shiftY, alpha) => ({
  bytes,
  planes: [[1, 0, 0], [1, shiftX, shiftY], [1, shiftX, shiftY], ...(alpha ? [[1, 0, 0]] : [])],
});
const packed = (red, green, blue) => ({ bytes: 1, planes: [[4, 0, 0]], rgb: [red, green, blue] });

export const formats = {
  I420: yuv(1, 1, 1),
  I420A: yuv(1, 1, 1, true),
  I422: yuv(1, 1, 0),
  I422A: yuv(1, 1, 0, true),
  I444: yuv(1, 0, 0),
  I444A: yuv(1, 0, 0, true),
  NV12: { bytes: 1, planes: [[1, 0, 0], [2, 1, 1]] },
  I420P10: yuv(2, 1, 1),
  I420AP10: yuv(2, 1, 1, true),
  I422P10: yuv(2, 1, 0),
  I422AP10: yuv(2, 1, 0, true),
  I444P10: yuv(2, 0, 0),
  I444AP10: yuv(2, 0, 0, true),
  RGBA: packed(0, 1, 2),
  RGBX: packed(0, 1, 2),
  BGRA: packed(2, 1, 0),
  BGRX: packed(2, 1, 0),
};

// A generator of the same numbers on every run.
export function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

// makeFrame({format, width, height, seed, visibleRect, rotation, flip, colorSpace}) -> {frame, picture}.
// Samples are noise over the whole range; alpha too, which must not matter.
export function makeFrame({ format, width, height, seed = 1, visibleRect, rotation = 0, flip = false, colorSpace }) {
  const { bytes, planes, rgb } = formats[format];
  const sizes = planes.map(([components, shiftX, shiftY]) => ({
    components,
    shiftX,
    shiftY,
    columns: (width + shiftX) >> shiftX,
    rows: (height + shiftY) >> shiftY,
  }));
  const count = sizes.reduce((sum, { components, columns, rows }) => sum + components * columns * rows, 0);
  const data = bytes === 2 ? new Uint16Array(count) : new Uint8Array(count);
  const next = random(seed);
  for (let i = 0; i < count; ++i) data[i] = Math.floor(next() * (bytes === 2 ? 1024 : 256));

  const init = { format, codedWidth: width, codedHeight: height, timestamp: 0, rotation, flip };
  if (visibleRect) init.visibleRect = visibleRect;
  if (colorSpace) init.colorSpace = colorSpace;
  const frame = new VideoFrame(data, init);

  const components = [];
  let start = 0;
  for (const [index, { components: inPlane, shiftX, shiftY, columns, rows }] of sizes.entries()) {
    const isAlphaPlane = !rgb && index === 3;
    const offsets = rgb ?? Array.from({ length: inPlane }, (_, i) => i);
    for (const offset of isAlphaPlane ? [] : offsets) {
      const base = start + offset;
      components.push({ shiftX, shiftY, at: (x, y) => data[base + (y * columns + x) * inPlane] });
    }
    start += inPlane * columns * rows;
  }
  const picture = {
    kind: rgb ? 'rgb' : 'yuv',
    components,
    bits: bytes === 2 ? 10 : 8,
    visible: visibleRect ?? { x: 0, y: 0, width, height },
    rotation,
    flip,
    ...pictureColour(frame, height),
  };
  return { frame, picture, data };
}

const matrixNames = { bt709: 'bt709', bt470bg: 'bt601', smpte170m: 'bt601', 'bt2020-ncl': 'bt2020' };

// How docs/import.md resolves a colour space: what the frame says, else by its coded rows.
export function pictureColour(frame, rows) {
  const { matrix, fullRange } = frame.colorSpace;
  const isRgb = /^(RGB|BGR)/.test(frame.format);
  return {
    matrix: matrixNames[matrix] ?? (isRgb ? 'bt601' : rows >= 720 ? 'bt709' : 'bt601'),
    fullRange: fullRange ?? isRgb,
  };
}

// The picture of a frame that something else made (a decoder, a canvas), read back through copyTo: its
// visible rectangle, as the frame's own format has it, or converted by the browser to `format`.
export async function pictureOf(frame, format) {
  const { bytes, planes, rgb } = formats[format ?? frame.format];
  const rect = frame.visibleRect;
  const wanted = format ? { rect, format } : { rect };
  const buffer = new ArrayBuffer(frame.allocationSize(wanted));
  const layout = await frame.copyTo(buffer, wanted);
  const data = bytes === 2 ? new Uint16Array(buffer) : new Uint8Array(buffer);
  const components = [];
  planes.forEach(([inPlane, shiftX, shiftY], index) => {
    if (!rgb && index === 3) return;
    const { offset, stride } = layout[index];
    for (const first of rgb ?? Array.from({ length: inPlane }, (_, i) => i)) {
      components.push({
        shiftX,
        shiftY,
        at: (x, y) => data[offset / bytes + y * (stride / bytes) + x * inPlane + first],
      });
    }
  });
  return {
    kind: rgb ? 'rgb' : 'yuv',
    components,
    bits: bytes === 2 ? 10 : 8,
    visible: { x: 0, y: 0, width: rect.width, height: rect.height },
    rotation: frame.rotation ?? 0,
    flip: frame.flip ?? false,
    ...(format ? { matrix: 'bt601', fullRange: true } : pictureColour(frame, frame.codedHeight)),
  };
}
