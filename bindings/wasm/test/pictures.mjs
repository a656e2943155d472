// Pictures for the tests: formats, their planes, and random content.

// Planes as [columns divisor, rows divisor, samples a position]; bytes of a sample; which component is
// where, as [plane, position within it].
const yuv = (sx, sy, bytes, bits, alpha = false) => ({
  model: 'yuv', bytes, bits, sx, sy,
  planes: [[1, 1, 1], [sx, sy, 1], [sx, sy, 1], ...(alpha ? [[1, 1, 1]] : [])],
  at: [[0, 0], [1, 0], [2, 0]],
});
const rgb = (order) => ({
  model: 'rgb', bytes: 1, bits: 8, sx: 1, sy: 1, planes: [[1, 1, 4]], at: order.map((k) => [0, k]),
});
export const FORMATS = {
  I420: yuv(2, 2, 1, 8), I420A: yuv(2, 2, 1, 8, true), I420P10: yuv(2, 2, 2, 10),
  I420AP10: yuv(2, 2, 2, 10, true),
  I422: yuv(2, 1, 1, 8), I422A: yuv(2, 1, 1, 8, true), I422P10: yuv(2, 1, 2, 10),
  I422AP10: yuv(2, 1, 2, 10, true),
  I444: yuv(1, 1, 1, 8), I444A: yuv(1, 1, 1, 8, true), I444P10: yuv(1, 1, 2, 10),
  I444AP10: yuv(1, 1, 2, 10, true),
  NV12: {
    model: 'yuv', bytes: 1, bits: 8, sx: 2, sy: 2, planes: [[1, 1, 1], [2, 2, 2]], at: [[0, 0], [1, 0], [1, 1]],
  },
  RGBA: rgb([0, 1, 2]), RGBX: rgb([0, 1, 2]), BGRA: rgb([2, 1, 0]), BGRX: rgb([2, 1, 0]),
};

/** Whole numbers below `limit`, the same in every run. */
export function randomNumbers(seed) {
  let state = seed >>> 0 || 1;
  return (limit) => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state % limit;
  };
}

const ceilDiv = (a, b) => Math.ceil(a / b);

/** A picture: planes as arrays of samples, tightly packed. */
export class Picture {
  constructor(format, width, height, seed = 1, extra = {}) {
    Object.assign(this, {
      format, width, height, rotation: 0, flip: false, colorSpace: {},
      visible: { x: 0, y: 0, width, height },
    }, extra);
    this.info = FORMATS[format];
    const random = randomNumbers(seed);
    this.planes = this.info.planes.map(([dx, dy, samples]) => {
      const columns = ceilDiv(width, dx) * samples;
      const rows = ceilDiv(height, dy);
      const data = Array.from({ length: columns * rows }, () => random(2 ** this.info.bits));
      return { columns, rows, data, samples, dx, dy };
    });
  }

  /** A sample of a component, by its own grid. */
  sample(component, x, y) {
    const [plane, position] = this.info.at[component];
    const { columns, samples, data } = this.planes[plane];
    return data[y * columns + x * samples + position];
  }

  /** The bytes of a part of a plane, `stride` bytes a row. */
  writePlane(index, rect, into, offset, stride) {
    const { columns, samples, data, dx, dy } = this.planes[index];
    const { bytes } = this.info;
    const x0 = rect.x / dx;
    const y0 = rect.y / dy;
    const width = ceilDiv(rect.width, dx) * samples;
    const height = ceilDiv(rect.height, dy);
    for (let y = 0; y < height; ++y) {
      for (let x = 0; x < width; ++x) {
        const value = data[(y0 + y) * columns + x0 * samples + x];
        const at = offset + y * stride + x * bytes;
        into[at] = value & 255;
        if (bytes === 2) into[at + 1] = value >> 8;
      }
    }
    return { rowBytes: width * bytes, rows: height };
  }

  /** As importPlanes() takes it. */
  source(padding = 0) {
    const planes = this.planes.map(({ columns, rows }, index) => {
      const stride = columns * this.info.bytes + padding;
      const data = new Uint8Array(stride * rows);
      this.writePlane(index, { x: 0, y: 0, width: this.width, height: this.height }, data, 0, stride);
      return { data, stride };
    });
    return {
      format: this.format, codedWidth: this.width, codedHeight: this.height, planes,
      visibleRect: this.visible, colorSpace: this.colorSpace, rotation: this.rotation, flip: this.flip,
    };
  }
}
