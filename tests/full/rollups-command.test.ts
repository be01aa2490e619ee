import { expect, test } from 'vitest'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'
import { event } from '../telemetry/events.ts'

const lab = cliHubOfFile((hub) => prepareTelemetry(hub, 'acme', 'globex'))

async function ingest(tenant: 'acme' | 'globex', days: number): Promise<void> {
  const events = Array.from({ length: days }, (_, day) => event({ ts: `2026-01-0${day + 1}T12:00:00Z` }))
  const answer = await lab.hub.call(tenant, 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
  expect(answer.body.accepted).toBe(days)
}

/** With --json: the one object that stdout consists of. */
async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runCli([...args, '--json'], lab.env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

test('fold-rollups folds every tenant, or one, and says what it did', async () => {
  await ingest('acme', 3)
  await ingest('acme', 2)
  await ingest('globex', 1)
  expect(await json('jobs', 'run', 'fold-rollups', '--tenant', 'acme')).toEqual({
    job: 'fold-rollups',
    tenants: [{ tenant: 'acme', deltas: 2, days: 3 }],
  })
  expect(await json('jobs', 'run', 'fold-rollups')).toEqual({
    job: 'fold-rollups',
    tenants: expect.arrayContaining([
      { tenant: 'acme', deltas: 0, days: 0 },
      { tenant: 'globex', deltas: 1, days: 1 },
    ]),
  })
  const { stdout, code } = await runCli(['jobs', 'run', 'fold-rollups', '--tenant', 'globex'], lab.env)
  expect({ stdout, code }).toEqual({ stdout: 'Tenant globex: 0 deltas folded, 0 days closed.\n', code: 0 })
})

test('rebuild reckons everything anew and says what it read and wrote', async () => {
  await ingest('acme', 4)
  const client = await lab.hub.superuserClient()
  await client.query(`update hub.telemetry_rollups set invocations = 77 where tenant_id = 'acme'`)
  expect(await json('rollups', 'rebuild', '--tenant', 'acme')).toEqual({
    // Four quarters in seven views; events of the same cell come up once.
    tenants: [{ tenant: 'acme', events: 9, unreadable: 0, erased: 0, deltas: 1, rows: 28, days: 4 }],
  })
  const { rows } = await client.query(
    `select grain, sum(invocations)::int as n from hub.telemetry_rollups
     where tenant_id = 'acme' and view = 'user' group by grain order by grain`,
  )
  expect(rows).toEqual([
    { grain: 'day', n: 9 },
    { grain: 'quarter', n: 9 },
  ])
  expect(await json('rollups', 'rebuild', '--tenant', 'acme', '--accept')).toMatchObject({
    tenants: [{ tenant: 'acme', events: 9, accepted: { ratings: 0, erased_figures: 0 } }],
  })
  const { stdout } = await runCli(['rollups', 'rebuild'], lab.env)
  expect(stdout).toContain('Tenant acme: 9 events read, 0 deltas made up for, 28 rows written, 4 days closed.\n')
  expect(stdout).toContain('Tenant globex: ')
})

test('what does not exist is named, with what does', async () => {
  const unknownJob = await runCli(['jobs', 'run', 'fold'], lab.env)
  expect(unknownJob).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('fold-rollups') })
  for (const args of [
    ['jobs', 'run', 'fold-rollups', '--tenant', 'nobody'],
    ['rollups', 'rebuild', '--tenant', 'nobody'],
  ]) {
    const { code, stdout, stderr } = await runCli(args, lab.env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('There is no tenant "nobody"')
  }
})
