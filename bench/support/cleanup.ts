import { removeDataDirectories } from '../../tests/support/data-directory.ts'
import { logProgress } from './progress.ts'

const tasks: (() => Promise<void>)[] = []
let cleaning: Promise<void> | undefined

/** Runs at the end, however it comes: last registered, first run. Each must bear that it was done already. */
export function atEnd(task: () => Promise<void>): void {
  tasks.push(task)
}

/** Stops what was started and removes what was written to temporary directories; once, however often it is called. */
export function cleanUp(): Promise<void> {
  cleaning ??= stopAll()
  return cleaning
}

async function stopAll(): Promise<void> {
  for (let task = tasks.pop(); task; task = tasks.pop()) {
    await task().catch((error: unknown) => logProgress(`cleaning up: ${error}`))
  }
  await removeDataDirectories()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    logProgress(`${signal}: stopping servers, removing their data`)
    process.exitCode = 1
    void cleanUp().finally(() => process.exit(1))
  })
}
