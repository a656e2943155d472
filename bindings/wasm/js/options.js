// From options as a caller writes them to numbers: checked, with defaults filled in.
import { rangeError, shown, typeError } from './errors.js';

const Float16 = globalThis.Float16Array;

/** @type {Record<string, {index: number, bytes: number, array: Function, also?: Function}>} */
export const DATA_TYPES = {
  float32: { index: 0, bytes: 4, array: Float32Array },
  // Bits of float16 in whole numbers where the engine has no Float16Array.
  float16: { index: 1, bytes: 2, array: Float16 ?? Uint16Array, also: Uint16Array },
  uint8: { index: 3, bytes: 1, array: Uint8Array, also: Uint8ClampedArray },
  int8: { index: 4, bytes: 1, array: Int8Array },
  int32: { index: 5, bytes: 4, array: Int32Array },
  int64: { index: 6, bytes: 8, array: BigInt64Array },
};

const CHOICES = {
  layout: ['nchw', 'nhwc'],
  order: ['rgb', 'bgr'],
  fit: ['stretch', 'letterbox', 'crop'],
  anchor: ['center', 'top-left'],
  filter: ['bilinear', 'nearest', 'area', 'triangle', 'auto'],
  outside: ['clamp', 'pad'],
  chroma: ['interpolate', 'replicate'],
};

// VideoColorSpace's names, in the order of the core's ColorMatrix.
const MATRICES = { bt470bg: 1, smpte170m: 1, bt709: 2, 'bt2020-ncl': 3, rgb: 0 };
const SITINGS = { left: 1, center: 2, 'top-left': 3 };

/** The members that every import has, whatever its tensor comes from. */
const PIXEL_MEMBERS = ['visibleRect', 'mean', 'std', 'order', 'fit', 'anchor', 'pad', 'filter', 'outside',
  'chroma', 'alpha', 'quantization', 'rotation', 'flip', 'colorSpace'];
const TENSOR_MEMBERS = ['width', 'height', 'dimensions', 'layout', 'dataType', 'channels', 'into'];

function choice(options, name) {
  const value = options[name];
  if (value === undefined) return 0;
  const index = CHOICES[name].indexOf(value);
  if (index < 0) {
    throw typeError(name, `${shown(value)} is not one of its values`,
      `give ${CHOICES[name].map(shown).join(', ')}`);
  }
  return index;
}

function finite(name, value) {
  if (typeof value !== 'number') {
    throw typeError(name, `${shown(value)} is not a number`, 'give a finite number');
  }
  if (!Number.isFinite(value)) {
    throw rangeError(name, `${value} is not finite`, 'give a finite number');
  }
  return value;
}

function whole(name, value, least, most) {
  finite(name, value);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw rangeError(name, `${value} is out of range`, `give a whole number of ${least} to ${most}`);
  }
  return value;
}

function flag(name, value) {
  if (typeof value !== 'boolean') {
    throw typeError(name, `${shown(value)} is not a boolean`, 'give true or false');
  }
  return value;
}

function dictionary(name, value) {
  if (value === null || typeof value !== 'object') {
    throw typeError(name, `${shown(value)} is not an object`, 'give an object with its members');
  }
  return value;
}

// One number for all channels, or three.
function perChannel(options, name, fallback) {
  const value = options[name] === undefined ? fallback : options[name];
  if (typeof value === 'number') {
    finite(name, value);
    return [value, value, value];
  }
  const list = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value) : null;
  if (list === null || list.length !== 3) {
    throw typeError(name, `${shown(value)} is neither a number nor three`,
      'give one number, or one for each channel');
  }
  return list.map((one, c) => finite(`${name}[${c}]`, one));
}

function divisors(options) {
  const std = perChannel(options, 'std', 1);
  const zero = std.findIndex((one) => Math.fround(one) === 0);
  if (zero >= 0) {
    const name = typeof options.std === 'number' ? 'std' : `std[${zero}]`;
    throw rangeError(name, `${std[zero]} cannot divide`, 'give a number other than 0');
  }
  return std;
}

function padding(options) {
  const pad = perChannel(options, 'pad', 114);
  const bad = pad.findIndex((one) => !(one >= 0 && one <= 255));
  if (bad >= 0) {
    throw rangeError(typeof options.pad === 'number' ? 'pad' : `pad[${bad}]`,
      `${pad[bad]} is not a pixel value`, 'give 0 to 255 (before normalisation)');
  }
  return pad;
}

/** @returns {{x: number, y: number, width: number, height: number}} */
export function readRect(name, value) {
  dictionary(name, value);
  const rect = {};
  for (const member of ['x', 'y', 'width', 'height']) {
    // DOMRectInit's members default to 0.
    rect[member] = finite(`${name}.${member}`, value[member] === undefined ? 0 : value[member]);
  }
  if (!(rect.width > 0 && rect.height > 0)) {
    throw rangeError(name, `${rect.width} x ${rect.height} is empty`, 'give a positive width and height');
  }
  return rect;
}

export function readRotation(name, value) {
  if (![0, 90, 180, 270].includes(finite(name, value))) {
    throw rangeError(name, `${value} is not a quarter turn`, 'give 0, 90, 180 or 270');
  }
  return value;
}

/** A VideoColorSpace(Init), or one with a chroma siting, as numbers; 0 is unspecified. */
export function readColorSpace(name, value, strict) {
  const color = { matrix: 0, range: 0, siting: 0 };
  if (value === undefined || value === null) return color;
  dictionary(name, value);
  const pick = (member, table) => {
    const given = value[member];
    if (given === undefined || given === null) return 0;
    if (strict && !Object.hasOwn(table, given)) {
      throw typeError(`${name}.${member}`, `${shown(given)} is not one of its values`,
        `give ${Object.keys(table).map(shown).join(', ')}`);
    }
    return table[given] ?? 0; // of a frame: a name that browsers have and import has not
  };
  color.matrix = pick('matrix', MATRICES);
  color.siting = pick('siting', SITINGS);
  const full = value.fullRange;
  if (full !== undefined && full !== null) color.range = flag(`${name}.fullRange`, full) ? 2 : 1;
  return color;
}

function readQuantization(options, dataType) {
  const value = options.quantization;
  if (value === undefined) return { scale: 1, zeroPoint: 0 };
  dictionary('quantization', value);
  const scale = finite('quantization.scale', value.scale ?? 1);
  if (Math.fround(scale) === 0) {
    throw rangeError('quantization.scale', `${scale} cannot divide`, 'give a number other than 0');
  }
  const zeroPoint = whole('quantization.zeroPoint', value.zeroPoint ?? 0, -2147483647, 2147483647);
  if (dataType.startsWith('float') && (scale !== 1 || zeroPoint !== 0)) {
    throw typeError('quantization', `the tensor is of ${dataType}, which stores values as they are`,
      'leave it out, or use an integer tensor');
  }
  return { scale, zeroPoint };
}

function readShape(options) {
  const layout = choice(options, 'layout');
  const size = ['width', 'height', 'channels'].map((name) => options[name]);
  if (options.dimensions === undefined) {
    for (const name of ['width', 'height']) {
      if (options[name] === undefined) {
        throw typeError(name, 'missing', `give the tensor's width and height, or its dimensions`);
      }
    }
    return { layout, width: size[0], height: size[1], channels: size[2] ?? 3 };
  }
  if (size.some((value) => value !== undefined)) {
    throw typeError('dimensions', 'given beside width, height or channels', 'give the one or the others');
  }
  return { layout, ...shapeOf('dimensions', options.dimensions, layout) };
}

/** Channels, height and width of a tensor that holds one picture. */
export function shapeOf(name, value, layout) {
  const list = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value, Number) : [];
  const wanted = layout === 0 ? '[1, channels, height, width]' : '[1, height, width, channels]';
  if (list.length !== 4 || list[0] !== 1) {
    throw typeError(name, `${shown(list.length ? list : value)} does not hold one picture`, `give ${wanted}`);
  }
  const [channels, height, width] = layout === 0 ? list.slice(1) : [list[3], list[1], list[2]];
  return { channels, height, width };
}

const MOST = 1 << 20;

function checkShape(shape, wanted) {
  whole('width', shape.width, 1, MOST);
  whole('height', shape.height, 1, MOST);
  if (![1, 3, 4].includes(shape.channels)) {
    throw rangeError('channels', `${shown(shape.channels)} is none of 1, 3 and 4`,
      `give 1 (luma), 3 (colours) or 4 (and alpha)${wanted}`);
  }
}

/** What normalisation, fit and the like say, for a tensor of `shape` and `dataType`. */
export function readPixelOptions(options, shape, dataType) {
  checkShape(shape, ', and check the layout');
  const orientation = options.rotation !== undefined || options.flip !== undefined;
  const alpha = finite('alpha', options.alpha ?? 255);
  return {
    ...shape,
    dataType,
    count: shape.channels * shape.height * shape.width,
    source: options.visibleRect === undefined ? null : readRect('visibleRect', options.visibleRect),
    mean: perChannel(options, 'mean', 0),
    std: divisors(options),
    order: choice(options, 'order'),
    fit: choice(options, 'fit'),
    anchor: choice(options, 'anchor'),
    pad: padding(options),
    filter: choice(options, 'filter'),
    outside: choice(options, 'outside'),
    chroma: choice(options, 'chroma'),
    alpha,
    quantization: readQuantization(options, dataType),
    // In place of the frame's own; the one that is not given stays the frame's.
    orientation: orientation
      ? {
        rotation: options.rotation === undefined ? null : readRotation('rotation', options.rotation),
        flip: options.flip === undefined ? null : flag('flip', options.flip),
      }
      : null,
    given: readColorSpace('colorSpace', options.colorSpace, true),
  };
}

function checkInto(into, settings) {
  const { array, also } = DATA_TYPES[settings.dataType];
  if (!(into instanceof array || (also && into instanceof also))) {
    throw typeError('into', `${shown(into)} does not hold ${settings.dataType}`, `give a ${array.name}`);
  }
  if (into.length !== settings.count) {
    throw rangeError('into', `has ${into.length} elements`,
      `the tensor needs ${settings.count} (channels * height * width)`);
  }
}

/** The options of importFrame() and importPlanes(). */
export function readOptions(options) {
  dictionary('options', options);
  for (const name of Object.keys(options)) {
    if (!PIXEL_MEMBERS.includes(name) && !TENSOR_MEMBERS.includes(name)) {
      throw typeError(`options.${name}`, 'unknown',
        `known are ${[...TENSOR_MEMBERS, ...PIXEL_MEMBERS].join(', ')}`);
    }
  }
  const dataType = options.dataType ?? 'float32';
  checkDataType('dataType', dataType);
  const settings = readPixelOptions(options, readShape(options), dataType);
  if (options.into !== undefined) checkInto(options.into, settings);
  settings.into = options.into ?? null;
  return settings;
}

export function checkDataType(name, dataType) {
  if (!Object.hasOwn(DATA_TYPES, dataType)) {
    throw typeError(name, `${shown(dataType)} is no type that frames are imported to`,
      `use ${Object.keys(DATA_TYPES).join(', ')}`);
  }
}
