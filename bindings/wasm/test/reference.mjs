// The definition of docs/import.md in double precision, one value at a time: written from the page, and
// sharing nothing with the package.

const WEIGHTS = { bt709: [0.2126, 0.0722], bt470bg: [0.299, 0.114], smpte170m: [0.299, 0.114],
  'bt2020-ncl': [0.2627, 0.0593] };

function color(picture, options) {
  const given = options.colorSpace ?? {};
  const own = picture.colorSpace ?? {};
  const yuv = picture.info.model === 'yuv';
  const named = (value) => (value !== undefined && value !== null && value !== 'rgb' ? value : undefined);
  const matrix = named(given.matrix) ?? named(own.matrix) ??
    (yuv ? (picture.height >= 720 ? 'bt709' : 'bt470bg') : 'bt470bg');
  const full = given.fullRange ?? own.fullRange ?? !yuv;
  const siting = given.siting ?? own.siting ?? 'left';
  return { kr: WEIGHTS[matrix][0], kb: WEIGHTS[matrix][1], full, siting };
}

// Display coordinates to coded ones.
function toCoded(picture, rotation, flip, X, Y) {
  const { x, y, width: w, height: h } = picture.visible;
  const W = rotation % 180 === 0 ? w : h;
  const u = flip ? W - X : X;
  switch (rotation) {
    case 0: return [x + u, y + Y];
    case 90: return [x + Y, y + h - u];
    case 180: return [x + w - u, y + h - Y];
    default: return [x + w - Y, y + u];
  }
}

function weightOf(filter, k, p, f) {
  if (filter === 'nearest') return k === Math.floor(p + 0.5) ? 1 : 0;
  if (filter === 'area' && f >= 1) {
    return Math.max(0, Math.min(k + 0.5, p + f / 2) - Math.max(k - 0.5, p - f / 2));
  }
  if (filter === 'triangle') return Math.max(0, 1 - Math.abs(k - p) / Math.max(f, 1));
  return Math.max(0, 1 - Math.abs(k - p));
}

function taps(filter, p, f, first, last) {
  const reach = Math.max(f, 1) + 1;
  const list = [];
  for (let k = Math.max(first, Math.floor(p - reach)); k <= Math.min(last, Math.ceil(p + reach)); ++k) {
    const w = weightOf(filter, k, p, f);
    if (w > 0) list.push([k, w]);
  }
  if (list.length === 0) return [[p < first ? first : last, 1]];
  const sum = list.reduce((total, [, w]) => total + w, 0);
  return list.map(([k, w]) => [k, w / sum]);
}

const three = (value, fallback) => {
  const given = value ?? fallback;
  return typeof given === 'number' ? [given, given, given] : given;
};

/** Where the source goes: content rectangle, source rectangle, what kind of orientation. */
export function geometry(picture, options) {
  const replaced = options.rotation !== undefined || options.flip !== undefined;
  const rotation = replaced ? options.rotation ?? picture.rotation : picture.rotation;
  const flip = replaced ? options.flip ?? picture.flip : picture.flip;
  const turned = rotation % 180 !== 0;
  const W = turned ? picture.visible.height : picture.visible.width;
  const H = turned ? picture.visible.width : picture.visible.height;
  const S = { x: 0, y: 0, width: W, height: H, ...options.visibleRect };
  const C = { x: 0, y: 0, width: options.width, height: options.height };
  const centred = (options.anchor ?? 'center') === 'center';
  if (options.fit === 'letterbox') {
    const scale = Math.min(C.width / S.width, C.height / S.height);
    const size = (extent, limit) => Math.min(limit, Math.max(1, Math.floor(extent * scale + 0.5)));
    C.width = size(S.width, options.width);
    C.height = size(S.height, options.height);
    if (centred) {
      C.x = Math.floor((options.width - C.width) / 2);
      C.y = Math.floor((options.height - C.height) / 2);
    }
  } else if (options.fit === 'crop') {
    const whole = { ...S };
    if (C.width / S.width >= C.height / S.height) S.height = (S.width * C.height) / C.width;
    else S.width = (S.height * C.width) / C.height;
    if (centred) {
      S.x += (whole.width - S.width) / 2;
      S.y += (whole.height - S.height) / 2;
    }
  }
  return { rotation, flip, W, H, S, C };
}

/** The values before rounding, in the layout and order of the options. */
export function reference(picture, options) {
  const { info } = picture;
  const { rotation, flip, W, H, S, C } = geometry(picture, options);
  const space = color(picture, options);
  const channels = options.channels ?? 3;
  const colors = Math.min(channels, 3);
  const { width, height } = options;
  const mean = three(options.mean, 0);
  const std = three(options.std, 1);
  const pad = three(options.pad, 114);
  const { scale = 1, zeroPoint = 0 } = options.quantization ?? {};
  const step = { x: S.width / C.width, y: S.height / C.height };
  const turned = rotation % 180 !== 0;
  const codedStep = turned ? { x: step.y, y: step.x } : step;
  const filterOf = (extent) => {
    const filter = options.filter ?? 'bilinear';
    return filter === 'auto' ? (extent <= 2 * (1 + 1e-9) ? 'bilinear' : 'area') : filter;
  };
  const n = 2 ** (info.bits - 8);
  const most = 2 ** info.bits - 1;
  const luma = (s) => (space.full ? (s * 255) / most : ((s - 16 * n) * 255) / (219 * n));
  const chroma = (s) => (space.full ? ((s - 128 * n) * 255) / most : ((s - 128 * n) * 255) / (224 * n));

  const axisTaps = (u, extent, begin, size, limit, divisor, cosited) => {
    const ratio = 1 / divisor;
    const offset = divisor === 2 && cosited ? 0.25 : 0.5;
    const first = Math.floor(begin);
    const last = Math.min(limit, Math.ceil(begin + size)) - 1;
    return taps(filterOf(extent), u * ratio - offset, extent * ratio,
      Math.floor(first / divisor), Math.floor(last / divisor));
  };

  const component = (c, u, v) => {
    const halved = info.model === 'yuv' && c > 0;
    const replicate = halved && options.chroma === 'replicate';
    const sx = halved && !replicate ? info.sx : 1;
    const sy = halved && !replicate ? info.sy : 1;
    const { visible } = picture;
    const columns = axisTaps(u, codedStep.x, visible.x, visible.width, picture.width, sx, space.siting !== 'center');
    const rows = axisTaps(v, codedStep.y, visible.y, visible.height, picture.height, sy, space.siting === 'top-left');
    let sum = 0;
    for (const [y, wy] of rows) {
      for (const [x, wx] of columns) {
        sum += wx * wy * (replicate
          ? picture.sample(c, Math.floor(x / info.sx), Math.floor(y / info.sy))
          : picture.sample(c, x, y));
      }
    }
    return sum;
  };

  const rgbAt = (u, v) => {
    if (info.model === 'rgb') return [0, 1, 2].map((c) => luma(component(c, u, v)));
    const { kr, kb } = space;
    const kg = 1 - kr - kb;
    const Y = luma(component(0, u, v));
    const U = chroma(component(1, u, v));
    const V = chroma(component(2, u, v));
    return [Y + 2 * (1 - kr) * V, Y - ((2 * kb * (1 - kb)) / kg) * U - ((2 * kr * (1 - kr)) / kg) * V,
      Y + 2 * (1 - kb) * U];
  };

  const values = new Float64Array(channels * height * width);
  for (let j = 0; j < height; ++j) {
    for (let i = 0; i < width; ++i) {
      const X = S.x + (i + 0.5 - C.x) * step.x;
      const Y = S.y + (j + 0.5 - C.y) * step.y;
      const inContent = i >= C.x && i < C.x + C.width && j >= C.y && j < C.y + C.height;
      const inside = options.outside !== 'pad' || (X >= 0 && X < W && Y >= 0 && Y < H);
      let pixel = pad;
      if (inContent && inside) {
        const [u, v] = toCoded(picture, rotation, flip, X, Y);
        if (channels === 1) {
          pixel = info.model === 'yuv'
            ? [luma(component(0, u, v))]
            : [rgbAt(u, v).reduce((sum, value, c) => sum + value * [space.kr, 1 - space.kr - space.kb, space.kb][c], 0)];
        } else {
          pixel = rgbAt(u, v);
          if (options.order === 'bgr') pixel.reverse();
        }
        pixel = pixel.map((value) => Math.min(255, Math.max(0, value)));
      }
      for (let c = 0; c < channels; ++c) {
        const value = c < colors ? (pixel[c] - mean[c]) / std[c] : options.alpha ?? 255;
        const at = options.layout === 'nhwc'
          ? (j * width + i) * channels + c
          : (c * height + j) * width + i;
        values[at] = value / scale + zeroPoint;
      }
    }
  }
  return values;
}

/** float16's bits as a number. */
export function fromFloat16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (1024 + mantissa) * 2 ** (exponent - 25);
}
