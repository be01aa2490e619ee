import { monotonicMicros, profilingOptions, topSelfTimes } from './cpu-profile.ts'
import type { Run } from './figure.ts'

/** `--profile DIR` runs the service with `--cpu-prof` and prints its most expensive functions. */
export interface Profile {
  nodeOptions: string[]
  /** Begins the measured phase; the profile excludes everything outside. */
  begin(): void
  end(): void
  /** Prints the profile. Call it after the service has ended. */
  show(pid: number): Promise<void>
}

export async function startProfile(run: Run): Promise<Profile> {
  const directory = run.flag('profile')
  const window = { from: 0, to: 0 }
  return {
    nodeOptions: directory === undefined ? [] : await profilingOptions(directory),
    begin: () => {
      window.from = monotonicMicros()
    },
    end: () => {
      window.to = monotonicMicros()
    },
    show: async (pid) => {
      if (directory === undefined) return
      const rows = await topSelfTimes(directory, pid, window)
      if (rows === undefined) throw new Error(`there is no profile of process ${pid} in ${directory}`)
      console.table(rows)
    },
  }
}
