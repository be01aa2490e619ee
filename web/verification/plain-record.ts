/**
 * Returns true if a response has only own members, the ones that are verified. A member named `__proto__` may have
 * become its prototype, and would show content that was never sealed.
 */
export function isPlain(record: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(record)
  // The prototype of another realm is plain as well, so check its parent.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
