import { expect, test } from 'vitest'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'
import { decisionDraft, writeSealed } from '../hub/attack-scenes.ts'

const lab = cliHubOfFile()

const sweep = (...args: string[]) => runCli(['jobs', 'run', 'sweep', ...args], lab.env)

test('sweep verifies all of a tenant, takes in what waits, and ends with 1 where something is wrong', async () => {
  const acme = await lab.hub.tenant('acme')
  const [deleted] = await writeSealed(lab.hub, acme, decisionDraft('deleted'), decisionDraft('edited'))
  const counts = { tenant: 'acme', checked: expect.any(Number), failed: 0, inconsistent: 0 }
  const good = await sweep('--tenant', 'acme', '--json')
  expect({ code: good.code, stderr: good.stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(good.stdout)).toEqual({ job: 'sweep', tenants: [counts] })

  const db = await lab.hub.superuserClient()
  await db.query('delete from hub.records where record_id = $1', [deleted])
  const bad = await sweep('--json')
  expect(bad.code).toBe(1)
  const { tenants } = JSON.parse(bad.stdout)
  expect(tenants).toHaveLength(3)
  expect(tenants).toContainEqual({ ...counts, failed: 1, inconsistent: 1 })
  expect(tenants).toContainEqual({ ...counts, tenant: 'globex' })
  // Its report is there when the command ends.
  const { body } = await lab.hub.call('acme', 'GET', '/api/v1/hub/records?event_kind=hub.tamper_detected')
  expect(body.records).toMatchObject([
    {
      subject: expect.stringMatching(/^seal:/),
      details: { failed_checks: ['leaves_accounted_for'], found: { missing: [0] }, actor: 'service:sweeper' },
    },
  ])

  const told = await sweep('--tenant', 'acme')
  expect(told.code).toBe(1)
  expect(told.stdout).toMatch(
    /^Tenant acme: \d+ records verified, 1 failed or missing, 1 other thing that does not agree\.\n$/,
  )
})
