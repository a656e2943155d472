// install(): the explainer's writeTensor(tensor, {frame, ...}) on the contexts of a browser, and the order
// of calls that it promises. copyTo() takes its time and writeTensor() does not: so the calls of a context
// that has an import under way wait behind it, and calls of others go straight through.
import { ContextState } from './context_state.js';
import { shown, stateError, typeError } from './errors.js';
import { checkBuffer, isBuffer, isDictionary, readFrameWrite, snapshot } from './frame_write.js';
import { createImporter } from './importer.js';
import { ownerOf, probe } from './native_support.js';

// On the replaced writeTensor: another copy of this package finds it there.
const INSTALLED = Symbol.for('sparing-webnn.installation');

/** Tells of work that failed after its call had returned. */
export class ImportErrorEvent extends Event {
  constructor(error, operation, context, tensor) {
    super('error');
    this.error = error;
    this.operation = operation;
    this.context = context;
    this.tensor = tensor;
  }
}

class Installation extends EventTarget {
  /** Whether the browser takes frames by itself; then nothing was replaced. */
  native = false;
  #importer;
  #contexts;
  #tensors;
  #graphs = null;
  #replaced = [];
  #active = true;
  #states = new WeakMap(); // of contexts
  #owners = new WeakMap(); // tensor -> the context that created it
  #tensorStates = new WeakMap(); // tensor -> state in whose queue it is or was
  #destroyed = new WeakSet(); // tensors and graphs
  #failures = new WeakMap(); // tensor -> error
  #graphStates = new WeakMap(); // graph -> state in whose queue it is
  #busyStates = new Set();

  constructor(contexts, tensors, importer) {
    super();
    this.#contexts = contexts;
    this.#tensors = tensors;
    this.#importer = importer;
    this.#replaceContextMethods();
    this.#replaceTensorMethods();
    if (globalThis.MLGraph?.prototype) this.#replaceGraphMethods(globalThis.MLGraph.prototype);
  }

  /** How many calls of the context wait, an import that is under way counted. */
  pending(context) { return this.#states.get(context)?.pending ?? 0; }

  /** Resolves when no call of the context waits. */
  idle(context) { return this.#states.get(context)?.whenIdle() ?? Promise.resolve(); }

  /** Puts the browser's own methods back; resolves when calls that wait have been made. */
  async uninstall() {
    this.#active = false;
    await Promise.all([...this.#busyStates].map((state) => state.whenIdle()));
    for (const restore of this.#replaced.splice(0)) restore();
  }

  // ---- replacing

  #replace(owner, methods) {
    for (const [name, make] of Object.entries(methods)) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name);
      if (typeof descriptor?.value !== 'function') continue;
      const original = descriptor.value;
      const value = make(original);
      Object.defineProperty(value, 'name', { value: original.name, configurable: true });
      Object.defineProperty(value, 'length', { value: original.length, configurable: true });
      Object.defineProperty(owner, name, { ...descriptor, value });
      this.#replaced.push(() => {
        // Whoever replaced it after us keeps it: ours then passes everything on.
        if (owner[name] === value) Object.defineProperty(owner, name, descriptor);
      });
    }
  }

  #replaceContextMethods() {
    const self = this;
    this.#replace(this.#contexts, {
      writeTensor: (original) => Object.assign(function (tensor, source) {
        if (self.#active && isDictionary(source) && self.#isContext(this)) {
          return self.#writeFrame(original, this, tensor, source);
        }
        return self.#writeBuffer(original, this, arguments);
      }, { [INSTALLED]: self }),
      readTensor: (original) => function () { return self.#read(original, this, arguments); },
      dispatch: (original) => function () { return self.#dispatch(original, this, arguments); },
      destroy: (original) => function () { return self.#destroyContext(original, this, arguments); },
      createTensor: (original) => function () { return self.#create(original, this, arguments); },
      createConstantTensor: (original) => function () { return self.#create(original, this, arguments); },
    });
  }

  #replaceTensorMethods() {
    const self = this;
    this.#replace(this.#tensors, {
      destroy: (original) => function () {
        const state = self.#states.get(self.#owners.get(this)) ?? self.#tensorStates.get(this);
        return self.#destroyLater(original, this, arguments, state);
      },
    });
  }

  #replaceGraphMethods(graphs) {
    const self = this;
    this.#graphs = graphs;
    this.#replace(graphs, {
      destroy: (original) => function () {
        return self.#destroyLater(original, this, arguments, self.#graphStates.get(this));
      },
    });
  }

  // ---- what is known

  #isContext(value) {
    return value !== null && typeof value === 'object' &&
      (Object.prototype.isPrototypeOf.call(this.#contexts, value) || value === this.#contexts);
  }

  #stateOf(context) {
    let state = this.#states.get(context);
    if (state === undefined) {
      state = new ContextState(context);
      this.#states.set(context, state);
    }
    return state;
  }

  #push(state, item) {
    state.push(item);
    if (!state.busy || this.#busyStates.has(state)) return;
    this.#busyStates.add(state);
    state.whenIdle().then(() => this.#busyStates.delete(state));
  }

  // Throws unless the tensor can be used with the context, as far as that is known here.
  #checkTensor(context, tensor, thing) {
    const isTensor = typeof tensor === 'object' && tensor !== null &&
      Object.prototype.isPrototypeOf.call(this.#tensors, tensor);
    if (!isTensor) throw typeError(thing, `${shown(tensor)} is not an MLTensor`, 'give one');
    if (this.#destroyed.has(tensor)) { // what browsers say of it
      throw stateError('InvalidStateError', `${thing}: has been destroyed; create a new one`);
    }
    const owner = this.#owners.get(tensor);
    if (owner !== undefined && owner !== context) {
      throw typeError(thing, 'belongs to another context', 'use the context that created it');
    }
    // Of a tensor from before install() too, so that its destroy() waits.
    this.#tensorStates.set(tensor, this.#stateOf(context));
  }

  #checkWritable(tensor) {
    if (tensor.constant === true || tensor.writable === false) {
      throw typeError('tensor', 'is not writable', 'create it with {writable: true}');
    }
  }

  #failed(state, context, tensors, error, operation) {
    state.anyFailed = true;
    for (const tensor of tensors) this.#failures.set(tensor, error);
    this.dispatchEvent(new ImportErrorEvent(error, operation, context, tensors[0] ?? null));
  }

  // ---- the context's methods

  #writeFrame(original, context, tensor, source) {
    const state = this.#stateOf(context);
    state.checkAlive();
    if (this.#destroyed.has(tensor)) throw typeError('tensor', 'has been destroyed', 'create a new one');
    this.#checkTensor(context, tensor, 'tensor');
    this.#checkWritable(tensor);
    const job = readFrameWrite(this.#importer, tensor, source).keep();
    this.#push(state, async () => {
      try {
        await this.#importer.run(job, (view) => original.call(context, tensor, view));
        this.#failures.delete(tensor);
      } catch (cause) {
        const error = stateError('OperationError',
          `tensor: its frame could not be imported: ${cause.message}`, cause);
        this.#failed(state, context, [tensor], error, 'writeTensor');
      }
    });
  }

  #writeBuffer(original, context, given) {
    const state = this.#states.get(context);
    if (!state?.busy) {
      const result = original.apply(context, given);
      if (state?.anyFailed) this.#failures.delete(given[0]);
      return result;
    }
    const [tensor, buffer] = given;
    state.checkAlive();
    this.#checkTensor(context, tensor, 'tensor');
    this.#checkWritable(tensor);
    if (!isBuffer(buffer)) {
      throw typeError('buffer', `${shown(buffer)} is not a buffer`, 'give an ArrayBuffer, a view of one, or {frame}');
    }
    checkBuffer(tensor, buffer);
    const copy = snapshot(buffer);
    this.#push(state, () => {
      try {
        original.call(context, tensor, copy);
        this.#failures.delete(tensor);
      } catch (error) {
        this.#failed(state, context, [tensor], error, 'writeTensor');
      }
    });
    return undefined;
  }

  #read(original, context, given) {
    const state = this.#states.get(context);
    if (!state?.busy) {
      const failure = state?.anyFailed ? this.#failures.get(given[0]) : undefined;
      return failure === undefined ? original.apply(context, given) : Promise.reject(failure);
    }
    try {
      state.checkAlive();
      this.#checkTensor(context, given[0], 'tensor');
    } catch (error) {
      return Promise.reject(error);
    }
    const call = [...given];
    return new Promise((resolve, reject) => {
      this.#push(state, () => {
        const failure = this.#failures.get(call[0]);
        if (failure !== undefined) reject(failure);
        else {
          try {
            resolve(original.apply(context, call));
          } catch (error) {
            reject(error);
          }
        }
      });
    });
  }

  #dispatch(original, context, given) {
    const state = this.#states.get(context);
    if (!state?.busy && !state?.anyFailed) return original.apply(context, given);
    if (!state.busy) return this.#dispatchNow(original, state, context, given);
    state.checkAlive();
    const [graph, inputs, outputs] = this.#checkDispatch(context, given);
    this.#graphStates.set(graph, state);
    this.#push(state, () => {
      try {
        this.#dispatchNow(original, state, context, [graph, inputs, outputs]);
      } catch (error) {
        this.#failed(state, context, Object.values(outputs), error, 'dispatch');
      }
    });
    return undefined;
  }

  // Outputs of a graph whose input failed have failed: what they hold is of another frame.
  #dispatchNow(original, state, context, given) {
    const [, inputs, outputs] = given;
    const tensors = (record) => Object.values(record ?? {}).filter((one) => typeof one === 'object' && one !== null);
    for (const input of tensors(inputs)) {
      const failure = this.#failures.get(input);
      if (failure === undefined) continue;
      for (const output of tensors(outputs)) this.#failures.set(output, failure);
      return undefined;
    }
    const result = original.apply(context, given);
    for (const output of tensors(outputs)) this.#failures.delete(output);
    return result;
  }

  #checkDispatch(context, [graph, inputs, outputs]) {
    if (typeof graph !== 'object' || graph === null) {
      throw typeError('graph', `${shown(graph)} is not an MLGraph`, 'give one');
    }
    if (this.#destroyed.has(graph)) {
      throw stateError('InvalidStateError', 'graph: has been destroyed; build a new one');
    }
    if (this.#graphs === null) {
      const owner = ownerOf(graph, 'destroy');
      if (owner !== null) this.#replaceGraphMethods(owner);
    }
    const copies = [['inputs', inputs], ['outputs', outputs]].map(([name, record]) => {
      if (typeof record !== 'object' || record === null) {
        throw typeError(name, `${shown(record)} is not an object`, 'give tensors by their names');
      }
      const copy = { ...record };
      for (const [key, tensor] of Object.entries(copy)) this.#checkTensor(context, tensor, `${name}.${key}`);
      return copy;
    });
    return [graph, ...copies];
  }

  #create(original, context, given) {
    const promise = original.apply(context, given);
    if (this.#isContext(context)) {
      this.#stateOf(context);
      promise?.then?.((tensor) => this.#owners.set(tensor, context), () => {});
    }
    return promise;
  }

  // ---- ends

  #destroyContext(original, context, given) {
    const state = this.#states.get(context);
    if (state !== undefined) state.gone ??= 'destroyed';
    if (!state?.busy) return original.apply(context, given);
    this.#push(state, () => { this.#end(original, context, given); });
    return undefined;
  }

  #destroyLater(original, object, given, state) {
    if (!state?.busy) {
      const result = original.apply(object, given);
      this.#destroyed.add(object);
      return result;
    }
    this.#destroyed.add(object);
    this.#push(state, () => { this.#end(original, object, given); });
    return undefined;
  }

  // Nobody can be told, and nothing is left to be lost.
  #end(original, object, given) {
    try {
      original.apply(object, given);
    } catch {
      // It was destroyed by other means.
    }
  }
}

const installing = new WeakMap();

async function installOn(ml, { context, importer, ...module }) {
  const known = (contexts) => contexts.writeTensor[INSTALLED];
  const { found, native, contexts, tensors } = await probe(ml, context, known);
  if (found) return found;
  if (native) {
    return Object.assign(new EventTarget(), {
      native: true, pending: () => 0, idle: async () => {}, uninstall: async () => {},
    });
  }
  const ready = importer ?? await createImporter(module);
  // Another copy may have come first while the module was loaded.
  return known(contexts) ?? new Installation(contexts, tensors, ready);
}

/**
 * Adds writeTensor(tensor, {frame, isNchw, ...}) to the contexts of `ml`, unless the browser has it.
 * @param ml navigator.ml
 * @param {object} [options] context: one that is there already, so that none is made to look at;
 *   importer: one from createImporter(); or the options of createImporter().
 */
export async function install(ml, options = {}) {
  if (typeof ml?.createContext !== 'function') {
    throw typeError('navigator.ml', `${shown(ml)} is not WebNN`,
      'use a browser with WebNN, or importFrame() without it');
  }
  const pending = installing.get(ml);
  if (pending) return pending;
  const promise = installOn(ml, options).finally(() => installing.delete(ml));
  installing.set(ml, promise);
  return promise;
}
