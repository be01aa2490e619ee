/** Returns a function that runs at most `count` tasks at a time; further tasks wait in order of arrival. */
export function limitConcurrency(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < count) running += 1
    // A task that ends passes its slot to the first waiting task.
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
