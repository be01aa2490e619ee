import { Session } from 'node:inspector/promises'

/** Functions of the stores, as `file function`. */
export interface StoreCalls {
  called: string[]
  never: string[]
}

/** Counts calls from now on, by the engine's own means. To be started before the service is. */
export async function countStoreCalls(): Promise<{ take(): Promise<StoreCalls> }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take() {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      await session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
      const calls = new Map<string, number>()
      for (const { url, functions } of result) {
        if (!/\/server\/modules\/[^?]*-store\.ts/.test(url)) continue
        for (const { functionName, ranges } of functions) {
          const name = `${url.split('/').at(-1)} ${functionName}`
          if (functionName !== '') calls.set(name, (calls.get(name) ?? 0) + ranges[0]!.count)
        }
      }
      const names = [...calls.keys()]
      return {
        called: names.filter((name) => calls.get(name) !== 0),
        never: names.filter((name) => calls.get(name) === 0),
      }
    },
  }
}
