// What a VideoFrame, or planes that a caller has, mean to import: formats, sizes, and which bytes are
// copied where.
import { rangeError, shown, stateError, typeError } from './errors.js';
import { readColorSpace, readRect, readRotation } from './options.js';
import { usedPart } from './used_part.js';

const PLANE_ALIGNMENT = 64;
const MOST_EXTENT = 16384;
const ALPHA = /^(I4\d\d)A/; // import ignores it: what is left is the format to the kernel

/** @typedef {{format: string | null, codedWidth: number, codedHeight: number,
 *   visible: {x: number, y: number, width: number, height: number}, rotation: number, flip: boolean,
 *   displayWidth: number, displayHeight: number,
 *   color: {matrix: number, range: number, siting: number}}} FrameDescription */

// By what is used of it, so that frames of other realms, and doubles in tests, are frames as well.
function isVideoFrame(value) {
  return typeof value === 'object' && value !== null && typeof value.copyTo === 'function' &&
    typeof value.clone === 'function' && typeof value.close === 'function' && 'codedWidth' in value;
}

const plainRect = ({ x, y, width, height }) => ({ x, y, width, height });

/**
 * Everything that import wants to know of a frame, read at once: the frame may be closed afterwards.
 * @returns {FrameDescription}
 */
export function describeFrame(frame) {
  if (!isVideoFrame(frame)) throw typeError('frame', `${shown(frame)} is not a VideoFrame`, 'give one');
  if (frame.codedWidth === 0) { // what a closed frame says
    throw typeError('frame', 'is closed', 'close it after the call, not before');
  }
  const visible = plainRect(frame.visibleRect);
  const rotation = frame.rotation ?? 0; // browsers before the member show frames as coded
  return {
    format: frame.format ?? null,
    codedWidth: frame.codedWidth,
    codedHeight: frame.codedHeight,
    visible,
    rotation,
    flip: frame.flip ?? false,
    displayWidth: frame.displayWidth,
    displayHeight: frame.displayHeight,
    color: readColorSpace('frame.colorSpace', frame.colorSpace, false),
  };
}

function extent(name, value) {
  if (!Number.isInteger(value) || value < 1 || value > MOST_EXTENT) {
    throw rangeError(name, `${shown(value)} is out of range`, `give a whole number of 1 to ${MOST_EXTENT}`);
  }
  return value;
}

/**
 * The same of planes that a caller has.
 * @returns {FrameDescription}
 */
export function describePlanes(source) {
  if (source === null || typeof source !== 'object') {
    throw typeError('source', `${shown(source)} is not an object`, 'give format, size and planes');
  }
  const codedWidth = extent('codedWidth', source.codedWidth);
  const codedHeight = extent('codedHeight', source.codedHeight);
  const visible = source.visibleRect === undefined
    ? { x: 0, y: 0, width: codedWidth, height: codedHeight }
    : readRect('source.visibleRect', source.visibleRect);
  const rotation = readRotation('source.rotation', source.rotation ?? 0);
  const upright = rotation % 180 === 0;
  return {
    format: source.format,
    codedWidth,
    codedHeight,
    visible,
    rotation,
    flip: Boolean(source.flip),
    displayWidth: source.displayWidth ?? (upright ? visible.width : visible.height),
    displayHeight: source.displayHeight ?? (upright ? visible.height : visible.width),
    color: readColorSpace('source.colorSpace', source.colorSpace, true),
  };
}

const kernelName = (format) => String(format).replace(ALPHA, '$1');
const hasAlphaPlane = (format) => ALPHA.test(format);

/** Offsets of planes one after the other, rows without padding. */
function tightLayout(extents) {
  const layout = [];
  let bytes = 0;
  for (const { rowBytes, rows } of extents) {
    layout.push({ offset: bytes, stride: rowBytes });
    bytes += Math.ceil((rowBytes * rows) / PLANE_ALIGNMENT) * PLANE_ALIGNMENT;
  }
  return { layout, bytes };
}

/** @typedef {{format: number, width: number, height: number, bytes: number,
 *   visible: {x: number, y: number, width: number, height: number},
 *   layout: {offset: number, stride: number}[], copyOptions: object | null,
 *   corner: {x: number, y: number} of what is copied, in display coordinates,
 *   color: {matrix: number, range: number, siting: number}}} MemoryPlan */

// A rectangle, larger by what makes it begin and end on whole chroma samples: copyTo() refuses rectangles
// that do not. It may end where the picture does.
function alignedRect(kernel, format, visible, { codedWidth, codedHeight }) {
  const halved = (w, h) => {
    const one = kernel.planeExtents(format, 1, 1);
    const more = kernel.planeExtents(format, w, h);
    return one.length > 1 && one[1].rowBytes === more[1].rowBytes && one[1].rows === more[1].rows;
  };
  const stepX = halved(2, 1) ? 2 : 1;
  const stepY = halved(1, 2) ? 2 : 1;
  const x = Math.floor(visible.x / stepX) * stepX;
  const y = Math.floor(visible.y / stepY) * stepY;
  const right = Math.min(codedWidth, Math.ceil((visible.x + visible.width) / stepX) * stepX);
  const bottom = Math.min(codedHeight, Math.ceil((visible.y + visible.height) / stepY) * stepY);
  return { x, y, width: right - x, height: bottom - y };
}

/**
 * How a frame's pixels come into the module's memory by copyTo(). Planes are copied as they are, of the
 * visible rectangle or, with settings, of the part of it that they look at; the kernel cuts. A frame that
 * does not show its planes (format null), or has a format that the kernel has not, is converted to RGBA by
 * the browser: slower, and with its rounding.
 * @returns {MemoryPlan}
 */
export function planCopy(kernel, description, settings = null) {
  const { format } = description;
  let { visible } = description;
  let corner = { x: 0, y: 0 };
  const index = format === null ? undefined : kernel.formatIndex(kernelName(format));
  if (index === undefined) {
    const { width, height } = visible;
    const layout = [{ offset: 0, stride: 4 * width }];
    return {
      format: kernel.formatIndex('RGBA'),
      width,
      height,
      visible: { x: 0, y: 0, width, height },
      layout,
      bytes: 4 * width * height,
      copyOptions: { format: 'RGBA', layout },
      corner,
      color: { matrix: 0, range: 0, siting: 0 },
    };
  }
  if (settings?.source) {
    const shown = shownOrientation(description, settings);
    const source = scaledSource(description, settings.source, shown.rotation);
    const part = visible.width % 1 === 0 && visible.height % 1 === 0
      ? usedPart(visible, source, settings, shown)
      : null;
    if (part) ({ visible, corner } = part);
  }
  const rect = alignedRect(kernel, index, visible, description);
  const extents = kernel.planeExtents(index, rect.width, rect.height);
  const colors = extents.length;
  if (hasAlphaPlane(format)) extents.push(extents[0]);
  const { layout, bytes } = tightLayout(extents);
  return {
    format: index,
    width: rect.width,
    height: rect.height,
    visible: { ...visible, x: visible.x - rect.x, y: visible.y - rect.y },
    layout: layout.slice(0, colors),
    bytes,
    copyOptions: { rect, layout },
    corner,
    color: description.color,
  };
}

const bytesOf = (name, data) => {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (typeof SharedArrayBuffer !== 'undefined' && data instanceof SharedArrayBuffer) return new Uint8Array(data);
  throw typeError(name, `${shown(data)} is not a buffer`, 'give an ArrayBuffer or a view of one');
};

// Where each plane lies in the caller's buffers.
function planesOf(source, extents) {
  if (source.planes !== undefined) {
    if (!Array.isArray(source.planes) || source.planes.length < extents.length) {
      throw typeError('planes', `${shown(source.planes)} is not ${extents.length} planes`,
        'give {data, stride} for each plane of the format');
    }
    return extents.map((one, plane) => {
      const { data, stride = one.rowBytes, offset = 0 } = source.planes[plane] ?? {};
      return { data: bytesOf(`planes[${plane}].data`, data), stride, offset };
    });
  }
  const data = bytesOf('data', source.data);
  let layout = source.layout;
  if (layout === undefined) {
    let end = 0;
    layout = extents.map(({ rowBytes, rows }) => {
      const offset = end;
      end += rowBytes * rows;
      return { offset, stride: rowBytes };
    });
  }
  if (!Array.isArray(layout) || layout.length < extents.length) {
    throw typeError('layout', `${shown(layout)} is not ${extents.length} planes`,
      'give {offset, stride} for each plane of the format');
  }
  return extents.map((one, plane) => ({ data, ...layout[plane] }));
}

/**
 * How planes of a caller come into the module's memory: `pieces` says what is copied where.
 * @returns {MemoryPlan & {pieces: {bytes: Uint8Array, offset: number}[]}}
 */
export function planPlanes(kernel, source, description) {
  const index = kernel.formatIndex(kernelName(description.format));
  if (index === undefined) {
    throw typeError('format', `${shown(description.format)} is not a format of import`,
      `give one of ${kernel.formatNames.join(', ')}`);
  }
  const { codedWidth: width, codedHeight: height } = description;
  const extents = kernel.planeExtents(index, width, height);
  const pieces = [];
  const layout = [];
  let bytes = 0;
  planesOf(source, extents).forEach(({ data, offset, stride }, plane) => {
    const { rowBytes, rows } = extents[plane];
    const thing = `plane ${plane}`;
    if (!Number.isInteger(stride) || stride < rowBytes || stride > 0x7fffffff) {
      throw rangeError(thing, `stride ${shown(stride)} is shorter than a row, or no stride`,
        `give at least ${rowBytes} bytes`);
    }
    const length = stride * (rows - 1) + rowBytes;
    if (!Number.isInteger(offset) || offset < 0 || offset + length > data.length) {
      throw rangeError(thing, `${length} bytes from ${shown(offset)} on are not within ${data.length}`,
        'check offset, stride and the coded size');
    }
    pieces.push({ bytes: data.subarray(offset, offset + length), offset: bytes });
    layout.push({ offset: bytes, stride });
    bytes += Math.ceil(length / PLANE_ALIGNMENT) * PLANE_ALIGNMENT;
  });
  return {
    format: index, width, height, visible: description.visible, layout, bytes, copyOptions: null,
    corner: { x: 0, y: 0 }, color: description.color, pieces,
  };
}

// Display pixels to visible samples along coded x and y: other than 1 where pixels are not square.
function displayScale({ visible, rotation, displayWidth, displayHeight }) {
  const near = (a, b) => Math.abs(a - b) <= 1;
  const { width, height } = visible;
  if (!(displayWidth > 0 && displayHeight > 0) ||
    (near(displayWidth, width) && near(displayHeight, height)) ||
    (near(displayWidth, height) && near(displayHeight, width))) {
    return { x: 1, y: 1 };
  }
  return rotation % 180 === 0
    ? { x: width / displayWidth, y: height / displayHeight }
    : { x: width / displayHeight, y: height / displayWidth };
}

function shownOrientation(description, { orientation }) {
  return {
    rotation: orientation?.rotation ?? description.rotation,
    flip: orientation?.flip ?? description.flip,
  };
}

// The scale of the upright picture's axes.
function uprightScale(description, rotation) {
  const coded = displayScale(description);
  return rotation % 180 === 0 ? coded : { x: coded.y, y: coded.x };
}

function scaledSource(description, { x, y, width, height }, rotation) {
  const scale = uprightScale(description, rotation);
  return { x: x * scale.x, y: y * scale.y, width: width * scale.x, height: height * scale.y };
}

/**
 * The request to the kernel, and what brings its map to the frame's display pixels.
 * @param {FrameDescription} description @param {MemoryPlan} memory
 */
export function makeRequest(description, memory, settings, dataTypeIndex) {
  const { visible, color } = memory;
  const fields = {
    format: memory.format,
    codedWidth: memory.width,
    codedHeight: memory.height,
    visibleX: visible.x,
    visibleY: visible.y,
    visibleWidth: visible.width,
    visibleHeight: visible.height,
    rotation: description.rotation,
    flip: Number(description.flip),
    ...color,
    frameWidth: description.codedWidth,
    frameHeight: description.codedHeight,
    dataType: dataTypeIndex,
    alpha: settings.alpha,
    quantizationScale: settings.quantization.scale,
    quantizationZeroPoint: settings.quantization.zeroPoint,
    givenMatrix: settings.given.matrix,
    givenRange: settings.given.range,
    givenSiting: settings.given.siting,
  };
  for (const name of ['layout', 'channels', 'height', 'width', 'order', 'fit', 'anchor', 'filter', 'outside',
    'chroma']) {
    fields[name] = settings[name];
  }
  for (const name of ['mean', 'std', 'pad']) {
    settings[name].forEach((value, c) => { fields[`${name}${c}`] = value; });
  }
  const shown = shownOrientation(description, settings);
  if (settings.orientation !== null) {
    fields.hasOrientation = 1;
    fields.shownRotation = shown.rotation;
    fields.shownFlip = Number(shown.flip);
  }
  if (settings.source !== null) {
    const source = scaledSource(description, settings.source, shown.rotation);
    fields.hasSource = 1;
    fields.sourceX = source.x - memory.corner.x;
    fields.sourceY = source.y - memory.corner.y;
    fields.sourceWidth = source.width;
    fields.sourceHeight = source.height;
  }
  return { fields, layout: memory.layout, scale: uprightScale(description, shown.rotation) };
}

/** A clone whose original its owner may close. */
export function cloneFrame(frame) {
  try {
    return frame.clone();
  } catch (cause) {
    throw stateError('InvalidStateError', 'frame: could not be cloned', cause);
  }
}
