/** Returns a text as bytes, and how many of them were read one by one. */
export function countedBytes(text: string): { buffer: Buffer; reads: () => number } {
  let reads = 0
  const buffer = new Proxy(Buffer.from(text), {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++
      return Reflect.get(target, key)
    },
  })
  return { buffer, reads: () => reads }
}
