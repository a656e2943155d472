// Errors name the thing, what is wrong with which value, and the fix, as those of the C++ library do.

/**
 * @param {new (message: string, options?: object) => Error} Type
 * @param {string} thing @param {string} problem @param {string} fix
 */
export function importError(Type, thing, problem, fix) {
  const error = new Type(`${thing}: ${problem}; ${fix}`);
  return Object.assign(error, { thing, problem, fix });
}

export const typeError = (thing, problem, fix) => importError(TypeError, thing, problem, fix);
export const rangeError = (thing, problem, fix) => importError(RangeError, thing, problem, fix);

/** How a value is shown in a message. */
export function shown(value) {
  if (typeof value === 'string') return `'${value.slice(0, 40)}'`;
  if (Array.isArray(value)) return `[${value.slice(0, 8).map(shown).join(', ')}]`;
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    return Object.prototype.toString.call(value).slice(8, -1);
  }
  return typeof value === 'bigint' ? `${value}n` : String(value);
}

/** An error of the platform's kind: 'InvalidStateError', 'OperationError', ... */
export function stateError(name, message, cause) {
  const error = new DOMException(message, name);
  if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause });
  return error;
}
