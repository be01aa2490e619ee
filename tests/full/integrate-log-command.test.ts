import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpointOf } from '../api/log-cases.ts'
import { decision, write } from '../api/record-cases.ts'
import { type CliHub, startCliHub } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'
import type { TestHub } from '../support/hub.ts'

let hub: TestHub
let env: Record<string, string>
let lab: CliHub
beforeAll(async () => {
  lab = await startCliHub()
  hub = lab.hub
  env = lab.env
})
afterAll(() => lab.stop())

test('integrate-log takes in what has arrived, and says how much', async () => {
  const { tree_size: size } = await checkpointOf(hub)
  for (let i = 0; i < 3; i++) await write(hub, 'acme', decision)
  const json = await runCli(['jobs', 'run', 'integrate-log', '--tenant', 'acme', '--json'], env)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual({
    job: 'integrate-log',
    tenants: [{ tenant: 'acme', added: 3, tree_size: size + 3 }],
  })
  const plain = await runCli(['jobs', 'run', 'integrate-log', '--tenant', 'acme'], env)
  expect(plain).toMatchObject({
    code: 0,
    stdout: `Tenant acme: 0 seals taken into the log, which has ${size + 3} now.\n`,
  })
  expect((await checkpointOf(hub)).tree_size).toBe(size + 3)
})
