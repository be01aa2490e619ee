import { expect, test } from 'vitest'
import { query } from '../api/record-cases.ts'
import { sendJanuary } from '../api/summary-cases.ts'
import { cliHubOfFile } from '../cli/cli-hub.ts'
import { runCli } from '../cli/run-cli.ts'

const lab = cliHubOfFile(async (hub) => {
  await sendJanuary(hub)
  const price = { llm_model: 'in-house', input_usd_per_mtok: 1, output_usd_per_mtok: 1 }
  const body = { prices: [{ ...price, effective_from: '2026-01-01T00:00:00Z' }] }
  await hub.call('acme', 'PUT', '/api/v1/telemetry/prices', { body })
})

const rerate = (...args: string[]) => runCli(['prices', 'rerate', ...args], lab.env)

test('rates the events of a tenant again, says what it came to, and is recorded', async () => {
  const january = ['--tenant', 'acme', '--from', '2026-01-01T00:00:00Z', '--to', '2026-02-01T00:00:00Z']
  const { code, stdout, stderr } = await rerate(...january, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const result = {
    ...{ checked: 5, changed: 1 },
    ...{ cost_usd_computed_before: 0.0015, cost_usd_computed_after: 0.0027 },
  }
  expect(JSON.parse(stdout)).toEqual(result)
  expect(stdout.split('\n')).toHaveLength(2)

  const { records } = await query(lab.hub, 'acme', '?event_kind=telemetry.rerated')
  expect(records).toMatchObject([
    {
      subject: 'tenant:acme',
      details: { ...result, command: 'prices rerate', actor: 'operator:command-line' },
    },
  ])
  const again = await rerate('--tenant', 'acme', '--from', '2026-01-01T00:00:00Z')
  expect(again).toMatchObject({
    code: 0,
    stdout: 'Tenant acme: 5 events checked, 0 changed; US$ 0.0027 before, US$ 0.0027 now.\n',
  })
})

test('what cannot be done is named', async () => {
  const cases: [args: string[], code: number, words: string][] = [
    [['--tenant', 'nobody', '--from', '2026-01-01T00:00:00Z'], 1, 'There is no tenant "nobody"'],
    [['--tenant', 'acme', '--from', 'yesterday'], 1, '--from must be an RFC 3339 timestamp'],
    [
      ['--tenant', 'acme', '--from', '2026-01-02T00:00:00Z', '--to', '2026-01-01T00:00:00Z'],
      1,
      '--from must be before',
    ],
    [['--tenant', 'acme'], 2, '--from'],
    [['--from', '2026-01-01T00:00:00Z'], 2, '--tenant'],
  ]
  for (const [args, code, words] of cases) {
    const ran = await rerate(...args)
    expect({ code: ran.code, stdout: ran.stdout }, ran.stderr).toEqual({ code, stdout: '' })
    expect(ran.stderr).toContain(words)
  }
})
