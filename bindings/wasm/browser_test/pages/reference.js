// What docs/import.md says, in doubles and without a thought of speed: what the package's values are
// compared with. It shares nothing with the package, and reads pictures as frames.js made them.

const matrices = {
  bt601: [0.299, 0.114],
  bt709: [0.2126, 0.0722],
  bt2020: [0.2627, 0.0593],
};

// A picture is {kind: 'yuv' | 'rgb', components: [{at(x, y), shiftX, shiftY}], bits, visible, rotation,
// flip, matrix, fullRange}. Returns {values: Float64Array in the tensor's order, before rounding,
// deviation: the standard deviation that each value was divided by}.
export function referenceImport(picture, options) {
  const { width, height, channels = 3, layout = 'nchw' } = options;
  const geometry = layOut(picture, options);
  const values = new Float64Array(width * height * channels);
  const steps = new Float64Array(values.length);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const stored = store(pixelAt(picture, options, geometry, x, y), options);
      for (let c = 0; c < channels; ++c) {
        const at = layout === 'nchw' ? (c * height + y) * width + x : (y * width + x) * channels + c;
        values[at] = stored[c].value;
        steps[at] = stored[c].step;
      }
    }
  }
  return { values, steps };
}

// S, C and the displayed size: the section "Fit".
function layOut(picture, { width, height, visibleRect, fit = 'stretch', anchor = 'center', ...options }) {
  const rotation = options.rotation ?? picture.rotation;
  const flip = options.flip ?? picture.flip;
  const turned = rotation % 180 !== 0;
  const { visible } = picture;
  const displayed = turned ? [visible.height, visible.width] : [visible.width, visible.height];
  const source = { x: 0, y: 0, width: displayed[0], height: displayed[1] };
  if (visibleRect) {
    source.x = visibleRect.x;
    source.y = visibleRect.y;
    source.width = visibleRect.width;
    source.height = visibleRect.height;
  }
  const content = { x: 0, y: 0, width, height };
  if (fit === 'letterbox') {
    const scale = Math.min(width / source.width, height / source.height);
    content.width = Math.max(1, Math.floor(source.width * scale + 0.5));
    content.height = Math.max(1, Math.floor(source.height * scale + 0.5));
    if (anchor === 'center') {
      content.x = Math.floor((width - content.width) / 2);
      content.y = Math.floor((height - content.height) / 2);
    }
  } else if (fit === 'crop') {
    const before = { ...source };
    if (width / source.width >= height / source.height) source.height = source.width * height / width;
    else source.width = source.height * width / height;
    if (anchor === 'center') {
      source.x += (before.width - source.width) / 2;
      source.y += (before.height - source.height) / 2;
    }
  }
  const stepX = source.width / content.width;
  const stepY = source.height / content.height;
  return { rotation, flip, displayed, source, content, stepX, stepY, stepU: turned ? stepY : stepX, stepV: turned ? stepX : stepY };
}

// The tensor's channels of one pixel on 0..255, or null for border.
function pixelAt(picture, options, geometry, x, y) {
  const { source, content, displayed, rotation, flip, stepX, stepY } = geometry;
  if (x < content.x || y < content.y || x >= content.x + content.width || y >= content.y + content.height) return null;
  let X = source.x + (x + 0.5 - content.x) * stepX;
  const Y = source.y + (y + 0.5 - content.y) * stepY;
  if (options.outside === 'pad' && !(X >= 0 && Y >= 0 && X < displayed[0] && Y < displayed[1])) return null;
  if (flip) X = displayed[0] - X;
  const { visible } = picture;
  const [u, v] = {
    0: [X, Y],
    90: [Y, visible.height - X],
    180: [visible.width - X, visible.height - Y],
    270: [visible.width - Y, X],
  }[rotation];
  return colour(picture, options, picture.components.map((component) =>
    sample(picture, component, options, geometry, u + visible.x, v + visible.y)));
}

// One component at coded (u, v): the sections "Sampling" and "Chroma of fewer samples".
function sample(picture, component, options, { stepU, stepV }, u, v) {
  const replicate = options.chroma === 'replicate';
  const siting = options.siting ?? 'left';
  const { visible } = picture;
  const across = axis(u, stepU, visible.x, visible.width, replicate ? 0 : component.shiftX,
    siting === 'center' ? 0.5 : 0.25, options.filter);
  const down = axis(v, stepV, visible.y, visible.height, replicate ? 0 : component.shiftY,
    siting === 'top-left' ? 0.25 : 0.5, options.filter);
  let sum = 0;
  for (const [y, weightY] of down) {
    for (const [x, weightX] of across) {
      const value = replicate ? component.at(x >> component.shiftX, y >> component.shiftY) : component.at(x, y);
      sum += weightX * weightY * value;
    }
  }
  return sum;
}

// [[sample, weight], ...] along one axis.
function axis(position, step, start, length, shift, chromaOffset, filter = 'bilinear') {
  const scale = shift ? 0.5 : 1;
  const p = position * scale - (shift ? chromaOffset : 0.5);
  const f = Math.abs(step) * scale;
  const first = Math.floor(start) >> shift;
  const last = (Math.ceil(start + length) - 1) >> shift;
  if (filter === 'auto') filter = Math.abs(step) <= 2 + 2e-9 ? 'bilinear' : 'area';
  if (filter === 'area' && f < 1) filter = 'bilinear';
  const weightOf = {
    bilinear: (k) => Math.max(0, 1 - Math.abs(k - p)),
    nearest: (k) => (k === Math.floor(p + 0.5) ? 1 : 0),
    area: (k) => Math.max(0, Math.min(k + 0.5, p + f / 2) - Math.max(k - 0.5, p - f / 2)),
    triangle: (k) => Math.max(0, 1 - Math.abs(k - p) / Math.max(f, 1)),
  }[filter];
  const reach = Math.ceil(Math.max(f, 1)) + 1;
  const taps = [];
  let sum = 0;
  for (let k = Math.floor(p) - reach; k <= Math.ceil(p) + reach; ++k) {
    const weight = k >= first && k <= last ? weightOf(k) : 0;
    if (weight > 0) taps.push([k, weight]);
    sum += weight;
  }
  if (sum === 0) return [[Math.min(Math.max(Math.round(p), first), last), 1]];
  return taps.map(([k, weight]) => [k, weight / sum]);
}

// The section "Colour".
function colour({ kind, bits, fullRange, matrix }, { channels = 3, order = 'rgb' }, samples) {
  const n = 2 ** (bits - 8);
  const top = 2 ** bits - 1;
  const luma = (s) => (fullRange ? s * 255 / top : (s - 16 * n) * 255 / (219 * n));
  const chroma = (s) => (s - 128 * n) * 255 / (fullRange ? top : 224 * n);
  const clamp = (value) => Math.min(255, Math.max(0, value));
  const [kr, kb] = matrices[matrix] ?? matrices.bt601;
  const kg = 1 - kr - kb;
  let rgb;
  if (kind === 'rgb') {
    rgb = samples.map(luma);
    if (channels === 1) return [clamp(kr * rgb[0] + kg * rgb[1] + kb * rgb[2])];
  } else {
    const y = luma(samples[0]);
    if (channels === 1) return [clamp(y)];
    const u = chroma(samples[1]);
    const v = chroma(samples[2]);
    rgb = [
      y + 2 * (1 - kr) * v,
      y - 2 * kb * (1 - kb) / kg * u - 2 * kr * (1 - kr) / kg * v,
      y + 2 * (1 - kb) * u,
    ];
  }
  rgb = rgb.map(clamp);
  return order === 'bgr' ? rgb.reverse() : rgb;
}

// The section "Normalisation and rounding", but for the rounding; `step` is how much 1 of 255 is.
function store(pixel, { channels = 3, mean = 0, std = 1, pad = 114, alpha = 255, quantization = {} }) {
  const { scale = 1, zeroPoint = 0 } = quantization;
  const each = (value, c, whenOne) => (typeof value === 'number' ? value : value[c] ?? whenOne);
  const stored = [];
  for (let c = 0; c < channels; ++c) {
    const isAlpha = c === 3;
    const value = isAlpha ? alpha : ((pixel ? pixel[c] : each(pad, c, 114)) - each(mean, c, 0)) / each(std, c, 1);
    stored.push({ value: value / scale + zeroPoint, step: 1 / Math.abs((isAlpha ? 1 : each(std, c, 1)) * scale) });
  }
  return stored;
}

const integers = { uint8: [0, 255], int8: [-128, 127], int32: [-(2 ** 31), 2 ** 31 - 1] };

// {worst: the largest error beyond what rounding to the type explains, in steps of 0..255, message}. The
// tolerance is docs/import.md's: 0.02 of 255, and half a unit in the last place of float16. Integers may be
// the next one where the exact value lies that near to the boundary between two.
export function compare(actual, { values, steps }, dataType) {
  if (actual.length !== values.length) return { message: `${actual.length} values, not ${values.length}` };
  let worst = 0;
  let message;
  for (let i = 0; i < values.length; ++i) {
    const error = difference(Number(actual[i]), values[i], dataType) / steps[i];
    if (error <= worst) continue;
    worst = error;
    if (!(error <= 0.02)) message = `value ${i} of ${values.length} is ${actual[i]}, not ${values[i]} (${dataType})`;
  }
  return { worst, message };
}

function difference(actual, expected, dataType) {
  const distance = Math.abs(actual - expected);
  if (dataType === 'float16') {
    const exponent = Math.max(Math.floor(Math.log2(Math.abs(expected) || 1e-9)), -14);
    return Math.max(0, distance - 2 ** (exponent - 11));
  }
  if (!integers[dataType]) return distance;
  const [least, most] = integers[dataType];
  if (!Number.isInteger(actual)) return Infinity;
  return Math.max(0, Math.abs(actual - Math.min(most, Math.max(least, expected))) - 0.5);
}
