// Import for one thread: frames and planes to typed arrays, on a few instances of the module.
import { shown, stateError, typeError } from './errors.js';
import { cloneFrame, describeFrame, describePlanes, makeRequest, planCopy, planPlanes } from './frame.js';
import { Kernel } from './kernel.js';
import { loadModule } from './load.js';
import { DATA_TYPES, readOptions } from './options.js';

// Imports of frames that are under way at once: each has an instance of its own, because copyTo() writes
// into its memory later, when it must not have moved. Others wait.
const MOST_AT_ONCE = 3;

const bytesOf = (settings) => settings.count * DATA_TYPES[settings.dataType].bytes;

// A view of the module's memory into memory of the caller's, new where `into` is null. Byte by byte: elements
// are of one size, but those of float16 may be bits here and numbers there.
function copyOut(view, into) {
  if (into === null) return view.slice();
  const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  bytes(into).set(bytes(view));
  return into;
}

function inDisplayPixels({ a, b, tx, c, d, ty }, { x, y }) {
  return { a: a / x, b: b / x, tx: tx / x, c: c / y, d: d / y, ty: ty / y };
}

/** A frame that was checked and cloned; whoever has it closes it by importing it, or by close(). */
export class FrameJob {
  constructor(frame, settings) {
    this.settings = settings;
    this.description = describeFrame(frame);
    this.frame = null;
    this.original = frame;
  }

  /** From here on the original may be closed. */
  keep() {
    this.frame = cloneFrame(this.original);
    this.original = null;
    return this;
  }

  close() {
    this.frame?.close();
    this.frame = null;
  }
}

export class Importer {
  #module;
  /** @type {Kernel[]} */
  #idle = [];
  #busy = 0;
  #waiting = [];

  /** Use createImporter(). @param {WebAssembly.Module} module */
  constructor(module) {
    this.#module = module;
    this.#idle.push(new Kernel(module));
  }

  /** 'WASM' with SIMD128; otherwise plain code. */
  get target() { return this.#sync((kernel) => kernel.target); }
  get version() { return this.#sync((kernel) => kernel.version); }
  /** Names of the formats that importPlanes() takes. */
  get formats() { return this.#sync((kernel) => kernel.formatNames); }
  /** Bytes of the instances' memory; those in use at the moment are not counted. */
  get memoryBytes() { return this.#idle.reduce((sum, kernel) => sum + kernel.memoryBytes, 0); }

  /** Gives back the memory of instances that are not in use. */
  trim() { this.#idle.length = 0; }

  /** @returns {Promise<ArrayBufferView>} */
  async importFrame(frame, options) {
    const job = new FrameJob(frame, readOptions(options));
    this.check(job, RangeError);
    return this.finish(job.keep());
  }

  /** What importFrame() does once a job is checked. */
  finish(job) {
    return this.run(job, (view) => copyOut(view, job.settings.into));
  }

  /** Planes in the caller's memory to a typed array, at once. */
  importPlanes(source, options) {
    const settings = readOptions(options);
    const description = describePlanes(source);
    return this.#sync((kernel) => {
      const memory = planPlanes(kernel, source, description);
      const request = this.#request(description, memory, settings);
      kernel.plan(request, RangeError);
      kernel.reserveFrame(memory.bytes);
      kernel.reserveTensor(bytesOf(settings));
      const bytes = kernel.frameView(memory.bytes);
      for (const piece of memory.pieces) bytes.set(piece.bytes, piece.offset);
      kernel.draw(request, RangeError);
      return copyOut(kernel.tensorView(settings), settings.into);
    });
  }

  /**
   * The map from tensor to the frame's display pixels, without importing: where boxes come back.
   * @param source A VideoFrame, or what importPlanes() takes.
   */
  tensorToDisplay(source, options) {
    const settings = readOptions(options);
    const isFrame = typeof source?.copyTo === 'function';
    const description = isFrame ? describeFrame(source) : describePlanes(source);
    return this.#sync((kernel) => {
      if (!isFrame && kernel.formatIndex(String(description.format)) === undefined) {
        throw typeError('format', `${shown(description.format)} is not a format of import`,
          `give one of ${kernel.formatNames.join(', ')}`);
      }
      const request = this.#request(description, planCopy(kernel, description), settings);
      return inDisplayPixels(kernel.plan(request, RangeError), request.scale);
    });
  }

  /** Throws `Type` if the job cannot be done. */
  check(job, Type) {
    this.#sync((kernel) => {
      kernel.plan(this.#request(job.description, planCopy(kernel, job.description, job.settings), job.settings), Type);
    });
  }

  /**
   * Imports the job's frame, closes it, and calls use() with the tensor: a view of the module's memory that
   * ends with the call.
   * @template T @param {FrameJob} job @param {(view: ArrayBufferView) => T} use @returns {Promise<T>}
   */
  async run(job, use) {
    try {
      const free = this.#take();
      const kernel = free instanceof Kernel ? free : await free;
      try {
        const memory = planCopy(kernel, job.description, job.settings);
        const request = this.#request(job.description, memory, job.settings);
        // All that grows the memory is before the copy.
        kernel.reserveFrame(memory.bytes);
        kernel.reserveTensor(bytesOf(job.settings));
        await this.#copy(job, kernel.frameView(memory.bytes), memory.copyOptions);
        job.close();
        kernel.draw(request, RangeError);
        return use(kernel.tensorView(job.settings));
      } finally {
        this.#give(kernel);
      }
    } finally {
      job.close();
    }
  }

  async #copy(job, into, options) {
    try {
      await job.frame.copyTo(into, options);
    } catch (cause) {
      throw stateError('OperationError',
        `frame: its pixels (${job.description.format ?? 'format null'}, ` +
        `${job.description.codedWidth}x${job.description.codedHeight}) could not be copied: ${cause.message}`,
        cause);
    }
  }

  #request(description, memory, settings) {
    return makeRequest(description, memory, settings, DATA_TYPES[settings.dataType].index);
  }

  // An instance, or a promise of one.
  #take() {
    if (this.#busy >= MOST_AT_ONCE) return new Promise((resolve) => { this.#waiting.push(resolve); });
    const kernel = this.#idle.pop() ?? new Kernel(this.#module);
    ++this.#busy;
    return kernel;
  }

  #give(kernel) {
    const next = this.#waiting.shift();
    if (next) {
      next(kernel.broken ? new Kernel(this.#module) : kernel);
      return;
    }
    --this.#busy;
    this.#put(kernel);
  }

  #put(kernel) {
    if (!kernel.broken && this.#idle.length < MOST_AT_ONCE) this.#idle.push(kernel);
  }

  // Calls body with an instance, at once: a new one when all others wait for their copies.
  #sync(body) {
    const kernel = this.#idle.pop() ?? new Kernel(this.#module);
    try {
      return body(kernel);
    } finally {
      this.#put(kernel);
    }
  }
}

/**
 * An importer of its own: for a worker, for another module file, or to say when it is loaded.
 * @param {{wasm?: WebAssembly.Module | BufferSource | Response | URL | string, simd?: boolean}} [options]
 */
export async function createImporter(options = {}) {
  return new Importer(await loadModule(options));
}
