// The ways in which a page without the import call fills a tensor from a frame: what the demo and
// scripts/bench-web compare with. Each keeps its buffers from call to call, as a careful page would, and
// makes float32 values (pixel - mean) / std.

// drawImage scales, getImageData reads back, JavaScript normalises and lays out.
export function canvasWay({ width, height, layout, mean, std }) {
  const canvas = new OffscreenCanvas(width, height);
  // Without willReadFrequently every getImageData would read back from the GPU.
  const context = canvas.getContext('2d', { willReadFrequently: true, alpha: false });
  const tensor = new Float32Array(3 * width * height);
  const scale = 1 / std;
  const bias = -mean / std;
  return (frame) => {
    context.drawImage(frame, 0, 0, width, height);
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = width * height;
    if (layout === 'nchw') {
      for (let i = 0, at = 0; i < pixels; ++i, at += 4) {
        tensor[i] = data[at] * scale + bias;
        tensor[i + pixels] = data[at + 1] * scale + bias;
        tensor[i + 2 * pixels] = data[at + 2] * scale + bias;
      }
    } else {
      for (let i = 0, at = 0; i < 3 * pixels; i += 3, at += 4) {
        tensor[i] = data[at] * scale + bias;
        tensor[i + 1] = data[at + 1] * scale + bias;
        tensor[i + 2] = data[at + 2] * scale + bias;
      }
    }
    return tensor;
  };
}

// copyTo converts the whole frame to RGBA, JavaScript does the rest. Of the variants in resamplers the
// benchmark takes the fastest; `words` was it wherever we measured.
export function copyToWay({ width, height, layout, mean, std, resampler = 'words' }) {
  const tensor = new Float32Array(3 * width * height);
  let bytes;
  let resample;
  let size = '';
  return async (frame) => {
    const { width: across, height: down } = frame.visibleRect;
    if (size !== `${across}x${down}`) {
      size = `${across}x${down}`;
      bytes = new ArrayBuffer(4 * across * down);
      resample = resamplers[resampler]({ across, down, width, height, layout, mean, std });
    }
    await frame.copyTo(bytes, { format: 'RGBA' });
    resample(bytes, tensor);
    return tensor;
  };
}

// The two samples that each tensor column (or row) lies between, and the second one's weight.
function taps(from, to) {
  const first = new Int32Array(to);
  const second = new Int32Array(to);
  const weight = new Float32Array(to);
  for (let i = 0; i < to; ++i) {
    const place = Math.min(Math.max((i + 0.5) * from / to - 0.5, 0), from - 1);
    first[i] = Math.floor(place);
    second[i] = Math.min(first[i] + 1, from - 1);
    weight[i] = place - first[i];
  }
  return { first, second, weight };
}

// Where a channel begins, and how far apart its values are.
function places({ width, height, layout }) {
  return layout === 'nchw' ? { channel: width * height, pixel: 1 } : { channel: 1, pixel: 3 };
}

export const resamplers = {
  // Twelve bytes a pixel.
  bytes({ across, down, width, height, layout, mean, std }) {
    const columns = taps(across, width);
    const rows = taps(down, height);
    const { channel, pixel } = places({ width, height, layout });
    const scale = 1 / std;
    const bias = -mean / std;
    const left = columns.first.map((x) => 4 * x);
    const right = columns.second.map((x) => 4 * x);
    return (buffer, tensor) => {
      const source = new Uint8Array(buffer);
      for (let y = 0; y < height; ++y) {
        const top = 4 * across * rows.first[y];
        const bottom = 4 * across * rows.second[y];
        const below = rows.weight[y] * scale;
        const above = scale - below;
        let out = y * width * pixel;
        for (let x = 0; x < width; ++x, out += pixel) {
          const after = columns.weight[x];
          const before = 1 - after;
          const aboveLeft = above * before;
          const aboveRight = above * after;
          const belowLeft = below * before;
          const belowRight = below * after;
          const a = top + left[x];
          const b = top + right[x];
          const c = bottom + left[x];
          const d = bottom + right[x];
          tensor[out] = source[a] * aboveLeft + source[b] * aboveRight + source[c] * belowLeft +
            source[d] * belowRight + bias;
          tensor[out + channel] = source[a + 1] * aboveLeft + source[b + 1] * aboveRight +
            source[c + 1] * belowLeft + source[d + 1] * belowRight + bias;
          tensor[out + 2 * channel] = source[a + 2] * aboveLeft + source[b + 2] * aboveRight +
            source[c + 2] * belowLeft + source[d + 2] * belowRight + bias;
        }
      }
    };
  },

  // Four words a pixel, taken apart by shifts.
  words({ across, down, width, height, layout, mean, std }) {
    const columns = taps(across, width);
    const rows = taps(down, height);
    const { channel, pixel } = places({ width, height, layout });
    const scale = 1 / std;
    const bias = -mean / std;
    return (buffer, tensor) => {
      const source = new Int32Array(buffer);
      const { first, second, weight } = columns;
      for (let y = 0; y < height; ++y) {
        const top = across * rows.first[y];
        const bottom = across * rows.second[y];
        const below = rows.weight[y] * scale;
        const above = scale - below;
        let out = y * width * pixel;
        for (let x = 0; x < width; ++x, out += pixel) {
          const after = weight[x];
          const before = 1 - after;
          const aboveLeft = above * before;
          const aboveRight = above * after;
          const belowLeft = below * before;
          const belowRight = below * after;
          const a = source[top + first[x]];
          const b = source[top + second[x]];
          const c = source[bottom + first[x]];
          const d = source[bottom + second[x]];
          tensor[out] = (a & 255) * aboveLeft + (b & 255) * aboveRight + (c & 255) * belowLeft +
            (d & 255) * belowRight + bias;
          tensor[out + channel] = (a >> 8 & 255) * aboveLeft + (b >> 8 & 255) * aboveRight +
            (c >> 8 & 255) * belowLeft + (d >> 8 & 255) * belowRight + bias;
          tensor[out + 2 * channel] = (a >> 16 & 255) * aboveLeft + (b >> 16 & 255) * aboveRight +
            (c >> 16 & 255) * belowLeft + (d >> 16 & 255) * belowRight + bias;
        }
      }
    };
  },

  // Two channels a multiplication, in whole numbers of 8 bits: less exact, as video players do it.
  pairs({ across, down, width, height, layout, mean, std }) {
    const columns = taps(across, width);
    const rows = taps(down, height);
    const { channel, pixel } = places({ width, height, layout });
    const weights = Int32Array.from(columns.weight, (weight) => Math.round(256 * weight));
    const table = Float32Array.from({ length: 256 }, (_, value) => (value - mean) / std);
    return (buffer, tensor) => {
      const source = new Int32Array(buffer);
      const { first, second } = columns;
      for (let y = 0; y < height; ++y) {
        const top = across * rows.first[y];
        const bottom = across * rows.second[y];
        const below = Math.round(256 * rows.weight[y]);
        let out = y * width * pixel;
        for (let x = 0; x < width; ++x, out += pixel) {
          const after = weights[x];
          const a = source[top + first[x]];
          const b = source[top + second[x]];
          const c = source[bottom + first[x]];
          const d = source[bottom + second[x]];
          const before = 256 - after;
          const upper = Math.imul(a & 0xff00ff, before) + Math.imul(b & 0xff00ff, after) >>> 8 & 0xff00ff;
          const lower = Math.imul(c & 0xff00ff, before) + Math.imul(d & 0xff00ff, after) >>> 8 & 0xff00ff;
          const both = Math.imul(upper, 256 - below) + Math.imul(lower, below) >>> 8 & 0xff00ff;
          const greenAbove = ((a >> 8 & 255) * before + (b >> 8 & 255) * after) >> 8;
          const greenBelow = ((c >> 8 & 255) * before + (d >> 8 & 255) * after) >> 8;
          tensor[out] = table[both & 255];
          tensor[out + channel] = table[(greenAbove * (256 - below) + greenBelow * below) >> 8];
          tensor[out + 2 * channel] = table[both >> 16 & 255];
        }
      }
    };
  },

  // Each source row once along x into a line of floats, then between two lines.
  lines({ across, down, width, height, layout, mean, std }) {
    const columns = taps(across, width);
    const rows = taps(down, height);
    const { channel, pixel } = places({ width, height, layout });
    const scale = 1 / std;
    const bias = -mean / std;
    let upper = new Float32Array(3 * width);
    let lower = new Float32Array(3 * width);
    return (buffer, tensor) => {
      const source = new Int32Array(buffer);
      const { first, second, weight } = columns;
      const sample = (row, line) => {
        const start = across * row;
        for (let x = 0; x < width; ++x) {
          const a = source[start + first[x]];
          const b = source[start + second[x]];
          const after = weight[x];
          const before = 1 - after;
          line[x] = (a & 255) * before + (b & 255) * after;
          line[x + width] = (a >> 8 & 255) * before + (b >> 8 & 255) * after;
          line[x + 2 * width] = (a >> 16 & 255) * before + (b >> 16 & 255) * after;
        }
      };
      let upperRow = -1;
      let lowerRow = -1;
      for (let y = 0; y < height; ++y) {
        if (rows.first[y] === lowerRow) {
          [upper, lower] = [lower, upper];
          [upperRow, lowerRow] = [lowerRow, -1];
        }
        if (rows.first[y] !== upperRow) sample(upperRow = rows.first[y], upper);
        if (rows.second[y] !== lowerRow) sample(lowerRow = rows.second[y], lower);
        const below = rows.weight[y] * scale;
        const above = scale - below;
        let out = y * width * pixel;
        for (let x = 0; x < width; ++x, out += pixel) {
          tensor[out] = upper[x] * above + lower[x] * below + bias;
          tensor[out + channel] = upper[x + width] * above + lower[x + width] * below + bias;
          tensor[out + 2 * channel] = upper[x + 2 * width] * above + lower[x + 2 * width] * below + bias;
        }
      }
    };
  },
};
