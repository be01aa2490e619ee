import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoReport } from '../../cli/demo/report.ts'
import { runCli } from '../cli/run-cli.ts'
import { freshDataDirectory, removeDataDirectories } from '../support/data-directory.ts'
import { type HubProcess, hubCommand, startHubProcess } from '../support/hub-process.ts'

const traceLength = 19_366

let dataDir: string
let hub: HubProcess

beforeAll(async () => {
  dataDir = await freshDataDirectory()
  hub = await startHubProcess(dataDir)
})
afterAll(async () => {
  await hub.stop()
  await removeDataDirectories()
})

test('the demo loads the whole trace, verifies it, and when repeated doubles nothing', async () => {
  const first = await hubCommand<DemoReport>(dataDir, 'demo')
  expect(first).toMatchObject({ base_url: hub.url, events: { written: traceLength, found: 0 }, verified_offline: 1000 })
  // The marker is an artifact too, and one of 24 is purged.
  expect(first.stored).toMatchObject({ telemetry_event: traceLength, skill_definition: 16, artifact: 24 })
  expect(first.stored).toMatchObject({ output: 48, decision: 40 })
  expect(first.people).toEqual({ written: 120, found: 0 })
  const total = Object.values(first.stored).reduce((sum, count) => sum + count, 0)
  expect(first.verification).toEqual({ checked: total, verified: total, tampered: 0, cosign_invalid: 0 })
  expect(first.also_stored).toEqual({
    legal_holds: 1,
    purged_records: 1,
    saved_views: 3,
    webhook_endpoints: 1,
    budgets: 1,
  })
  expect(first.unpriced).toBeGreaterThan(0)
  expect(first.cost_usd_computed).toBeGreaterThan(0)

  const second = await hubCommand<DemoReport>(dataDir, 'demo')
  expect(second).toMatchObject({ events: { written: 0, found: traceLength }, records: { written: 0 } })
  const { governance_event: eventsBefore = 0, ...recordsBefore } = first.stored
  const { governance_event: eventsAfter = 0, ...recordsAfter } = second.stored
  expect(recordsAfter).toEqual(recordsBefore)
  // The secret of the loader's account was rotated. The Hub reports two thresholds of the budget, before or after the
  // first count, and nothing else changed.
  expect([1, 3]).toContain(eventsAfter - eventsBefore)
  expect(second.cost_usd_computed).toBe(first.cost_usd_computed)
})

test('the printed summary ends with a command for this Hub', async () => {
  const { code, stdout, stderr } = await runCli(['demo'], { HUB_DATA_DIR: dataDir })
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(
    `Sign in: HUB_DATA_DIR=${dataDir} npm run hub -- tenant welcome-link demo`,
  )
})

test('in production it asks for the tenant by name', async () => {
  const result = await runCli(['demo'], {
    HUB_ENV: 'production',
    HUB_BASE_URL: 'https://hub.example.com',
    HUB_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    HUB_DATA_DIR: await freshDataDirectory(),
  })
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('--tenant')
})
