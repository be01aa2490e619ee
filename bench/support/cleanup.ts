import { removeDataDirectories } from '../../tests/support/data-directory.ts'
import { logProgress } from './progress.ts'

const tasks: (() => Promise<void>)[] = []
let cleaning: Promise<void> | undefined

/**
 * Registers a task for the end of the process, however it ends. The last registered runs first. A task may run after
 * its work is already done.
 */
export function atEnd(task: () => Promise<void>): void {
  tasks.push(task)
}

/** Stops started processes and removes temporary directories. Repeated calls share one run. */
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
