import { expect, test } from 'vitest'
import { checkpointOf } from '../api/log-cases.ts'
import { decision, write } from '../api/record-cases.ts'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'

const lab = cliHubOfFile()

test('integrate-log takes in what has arrived, and says how much', async () => {
  const { tree_size: size } = await checkpointOf(lab.hub)
  for (let i = 0; i < 3; i++) await write(lab.hub, 'acme', decision)
  const json = await runCli(['jobs', 'run', 'integrate-log', '--tenant', 'acme', '--json'], lab.env)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual({
    job: 'integrate-log',
    tenants: [{ tenant: 'acme', added: 3, tree_size: size + 3 }],
  })
  const plain = await runCli(['jobs', 'run', 'integrate-log', '--tenant', 'acme'], lab.env)
  expect(plain).toMatchObject({
    code: 0,
    stdout: `Tenant acme: 0 seals taken into the log, which has ${size + 3} now.\n`,
  })
  expect((await checkpointOf(lab.hub)).tree_size).toBe(size + 3)
})
