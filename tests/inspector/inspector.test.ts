import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AgentAccount, closeMcpLab, commandOf, endpoint, openMcpLab } from '../agents/mcp-lab.ts'
import { decision, write } from '../api/record-cases.ts'
import type { TestHub } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

/** The command line of the MCP Inspector lists and calls every tool, over both transports. */

let hub: TestHub
let account: AgentAccount
let decisionId: string
beforeAll(async () => {
  ;({ hub, account } = await openMcpLab())
  decisionId = await write(hub, 'acme', { ...decision, decision_subject: 'Zebra crossing' })
  await hub.call('acme', 'POST', '/api/v1/telemetry/events', { body: event() })
  await hub.modules.rollups.rollups.settle('acme')
})
afterAll(closeMcpLab)

const transports: [name: string, target: () => Promise<string[]>][] = [
  [
    'Streamable HTTP',
    async () => [
      ...['--transport', 'http', '--server-url', endpoint().href],
      ...['--header', `Authorization: Bearer ${await hub.token('acme')}`],
    ],
  ],
  [
    'stdio',
    async () => {
      const { command, args, env } = commandOf()
      const { PATH: _, ...settings } = env
      return [command, ...args, ...Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`])]
    },
  ],
]

/** Arguments of each tool, and a part of its result. */
const calls: [name: string, args: () => Record<string, unknown>, expected: () => unknown][] = [
  ['search_records', () => ({ q: 'zebra' }), () => ({ results: [{ record_id: decisionId }] })],
  ['get_record', () => ({ record_id: decisionId }), () => ({ record: { decision_subject: 'Zebra crossing' } })],
  ['related_records', () => ({ record_id: decisionId }), () => ({ records: [{ record_id: decisionId }] })],
  ['verify_record', () => ({ record_id: decisionId }), () => ({ verified: true })],
  ['record_decision', () => withoutType(decision), () => ({ record_id: expect.any(String) })],
  ['record_output', () => ({ skill_id: 'sum-up', content: { a: [1] } }), () => ({ record_id: expect.any(String) })],
  [
    'telemetry_summary',
    () => ({ from: '2020-01-01T00:00:00Z', group_by: 'skill' }),
    () => ({ rows: [{ key: 'sum-up' }] }),
  ],
  ['list_skills', () => ({}), () => ({ skills: [{ skill_id: 'sum-up' }] })],
]

describe.each(transports)('%s', (_name, targetOf) => {
  test('lists every tool', async () => {
    const { tools } = (await inspect(await targetOf(), '--method', 'tools/list', '--strict')) as {
      tools: { name: string }[]
    }
    expect(tools.map(({ name }) => name).sort()).toEqual(calls.map(([name]) => name).sort())
  })

  test.each(calls)('calls %s', async (name, args, expected) => {
    const pairs = Object.entries(args()).flatMap(([key, value]) => ['--tool-arg', `${key}=${textOf(value)}`])
    const result = await inspect(await targetOf(), '--method', 'tools/call', '--tool-name', name, ...pairs)
    expect(result).toMatchObject({ structuredContent: expected() })
  })
})

test('a wrong secret is refused', async () => {
  const { command, args, env } = commandOf({ HUB_CLIENT_SECRET: `${account.client_secret}x` })
  const settings = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
  await expect(inspect([command, ...args, ...settings], '--method', 'tools/list')).rejects.toThrow()
})

/** Runs one request. Throws if the command fails. */
async function inspect(target: string[], ...options: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)('mcp-inspector', ['--cli', ...target, ...options])
  return JSON.parse(stdout)
}

function withoutType({ record_type: _, ...members }: typeof decision) {
  return members
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
