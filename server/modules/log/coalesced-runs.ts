/**
 * Coalesces calls of the same name made during a run into one following run. It begins after those calls, and all of
 * them get its result. So at most one run per name is active and one waits, regardless of the number of calls.
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
        // The following run replaces this line when it begins.
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
