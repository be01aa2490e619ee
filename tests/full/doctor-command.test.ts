import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { startHubProcess } from '../support/hub-process.ts'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hub-doctor-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

async function doctor(env: Record<string, string> = {}) {
  const settings = { HUB_DATA_DIR: dataDir, HUB_DISK_FREE_MIN_MB: '1', ...env }
  const { code, stdout, stderr } = await runCli(['doctor', '--json'], settings)
  expect(stderr).toBe('')
  return { code, ...(JSON.parse(stdout) as { status: string; checks: { check: string; detail: string }[] }) }
}

test('doctor examines an embedded database that is absent, served and stopped, and creates nothing', async () => {
  expect(await doctor()).toMatchObject({ code: 0, status: 'ok' })
  expect(await readdir(dataDir)).toEqual([])

  const hub = await startHubProcess(dataDir)
  const beside = await doctor()
  await hub.stop()
  expect(beside).toMatchObject({ code: 0, status: 'ok' })
  expect(beside.checks).toContainEqual({ check: 'service', status: 'ok', detail: `The Hub runs at ${hub.url}.` })

  const stopped = await doctor()
  expect(stopped).toMatchObject({ code: 0, status: 'ok' })
  expect(stopped.checks.find(({ check }) => check === 'service')?.detail).toContain('The Hub is stopped.')

  const wrong = await doctor({ HUB_MASTER_KEY: Buffer.alloc(32, 3).toString('base64') })
  expect(wrong).toMatchObject({ code: 2, status: 'problem' })
  expect(wrong.checks).toContainEqual(expect.objectContaining({ check: 'master key', status: 'problem' }))
})

test('doctor prints a line for each check, and ends with 2 if the configuration is invalid', async () => {
  const { code, stdout } = await runCli(['doctor'], { HUB_DATA_DIR: dataDir, HUB_PORT: 'x' })
  expect(code).toBe(2)
  expect(stdout.split('\n')[0]).toBe('problem  configuration: HUB_PORT is "x". Use a whole number from 0 to 65535.')
})
