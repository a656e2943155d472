// The dictionary of writeTensor(tensor, {frame, isNchw, ...}) and its tensor, checked as the browser would:
// at once, with a TypeError, and before anything is written.
import { shown, typeError } from './errors.js';
import { FrameJob } from './importer.js';
import { checkDataType, readPixelOptions, shapeOf } from './options.js';

export const isBuffer = (value) => ArrayBuffer.isView(value) ||
  /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));

/** What cannot be a buffer is meant as the dictionary. */
export const isDictionary = (value) =>
  (typeof value === 'object' && value !== null || typeof value === 'function') && !isBuffer(value);

// RangeErrors of the options are TypeErrors here, as those of dictionaries are.
function asTypeErrors(body) {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw typeError(error.thing ?? 'options', error.problem ?? error.message, error.fix ?? 'see above');
  }
}

/**
 * @param importer Says whether the kernel can do it.
 * @returns {FrameJob} Not kept yet.
 */
export function readFrameWrite(importer, tensor, source) {
  // In the order in which a browser converts dictionaries: by name.
  const { frame, isNchw } = source;
  if (frame === undefined) throw typeError('frame', 'missing', 'give a VideoFrame');
  if (isNchw === undefined) throw typeError('isNchw', 'missing', `say whether the tensor's layout is NCHW`);
  const layout = isNchw ? 0 : 1;
  checkDataType('tensor', tensor.dataType);
  const shape = { layout, ...shapeOf(`tensor of shape`, tensor.shape, layout) };
  return asTypeErrors(() => {
    const job = new FrameJob(frame, readPixelOptions(source, shape, tensor.dataType));
    importer.check(job, TypeError);
    return job;
  });
}

/** Bytes of a tensor; undefined for a type that is not known here. */
export function tensorBytes(tensor) {
  const bits = { float32: 32, float16: 16, int32: 32, uint32: 32, int64: 64, uint64: 64, int8: 8, uint8: 8 };
  if (!Object.hasOwn(bits, tensor.dataType)) return undefined;
  return tensor.shape.reduce((count, extent) => count * extent, 1) * (bits[tensor.dataType] / 8);
}

/** A copy of what a caller may change after the call. */
export function snapshot(buffer) {
  if (!ArrayBuffer.isView(buffer)) return new Uint8Array(buffer).slice();
  const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).slice();
  if (buffer instanceof DataView) return bytes;
  return new buffer.constructor(bytes.buffer);
}

export function checkBuffer(tensor, buffer) {
  const wanted = tensorBytes(tensor);
  if (wanted !== undefined && buffer.byteLength !== wanted) {
    throw typeError('buffer', `has ${buffer.byteLength} bytes`,
      `the tensor ${tensor.dataType}${shown(Array.from(tensor.shape))} needs ${wanted}`);
  }
}
