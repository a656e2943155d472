// What the browser itself can do, found out by asking it.
import { typeError } from './errors.js';

/**
 * Whether writeTensor() takes a dictionary with a frame. A browser that does reads its members, `frame`
 * first, and nothing has happened yet when that getter throws; one that does not refuses the object
 * without a look.
 */
function takesFrames(context, tensor) {
  let asked = false;
  const source = {
    get frame() {
      asked = true;
      throw new TypeError('asked');
    },
  };
  try {
    context.writeTensor(tensor, source);
  } catch {
    // Both throw.
  }
  return asked;
}

/** The object that has the method, which is where it can be replaced for all instances. */
export function ownerOf(instance, method) {
  let owner = instance;
  while (owner !== null && !Object.hasOwn(owner, method)) owner = Object.getPrototypeOf(owner);
  return owner;
}

/**
 * The prototypes of contexts and tensors, and whether frames are taken natively. Without `given` a context
 * is made and destroyed for it.
 */
export async function probe(ml, given, known) {
  const context = given ?? await ml.createContext();
  try {
    const contexts = ownerOf(context, 'writeTensor');
    if (contexts === null) {
      throw typeError('navigator.ml', 'its contexts have no writeTensor()', 'use a browser with MLTensor');
    }
    const found = known(contexts);
    if (found) return { found };
    const shape = [1, 1, 1, 3];
    const tensor = await context.createTensor({
      dataType: 'float32', shape, dimensions: shape, writable: true,
    });
    const tensors = ownerOf(tensor, 'destroy');
    const native = takesFrames(context, tensor);
    tensor.destroy();
    return { contexts, tensors, native };
  } finally {
    if (!given) context.destroy?.();
  }
}
