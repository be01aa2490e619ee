import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { ImportResult } from '../../cli/import/import-file.ts'
import type { ImportState } from '../../cli/import/import-state.ts'
import { HubClient } from '../../sdk/typescript/src/index.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, makeTenant, startHubProcess } from '../support/hub-process.ts'
import { scaled } from '../support/machine-speed.ts'
import { testLength } from '../support/test-length.ts'
import { event } from '../telemetry/events.ts'

const events = testLength({ short: 20_000, long: 1_000_000 })
const eventsPerBatch = 1000
/** Shares of the lines at which a run of the command is killed. At the third, the Hub is killed, too. */
const killedAt = [0.1, 0.3, 0.5, 0.7]
/** One line in so many is refused by the Hub. */
const refusedEvery = 2000
const main = resolve(import.meta.dirname, '../../cli/main.ts')

let hub: HubProcess | undefined
const commands: ChildProcess[] = []
afterAll(async () => {
  for (const command of commands) command.kill('SIGKILL')
  await hub?.stop()
  await removeDataDirectories()
})

test(`an import of ${events} lines survives kill -9 of itself and of the Hub, and doubles nothing`, async () => {
  const dataDir = await freshDataDirectory()
  const limits = { HUB_LIMIT_FACTOR: '1000' }
  hub = await startHubProcess(dataDir, limits)
  const account = await makeTenant(dataDir, 'importing')
  const client = () => new HubClient({ baseUrl: hub!.url, ...account })
  await client().post('/api/v1/hub/records', {
    body: { record_type: 'skill_definition', skill_id: 'sum-up', skill_version: '1.0.0', name: 'Sum up' },
  })
  const file = join(dataDir, 'usage.jsonl')
  const lines = Array.from({ length: events }, (_, at) =>
    JSON.stringify(event({ tokens_in: at, latency_ms: at % refusedEvery === 7 ? 0 : 5 })),
  )
  await writeFile(file, `${lines.join('\n')}\n`)
  const { port } = new URL(hub.url)
  const env = {
    PATH: process.env.PATH,
    HUB_URL: hub.url,
    HUB_TENANT: account.tenant,
    HUB_CLIENT_ID: account.clientId,
    HUB_CLIENT_SECRET: account.clientSecret,
  }
  const start = (...options: string[]) => {
    const command = spawn(process.execPath, [main, 'telemetry', 'import', file, ...options], { env })
    commands.push(command)
    return command
  }

  for (const [kill, share] of killedAt.entries()) {
    const command = start('--json')
    await untilImported(file, (share * events) / eventsPerBatch)
    if (kill === 2) {
      await hub.killEverything()
      hub = await startHubProcess(dataDir, limits, [], Number(port))
    }
    command.kill('SIGKILL')
    await once(command, 'close')
  }
  const stdout = await outputOf(start('--json'))
  const refused = events / refusedEvery
  expect(JSON.parse(stdout) as ImportResult).toMatchObject({ stored: events - refused, rejected: refused })
  const again = await outputOf(start())
  expect(again).toContain(
    `Nothing new was stored: earlier runs stored ${(events - refused).toLocaleString('en')} events of this file.`,
  )
  const rejected = (await readFile(`${file}.rejected.jsonl`, 'utf8')).trimEnd().split('\n')
  expect(rejected.map((text) => JSON.parse(text).line)).toEqual(
    lines.flatMap((_, at) => (at % refusedEvery === 7 ? at + 1 : [])),
  )
  const counts = await tokensStored(client())
  expect(counts.size).toBe(events - refused)
  expect([...counts.values()].every((count) => count === 1)).toBe(true)
})

async function untilImported(file: string, batches: number): Promise<void> {
  const deadline = Date.now() + scaled(120_000 + events)
  while (Date.now() < deadline) {
    const text = await readFile(`${file}.import.json`, 'utf8').catch(() => '{}')
    if (((JSON.parse(text) as Partial<ImportState>).batches ?? 0) >= batches) return
    await sleep(5)
  }
  throw new Error(`no ${batches} batches were imported in time`)
}

async function outputOf(command: ChildProcess): Promise<string> {
  let stdout = ''
  command.stdout!.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await once(command, 'close')
  return stdout
}

/** The number of events with each number of tokens: once for each line of the file. */
async function tokensStored(client: HubClient): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  let cursor: string | undefined
  do {
    const page: { records: { tokens_in: number }[]; next_cursor: string | null } = await client.get(
      '/api/v1/hub/records',
      { record_type: 'telemetry_event', limit: 1000, cursor },
    )
    for (const { tokens_in } of page.records) counts.set(tokens_in, (counts.get(tokens_in) ?? 0) + 1)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return counts
}
