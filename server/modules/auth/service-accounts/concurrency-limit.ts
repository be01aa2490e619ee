/** Answers a function that runs what it is given, so much of it at a time; the rest waits in the order it came. */
export function limitConcurrency(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < count) running += 1
    // Whoever ends hands its place on.
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
