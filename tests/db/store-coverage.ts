import { globSync, readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename, join } from 'node:path'

/** Exported functions of the stores, as `file function`. */
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
      // The engine leaves out what it never had to compile, so the names come from the source.
      const ran = new Set(
        result.flatMap(({ url, functions }) =>
          functions
            .filter(({ ranges }) => ranges[0]!.count > 0)
            .map(({ functionName }) => `${url.split('/').at(-1)?.split('?')[0]} ${functionName}`),
        ),
      )
      const names = declaredFunctions()
      return { called: names.filter((name) => ran.has(name)), never: names.filter((name) => !ran.has(name)) }
    },
  }
}

function declaredFunctions(): string[] {
  const files = globSync(join(import.meta.dirname, '../../server/{modules,records}/**/*-store.ts'))
  return files.flatMap((file) => {
    const declarations = readFileSync(file, 'utf8').matchAll(/^export (?:async )?function (\w+)/gm)
    return [...declarations].map(([, name]) => `${basename(file)} ${name}`)
  })
}
