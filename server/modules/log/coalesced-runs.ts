/**
 * Runs works of the same name one after the other. Who asks while one is running gets the result of the one behind it,
 * which begins after they asked, and is the same for all who wait: however many ask, two are under way.
 */
export function coalesceRuns<Result>(): (name: string, work: () => Promise<Result>) => Promise<Result> {
  interface Line {
    running: Promise<Result>
    waiting?: Promise<Result>
  }
  const lines = new Map<string, Line>()

  function begin(name: string, work: () => Promise<Result>): Promise<Result> {
    const line: Line = {
      running: work().finally(() => {
        // With one waiting, the line is the next one's from the moment that it begins.
        if (line.waiting === undefined) lines.delete(name)
      }),
    }
    lines.set(name, line)
    return line.running
  }

  return (name, work) => {
    const line = lines.get(name)
    if (line === undefined) return begin(name, work)
    const next = () => begin(name, work)
    line.waiting ??= line.running.then(next, next)
    return line.waiting
  }
}
