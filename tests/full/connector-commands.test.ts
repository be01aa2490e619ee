import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { type ConnectorLab, openConnectorLab } from '../connector-forwarder/connector-lab.ts'

let lab: ConnectorLab
beforeAll(async () => {
  lab = await openConnectorLab()
  await lab.start()
})
afterAll(() => lab.close())

test('status, refused and uncertain look into the spool while the connector works', async () => {
  lab.hub.unwelcome.add('user:b')
  await lab.accept('a', 'b')
  await lab.forwarded()
  const json = async (...args: string[]) => {
    const { code, stdout } = await runCli(['connector', ...args, '--spool', lab.spool, '--json'])
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }
  const [status, listed, uncertain] = await Promise.all([json('status'), json('refused'), json('uncertain')])
  expect(status).toMatchObject({
    tenant: 'remote',
    hub_url: lab.hub.url,
    pending: 0,
    refused: 1,
    totals: { accepted: 2, forwarded: 1, refused: 1 },
  })
  expect(listed.refused).toMatchObject([{ slug: 'skill-not-registered', event: { user_id: 'user:b' } }])
  expect(uncertain).toEqual({ uncertain: [] })

  lab.hub.unwelcome.clear()
  expect(await json('refused', '--retry')).toEqual({ retried: 1 })
  await expect.poll(() => lab.hub.users).toEqual(['user:a', 'user:b'])
})

test('a spool that is not there, and a batch that is not uncertain, are errors', async () => {
  const [missing, unknown, start] = await Promise.all([
    runCli(['connector', 'status', '--spool', `${lab.spool}/none`]),
    runCli(['connector', 'uncertain', '--spool', lab.spool, '--drop', 'no-such-key']),
    runCli(['connector', '--hub-url', 'nonsense', '--port', 'x']),
  ])
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no spool in')])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no batch no-such-key is uncertain')])
  expect([start.code, start.stdout]).toEqual([1, ''])
  expect(start.stderr).toContain('The configuration has 5 problems')
})
