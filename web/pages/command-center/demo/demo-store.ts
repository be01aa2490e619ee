import type { DemoProgress } from '../../../../demo/demo-api.ts'

export type DemoLoad = { state: 'none' } | { state: 'loading' } | { state: 'failed'; error: unknown }

/** Milliseconds between two updates of progress. */
export const progressEveryMs = 250

/** Holds the state of a load apart from its progress, so that a tick renders only components that show the progress. */
export function createDemoStore() {
  const state = observable<DemoLoad>({ state: 'none' })
  const progress = observable<DemoProgress | undefined>(undefined)
  let latest: DemoProgress | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  function publish(): void {
    timer = undefined
    if (latest === progress.get()) return
    timer = setTimeout(publish, progressEveryMs)
    progress.set(latest)
  }

  return {
    state,
    progress,
    /** Changes the state. Progress belongs to one state and starts at zero in the next. */
    enter(next: DemoLoad): void {
      clearTimeout(timer)
      timer = undefined
      latest = undefined
      progress.set(undefined)
      state.set(next)
    },
    /**
     * Publishes the first progress at once, later ones at most every {@link progressEveryMs}, and always the last one.
     */
    tick(next: DemoProgress): void {
      latest = next
      if (timer === undefined) publish()
    },
  }
}

function observable<T>(initial: T) {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next: T): void {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
