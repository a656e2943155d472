// Stand-ins for what a browser has: frames as WebCodecs' specification describes them, and contexts as
// WebNN's does, with a timeline that runs behind the calls.

/** How many frames are open. */
export const open = { count: 0 };

export class FakeFrame {
  #closed = false;
  #hidden; // does not show its format
  #fail;
  #delay;

  /** @param picture What it shows @param options format null, an error of copyTo(), its milliseconds */
  constructor(picture, options = {}) {
    this.picture = picture;
    this.options = options;
    this.#hidden = options.hidden ?? false;
    this.#fail = options.fail;
    this.#delay = options.delay ?? 0;
    ++open.count;
  }

  get closed() { return this.#closed; }
  get format() { return this.#closed || this.#hidden ? null : this.picture.format; }
  get codedWidth() { return this.#closed ? 0 : this.picture.width; }
  get codedHeight() { return this.#closed ? 0 : this.picture.height; }
  get visibleRect() { return this.#closed ? null : { ...this.picture.visible, toJSON() {} }; }
  get rotation() { return this.picture.rotation; }
  get flip() { return this.picture.flip; }
  get displayWidth() { return this.options.displayWidth ?? this.#upright.width; }
  get displayHeight() { return this.options.displayHeight ?? this.#upright.height; }
  get colorSpace() {
    const { matrix = null, fullRange = null } = this.picture.colorSpace;
    return { matrix, fullRange, primaries: null, transfer: null };
  }

  get #upright() {
    const { width, height } = this.picture.visible;
    return this.picture.rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  }

  clone() {
    if (this.#closed) throw new DOMException('closed', 'InvalidStateError');
    return new FakeFrame(this.picture, this.options);
  }

  close() {
    if (!this.#closed) --open.count;
    this.#closed = true;
  }

  async copyTo(destination, options = {}) {
    if (this.#closed) throw new DOMException('closed', 'InvalidStateError');
    if (this.#fail) throw this.#fail;
    // A browser may write whenever it likes: here at the end.
    await new Promise((resolve) => { setTimeout(resolve, this.#delay); });
    const bytes = new Uint8Array(destination.buffer ?? destination, destination.byteOffset ?? 0,
      destination.byteLength);
    if (options.format === 'RGBA') return this.#copyRgba(bytes, options);
    if (this.#hidden) throw new DOMException('no format', 'NotSupportedError');
    const { picture } = this;
    const rect = options.rect ?? picture.visible;
    const { planes } = picture;
    if (rect.x + rect.width > picture.width || rect.y + rect.height > picture.height) {
      throw new TypeError('rect outside the coded size');
    }
    if (planes.some(({ dx, dy }) => rect.x % dx !== 0 || rect.y % dy !== 0)) {
      throw new TypeError('rect is not sample-aligned');
    }
    if (options.layout.length !== planes.length) throw new TypeError('layout has another number of planes');
    const ends = [];
    planes.forEach((_, index) => {
      const { offset, stride } = options.layout[index];
      const { rowBytes, rows } = picture.writePlane(index, rect, bytes, offset, stride);
      if (stride < rowBytes) throw new TypeError('stride too short');
      const end = offset + stride * rows;
      if (offset + stride * (rows - 1) + rowBytes > bytes.length) throw new TypeError('destination too small');
      if (ends.some(([from, to]) => offset < to && from < end)) throw new TypeError('planes overlap');
      ends.push([offset, end]);
    });
    return options.layout;
  }

  // As for a picture that is RGBA already.
  #copyRgba(bytes, { layout: [{ offset, stride }] }) {
    const { picture } = this;
    if (picture.format !== 'RGBA') throw new DOMException('conversion', 'NotSupportedError');
    const rect = picture.visible;
    picture.writePlane(0, rect, bytes, offset, stride);
    return [{ offset, stride }];
  }
}

export class FakeTensor {
  constructor(context, descriptor) {
    Object.assign(this, { context, dataType: descriptor.dataType, shape: [...descriptor.shape] });
    this.writable = descriptor.writable ?? false;
    this.readable = descriptor.readable ?? false;
    this.constant = false;
    this.destroyed = false;
    const bytes = { float32: 4, float16: 2, uint8: 1, int8: 1, int32: 4, int64: 8, uint32: 4 }[this.dataType];
    this.bytes = new Uint8Array(this.shape.reduce((a, b) => a * b, 1) * bytes);
  }

  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.context.log.push(['destroy tensor', this]);
  }
}

export class FakeGraph {
  constructor(context) { Object.assign(this, { context, destroyed: false }); }
  destroy() {
    if (!this.destroyed) this.context.log.push(['destroy graph', this]);
    this.destroyed = true;
  }
}

/** A context that has the buffer overload alone; its graph copies input `a` to output `b`, plus one. */
export class FakeContext {
  #lose;

  constructor() {
    this.log = [];
    this.destroyed = false;
    this.lost = new Promise((resolve) => { this.#lose = resolve; });
  }

  async createTensor(descriptor) { return new (this.Tensor ?? FakeTensor)(this, descriptor); }

  #alive() { if (this.destroyed) throw new DOMException('Context is lost', 'InvalidStateError'); }

  #check(tensor) {
    if (!(tensor instanceof FakeTensor)) throw new TypeError('parameter 1 is not of type MLTensor');
    if (tensor.context !== this) throw new TypeError('the tensor belongs to another context');
    if (tensor.destroyed) throw new TypeError('Tensor has been destroyed');
  }

  writeTensor(tensor, buffer) {
    const isBuffer = ArrayBuffer.isView(buffer) || buffer instanceof ArrayBuffer;
    if (!isBuffer) throw new TypeError('parameter 2 is not of type ArrayBuffer');
    this.#alive();
    this.#check(tensor);
    if (!tensor.writable) throw new TypeError('not writable');
    if (buffer.byteLength !== tensor.bytes.length) throw new TypeError('wrong size');
    this.log.push(['write', tensor]);
    tensor.bytes.set(new Uint8Array(buffer.buffer ?? buffer, buffer.byteOffset ?? 0, buffer.byteLength));
  }

  async readTensor(tensor, into) {
    this.#alive();
    this.#check(tensor);
    if (!tensor.readable) throw new TypeError('not readable');
    this.log.push(['read', tensor]);
    const copy = tensor.bytes.slice();
    await undefined;
    if (into === undefined) return copy.buffer;
    if (into.byteLength !== copy.length) throw new TypeError('wrong size');
    new Uint8Array(into.buffer ?? into).set(copy);
    return undefined;
  }

  dispatch(graph, inputs, outputs) {
    if (!(graph instanceof FakeGraph)) throw new TypeError('parameter 1 is not of type MLGraph');
    this.#alive();
    if (graph.destroyed) throw new TypeError('graph destroyed');
    for (const tensor of [...Object.values(inputs), ...Object.values(outputs)]) this.#check(tensor);
    if (!inputs.a || !outputs.b) throw new TypeError('names');
    this.log.push(['dispatch', inputs.a, outputs.b]);
    outputs.b.bytes.set(inputs.a.bytes.map((byte) => byte + 1));
  }

  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.log.push(['destroy context']);
    this.#lose({ message: 'destroyed' });
  }

  /** What a crash of the service looks like. */
  crash(message) {
    this.destroyed = true;
    this.#lose({ message });
  }
}

const withOwnDestroy = (Base) => {
  class Own extends Base {}
  Object.defineProperty(Own.prototype, 'destroy', Object.getOwnPropertyDescriptor(Base.prototype, 'destroy'));
  return Own;
};

/** Classes of its own for each test: what a test replaces is on their prototypes. */
export function makeMl(Context = class extends FakeContext {}) {
  const Tensor = withOwnDestroy(FakeTensor);
  Context.prototype.Tensor = Tensor;
  for (const name of ['writeTensor', 'readTensor', 'dispatch', 'destroy', 'createTensor']) {
    if (!Object.hasOwn(Context.prototype, name)) {
      Object.defineProperty(Context.prototype, name,
        { ...Object.getOwnPropertyDescriptor(FakeContext.prototype, name), enumerable: true });
    }
  }
  return { made: 0, async createContext() { ++this.made; return new Context(); }, Context, Tensor, Graph: withOwnDestroy(FakeGraph) };
}
