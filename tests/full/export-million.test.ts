import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Accomplishment, Assignment } from '../../bench/baselines/export-process.ts'
import { openRecordLab, type RecordLab, telemetry } from '../hub/record-lab.ts'
import { scaled } from '../support/machine-speed.ts'
import { testLength } from '../support/test-length.ts'

const count = testLength({ short: 200_000, long: 1_000_000 })
const minute = 60_000
/** Fifty bytes of each row, and what a heap varies by. */
const liveGrowthMax = count * 50 + 10e6

let lab: RecordLab

beforeAll(
  async () => {
    lab = await openRecordLab()
    const tenant = await lab.openTenant('acme')
    // Ids are kept of none.
    for (let loaded = 0; loaded < count; loaded += 50_000) await lab.load(tenant, 50_000, telemetry)
  },
  scaled(15 * minute),
)
afterAll(() => lab.drop())

describe(`${count} records are exported in memory that does not grow`, () => {
  test.each<NonNullable<Assignment['order']>>([{ format: 'jsonl' }, { format: 'parquet' }, { format: 'csv' }])(
    'in $format',
    async (order) => {
      const exporting = await startProcess()
      try {
        exporting.send({ tenant: 'acme', order } satisfies Assignment)
        const [made] = (await once(exporting, 'message')) as [Accomplishment]
        expect(made.rows).toBe(count)
        // Most of it is Node's own, above all the young generation of its heap; the rows alone are a kilobyte each.
        expect(made.rssMax).toBeLessThan(450e6)
        // What is resident depends on when the collector runs; what is left after it does not.
        const third = Math.floor(made.live.length / 3)
        expect(third).toBeGreaterThan(0)
        const peak = (samples: readonly number[]) => Math.max(...samples)
        expect(peak(made.live.slice(-third)) - peak(made.live.slice(0, third))).toBeLessThan(liveGrowthMax)
      } finally {
        exporting.disconnect()
        await once(exporting, 'exit')
      }
    },
    scaled(10 * minute),
  )
})

async function startProcess(): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, '../../bench/baselines/export-process.ts'), {
    env: { ...process.env, HUB_DATABASE_URL: lab.url, HUB_MASTER_KEY: lab.masterKey.toString('base64') },
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}
