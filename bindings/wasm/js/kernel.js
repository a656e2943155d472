// One instance of the WebAssembly module: its memory, and calls into it. One user at a time.
import { importError } from './errors.js';
import { FIELDS, FIELD_COUNT } from './request.js';
import { DATA_TYPES } from './options.js';

const ALIGNMENT = 64;
// Addresses that a request has while only its numbers are checked.
const SOMEWHERE = ALIGNMENT;

const align = (bytes) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

// What the C library behind the module asks of a system: it has no files, and all it could do is end.
function systemImports(module) {
  const imports = {};
  for (const { module: space, name } of WebAssembly.Module.imports(module)) {
    (imports[space] ??= {})[name] = name === 'proc_exit'
      ? () => { throw new WebAssembly.RuntimeError('the module ended'); }
      : () => 52; // ENOSYS
  }
  return imports;
}

/** A piece of the module's memory that grows when it has to. */
class Block {
  address = 0;
  bytes = 0;
}

export class Kernel {
  #wasm;
  #importer;
  #fields = new Float64Array(0);
  #formats = new Map();
  #frame = new Block();
  #tensor = new Block();
  /** Set when the module trapped: its state is not known any more. */
  broken = false;

  /** @param {WebAssembly.Module} module Small enough to be instantiated at once on any thread. */
  constructor(module) {
    this.#wasm = new WebAssembly.Instance(module, systemImports(module)).exports;
    this.#wasm._initialize();
    this.#importer = this.#wasm.create();
    if (this.#importer === 0) throw this.#noMemory('importer', 4096);
    if (this.#wasm.field_count() !== FIELD_COUNT) {
      throw new Error(`sparing-webnn: the module has ${this.#wasm.field_count()} fields, ` +
        `the scripts ${FIELD_COUNT}; take both from one package`);
    }
    for (let index = 0, name; (name = this.#text(this.#wasm.format_name(index))); ++index) {
      this.#formats.set(name, index);
    }
  }

  get memoryBytes() { return this.#wasm.memory.buffer.byteLength; }
  get target() { return this.#text(this.#wasm.simd_target()); }
  get version() { return this.#text(this.#wasm.version()); }
  get formatNames() { return [...this.#formats.keys()]; }

  /** The number of a format, undefined for one that import does not have. */
  formatIndex(name) { return this.#formats.get(name); }

  /** What the planes of a picture of this size hold: bytes of a row, and rows. */
  planeExtents(format, width, height) {
    const planes = [];
    for (let plane = 0; plane < 4; ++plane) {
      const rowBytes = this.#wasm.plane_row_bytes(format, plane, width);
      if (rowBytes === 0) break;
      planes.push({ rowBytes, rows: this.#wasm.plane_rows(format, plane, height) });
    }
    return planes;
  }

  /** Memory for planes. Views of it end with the next reservation. */
  reserveFrame(bytes) { this.#reserve(this.#frame, bytes, 'frame'); }
  reserveTensor(bytes) { this.#reserve(this.#tensor, bytes, 'tensor'); }

  frameView(bytes) { return new Uint8Array(this.#wasm.memory.buffer, this.#frame.address, bytes); }

  tensorView(settings) {
    const { array } = DATA_TYPES[settings.dataType];
    return new array(this.#wasm.memory.buffer, this.#tensor.address, settings.count);
  }

  /** Whether the request can be done; throws `Type` if not. The map from tensor to display. */
  plan(request, Type) {
    this.#write(request, SOMEWHERE, SOMEWHERE);
    return this.#call('plan', Type);
  }

  /** Draws what the frame's memory holds into the tensor's. */
  draw(request, Type) {
    this.#write(request, this.#frame.address, this.#tensor.address);
    return this.#call('import', Type);
  }

  #write(request, frameAddress, tensorAddress) {
    if (this.#fields.byteLength === 0) { // growing memory detaches views of it
      this.#fields = new Float64Array(this.#wasm.memory.buffer, this.#wasm.fields(this.#importer), FIELD_COUNT);
    }
    const fields = this.#fields;
    fields.fill(0);
    for (const name in request.fields) fields[FIELDS[name]] = request.fields[name];
    request.layout.forEach(({ offset, stride }, plane) => {
      fields[FIELDS.plane0 + plane] = frameAddress + offset;
      fields[FIELDS.stride0 + plane] = stride;
    });
    fields[FIELDS.tensor] = tensorAddress;
  }

  #call(name, Type) {
    let status;
    try {
      status = this.#wasm[name](this.#importer);
    } catch (trap) {
      this.broken = true;
      throw new Error('sparing-webnn: the module failed; this is a bug of it', { cause: trap });
    }
    if (status !== 0) {
      const [thing, problem, fix] = [0, 1, 2].map(
        (part) => this.#text(this.#wasm.error_text(this.#importer, part)));
      throw importError(Type, thing, problem, fix);
    }
    const map = new Float64Array(this.#wasm.memory.buffer, this.#wasm.map(this.#importer), 6);
    const [a, b, tx, c, d, ty] = map;
    return { a, b, tx, c, d, ty };
  }

  #reserve(block, bytes, thing) {
    if (bytes <= block.bytes) return;
    if (block.address !== 0) this.#wasm.release(block.address);
    block.address = 0;
    block.bytes = 0;
    const wanted = align(bytes);
    const address = wanted < 2 ** 32 ? this.#wasm.allocate(wanted) >>> 0 : 0;
    if (address === 0) throw this.#noMemory(thing, wanted);
    block.address = address;
    block.bytes = wanted;
  }

  #noMemory(thing, bytes) {
    return importError(RangeError, thing, `no memory for ${bytes} bytes`, 'use smaller frames and tensors');
  }

  #text(address) {
    if (address === 0) return '';
    const bytes = new Uint8Array(this.#wasm.memory.buffer, address);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
}
