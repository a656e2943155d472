// importFrame against reference.js. Every function resolves to a list of what is wrong: empty is good.
import { importFrame } from 'sparing-webnn';
import { formats, makeFrame, pictureOf, random } from './frames.js';
import { compare, referenceImport } from './reference.js';

// A page without Float16Array gets the bits.
export function numbers(array, dataType) {
  if (dataType !== 'float16' || !(array instanceof Uint16Array)) return array;
  return Float64Array.from(array, (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = bits >> 10 & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
  });
}

async function wrong(name, frame, picture, options) {
  const dataType = options.dataType ?? 'float32';
  try {
    const actual = numbers(await importFrame(frame, options), dataType);
    const { message } = compare(actual, referenceImport(picture, options), dataType);
    return message ? [`${name}: ${message}`] : [];
  } catch (error) {
    return [`${name}: ${error.name}: ${error.message}`];
  }
}

const imagenet = { mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375] };

const jobs = {
  'half size, NCHW float32': { width: 19, height: 13, layout: 'nchw', dataType: 'float32' },
  'NHWC float32, mean and std a channel': { width: 24, height: 16, layout: 'nhwc', dataType: 'float32', ...imagenet },
  'NCHW float16': { width: 21, height: 18, layout: 'nchw', dataType: 'float16', mean: 127.5, std: 127.5 },
  'NHWC uint8': { width: 33, height: 9, layout: 'nhwc', dataType: 'uint8' },
  'larger, NHWC int8': {
    width: 80, height: 50, layout: 'nhwc', dataType: 'int8', quantization: { scale: 1, zeroPoint: -128 },
  },
  'odd and fractional rectangle': {
    width: 16, height: 16, layout: 'nchw', dataType: 'float32', visibleRect: { x: 3, y: 5, width: 17.5, height: 11.25 },
  },
  'rectangle beyond the edge': {
    width: 20, height: 12, layout: 'nhwc', dataType: 'float32', visibleRect: { x: -4.5, y: 7, width: 30, height: 40 },
  },
};

export async function formatIsRight(format) {
  const found = [];
  for (const [width, height] of [[38, 26], [37, 25], [1, 1], [2, 3]]) {
    const { frame, picture } = makeFrame({ format, width, height, seed: width });
    for (const [name, options] of Object.entries(jobs)) {
      if (options.visibleRect && width < 10) continue;
      found.push(...await wrong(`${width}x${height}, ${name}`, frame, picture, options));
    }
    frame.close();
  }
  return found;
}

// Rectangles anywhere, also beyond the edge, with every other option at random: the same jobs on every run.
export async function anyJobIsRight({ format, count, seed }) {
  const found = [];
  const next = random(seed);
  const between = (least, most) => least + (most - least) * next();
  const whole = (least, most) => Math.floor(between(least, most + 1));
  const pick = (...values) => values[whole(0, values.length - 1)];
  for (let i = 0; i < count; ++i) {
    const [width, height] = [whole(1, 120), whole(1, 90)];
    const { frame, picture } = makeFrame({
      format, width, height, seed: seed + i, rotation: pick(0, 90, 180, 270), flip: pick(true, false),
    });
    const { displayWidth: w, displayHeight: h } = frame;
    const options = {
      width: whole(1, 40), height: whole(1, 40), layout: pick('nchw', 'nhwc'), dataType: pick('float32', 'float16', 'uint8'),
      channels: pick(3, 3, 1, 4), filter: pick('bilinear', 'area', 'triangle', 'auto'), fit: pick('stretch', 'letterbox', 'crop'),
      anchor: pick('center', 'top-left'), chroma: pick('interpolate', 'replicate'), outside: pick('clamp', 'clamp', 'pad'),
    };
    if (pick(true, true, false)) {
      const x = between(-0.3 * w, 0.8 * w);
      const y = between(-0.3 * h, 0.8 * h);
      options.visibleRect = { x, y, width: between(Math.max(0.3, 0.1 - x), w), height: between(Math.max(0.3, 0.1 - y), h) };
    }
    found.push(...await wrong(`job ${i}, ${width}x${height}, ${JSON.stringify(options)}`, frame, picture, options));
    frame.close();
  }
  return found.slice(0, 5);
}

// The formats that this browser makes frames of, out of those known here.
export function constructible() {
  return Object.keys(formats).filter((format) => {
    try {
      makeFrame({ format, width: 4, height: 4 }).frame.close();
      return true;
    } catch {
      return false;
    }
  });
}

export async function orientationsAreRight(format) {
  const found = [];
  for (const rotation of [0, 90, 180, 270]) {
    for (const flip of [false, true]) {
      const name = `rotation ${rotation}${flip ? ', flipped' : ''}`;
      const { frame, picture } = makeFrame({ format, width: 38, height: 26, rotation, flip, seed: 7 + rotation });
      if (frame.rotation !== rotation || frame.flip !== flip) found.push(`${name}: the browser does not keep it`);
      // With these sizes no pixel's centre lies between two samples, where either would be the nearest.
      const visibleRect = { x: 2.31, y: 3.17, width: 18.23, height: 17.37 };
      for (const filter of ['bilinear', 'nearest', 'area', 'triangle', 'auto']) {
        const options = { width: 8, height: 12, layout: 'nhwc', dataType: 'float32', filter };
        found.push(...await wrong(`${name}, ${filter}`, frame, picture, options));
        found.push(...await wrong(`${name}, ${filter}, rectangle`, frame, picture, { ...options, visibleRect }));
      }
      // The caller's orientation in place of the frame's.
      found.push(...await wrong(`${name}, told 90`, frame, picture,
        { width: 9, height: 11, layout: 'nchw', dataType: 'float32', rotation: 90, flip: false }));
      frame.close();
    }
  }
  return found;
}

// Drawn without scaling, a frame is what drawImage makes of it, orientation included.
export async function isAsDrawn() {
  const found = [];
  for (const rotation of [0, 90, 180, 270]) {
    for (const flip of [false, true]) {
      const { frame } = makeFrame({ format: 'RGBX', width: 24, height: 18, rotation, flip, seed: 3 });
      const { displayWidth: width, displayHeight: height } = frame;
      const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true, alpha: false });
      context.drawImage(frame, 0, 0);
      const drawn = context.getImageData(0, 0, width, height).data.filter((_, i) => i % 4 !== 3);
      const imported = await importFrame(frame, { width, height, layout: 'nhwc', dataType: 'uint8' });
      const at = drawn.findIndex((value, i) => value !== imported[i]);
      if (at >= 0) found.push(`rotation ${rotation}, flip ${flip}: value ${at} is ${imported[at]}, drawn ${drawn[at]}`);
      frame.close();
    }
  }
  return found;
}

export async function fitsAreRight() {
  const found = [];
  const { frame, picture } = makeFrame({ format: 'NV12', width: 50, height: 22, seed: 5 });
  for (const fit of ['stretch', 'letterbox', 'crop']) {
    for (const anchor of ['center', 'top-left']) {
      for (const order of ['rgb', 'bgr']) {
        const options = { width: 31, height: 24, layout: 'nchw', dataType: 'float32', fit, anchor, order, pad: 99 };
        found.push(...await wrong(`${fit}, ${anchor}, ${order}`, frame, picture, options));
      }
    }
  }
  const beyond = { width: 30, height: 30, layout: 'nhwc', dataType: 'float32', visibleRect: { x: -5, y: -6, width: 40, height: 40 } };
  found.push(...await wrong('outside pad', frame, picture, { ...beyond, outside: 'pad', pad: 7 }));
  found.push(...await wrong('outside clamp', frame, picture, { ...beyond, outside: 'clamp' }));
  found.push(...await wrong('chroma replicated', frame, picture, { width: 20, height: 12, dataType: 'float32', chroma: 'replicate' }));
  found.push(...await wrong('luma alone', frame, picture, { width: 20, height: 12, dataType: 'float32', channels: 1 }));
  found.push(...await wrong('four channels', frame, picture, { width: 20, height: 12, dataType: 'uint8', layout: 'nhwc', channels: 4, alpha: 200 }));
  frame.close();
  return found;
}

const spaces = {
  'BT.601 limited': { matrix: 'smpte170m', fullRange: false },
  'BT.601 (PAL) full': { matrix: 'bt470bg', fullRange: true },
  'BT.709 limited': { matrix: 'bt709', fullRange: false },
  'BT.709 full': { matrix: 'bt709', fullRange: true },
  'BT.2020 limited': { matrix: 'bt2020-ncl', fullRange: false },
  'nothing said': {},
};

export async function colourSpacesAreRight() {
  const found = [];
  for (const [name, colorSpace] of Object.entries(spaces)) {
    for (const format of ['I420', 'NV12', 'I444P10']) {
      for (const [width, height] of [[34, 20], [16, 720]]) {
        const { frame, picture } = makeFrame({ format, width, height, colorSpace, seed: 11 });
        const options = { width: 17, height: 10, layout: 'nchw', dataType: 'float32' };
        found.push(...await wrong(`${name}, ${format}, ${height} rows`, frame, picture, options));
        frame.close();
      }
    }
  }
  return found;
}

// A frame whose memory is larger than what is seen of it, made of one frame out of another, and by a decoder.
export async function visiblePartsAreRight() {
  const found = [];
  for (const [format, rect] of [
    ['I420', { x: 4, y: 6, width: 21, height: 13 }],
    ['NV12', { x: 2, y: 2, width: 30, height: 20 }],
    ['I444', { x: 3, y: 5, width: 21, height: 13 }],
    ['RGBA', { x: 3, y: 5, width: 21, height: 13 }],
  ]) {
    const { frame: whole, picture } = makeFrame({ format, width: 48, height: 32, seed: 13 });
    const frame = new VideoFrame(whole, { visibleRect: rect, timestamp: 0 });
    whole.close();
    const visible = { ...picture, visible: rect };
    for (const [name, options] of Object.entries(jobs)) {
      found.push(...await wrong(`${format}, ${name}`, frame, visible, options));
    }
    frame.close();
  }
  return found;
}

// Frames from this browser's own encoders through its decoders. Resolves to {found, sizes: [codec, coded
// and visible size]}.
export async function decodedIsRight() {
  const found = [];
  const sizes = [];
  for (const codec of ['vp8', 'vp09.00.10.08', 'av01.0.04M.08', 'avc1.42001f']) {
    const config = { codec, width: 100, height: 58, bitrate: 1e6 };
    if (!(await VideoEncoder.isConfigSupported(config)).supported) continue;
    const frame = await decoded(config);
    const { codedWidth, codedHeight, visibleRect, format } = frame;
    sizes.push(`${codec}: coded ${codedWidth}x${codedHeight}, visible ${visibleRect.width}x${visibleRect.height}`);
    const picture = await pictureOf(frame);
    for (const [name, options] of Object.entries(jobs)) found.push(...await wrong(`${codec}, ${format}, ${name}`, frame, picture, options));
    frame.close();
  }
  return { found, sizes };
}

async function decoded(config) {
  let frame;
  const failures = [];
  const error = (problem) => failures.push(problem);
  const decoder = new VideoDecoder({ output: (output) => { frame?.close(); frame = output; }, error });
  const encoder = new VideoEncoder({
    output: (chunk, { decoderConfig }) => {
      if (decoderConfig) decoder.configure({ ...decoderConfig, optimizeForLatency: true });
      decoder.decode(chunk);
    },
    error,
  });
  encoder.configure(config);
  const { frame: source } = makeFrame({ format: 'I420', width: config.width, height: config.height });
  encoder.encode(source, { keyFrame: true });
  source.close();
  await encoder.flush();
  await decoder.flush();
  encoder.close();
  decoder.close();
  if (failures.length || !frame) throw new Error(`no decoded frame of ${config.codec}: ${failures[0] ?? 'nothing came'}`);
  return frame;
}

// Frames that do not show their planes, and formats that import has not: as the browser converts them.
export async function convertedIsRight() {
  const found = [];
  const { frame: shown } = makeFrame({ format: 'NV12', width: 44, height: 30, rotation: 90, seed: 17 });
  const hidden = shown.clone();
  Object.defineProperty(hidden, 'format', { value: null });
  const deep = new VideoFrame(new Uint16Array(1.5 * 44 * 30).fill(1800),
    { format: 'I420P12', codedWidth: 44, codedHeight: 30, timestamp: 0 });
  for (const [kind, frame] of [['format null', hidden], ['I420P12', deep]]) {
    const picture = await pictureOf(frame === hidden ? shown : frame, 'RGBA');
    for (const [name, options] of Object.entries(jobs)) found.push(...await wrong(`${kind}, ${name}`, frame, picture, options));
    frame.close();
  }
  shown.close();
  return found;
}

// Frames of a canvas and of a video element.
export async function canvasIsRight() {
  const canvas = new OffscreenCanvas(40, 30);
  const context = canvas.getContext('2d');
  const { frame: noise } = makeFrame({ format: 'RGBX', width: 40, height: 30 });
  context.drawImage(noise, 0, 0);
  noise.close();
  const frame = new VideoFrame(canvas, { timestamp: 0 });
  const picture = await pictureOf(frame);
  const found = [];
  for (const [name, options] of Object.entries(jobs)) found.push(...await wrong(`${frame.format}, ${name}`, frame, picture, options));
  frame.close();
  return found;
}

export async function videoElementIsRight(address) {
  const video = document.createElement('video');
  video.muted = true;
  video.src = address;
  await video.play();
  await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  const frame = new VideoFrame(video);
  video.pause();
  const picture = await pictureOf(frame);
  const found = await wrong(`${frame.format}`, frame, picture, { width: 64, height: 48, layout: 'nchw', dataType: 'float32' });
  const { format } = frame;
  frame.close();
  return { found, format };
}

// `into` is filled and returned; the frame stays open.
export async function fillsInto() {
  const { frame, picture } = makeFrame({ format: 'I420', width: 32, height: 24 });
  const into = new Float32Array(3 * 16 * 12);
  const options = { width: 16, height: 12, layout: 'nchw', dataType: 'float32', into };
  const found = await wrong('into', frame, picture, options);
  if (await importFrame(frame, options) !== into) found.push('the array that is returned is not `into`');
  if (frame.format === null) found.push('the frame was closed');
  frame.close();
  return found;
}
