import { removeDataDirectories } from '../../tests/support/data-directory.ts'

const tasks: (() => Promise<void>)[] = []

/** Runs at the end, however it comes: last registered, first run. Each must bear that it was done already. */
export function atEnd(task: () => Promise<void>): void {
  tasks.push(task)
}

/** Stops what was started and removes what was written to temporary directories. */
export async function cleanUp(): Promise<void> {
  for (let task = tasks.pop(); task; task = tasks.pop()) {
    await task().catch((error: unknown) => process.stderr.write(`cleaning up: ${error}\n`))
  }
  await removeDataDirectories()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.stderr.write(`${signal}: stopping servers, removing their data\n`)
    void cleanUp().finally(() => process.exit(1))
  })
}
