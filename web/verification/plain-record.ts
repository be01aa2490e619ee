/**
 * Whether an answer has nothing but members of its own, which are what is verified. A member named `__proto__` may have
 * become its prototype on the way, and would show what was never sealed.
 */
export function isPlain(record: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(record)
  // That of another realm is as plain, so its parent is asked for.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
