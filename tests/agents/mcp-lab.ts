import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect } from 'vitest'
import { type Scope, scopeNames } from '../../contract/scopes.ts'
import { prepareTelemetry } from '../api/telemetry-tenants.ts'
import { startHub, type TestHub, type TestTenant } from '../support/hub.ts'

/** A hub and official clients of the Model Context Protocol, over both transports and in both revisions. */

type Mode = 'auto' | 'legacy'

export interface AgentAccount {
  client_id: string
  client_secret: string
}

let hub: TestHub
let account: AgentAccount
const open: Client[] = []

/** Call it before anything else. Returns the hub and the service account of the agent. */
export async function openMcpLab(): Promise<{ hub: TestHub; account: AgentAccount }> {
  hub = await startHub({ limitFactor: 100 })
  await prepareTelemetry(hub, 'acme')
  account = await hub.modules.auth.serviceAccounts.create(
    await hub.tenant('acme'),
    { name: 'agent', scopes: [...scopeNames] },
    { operator: 'test' },
  )
  return { hub, account }
}

export async function closeMcpLab(): Promise<void> {
  await Promise.all(open.map((client) => client.close()))
  await hub.stop()
}

const clientInfo = { name: 'test-agent', version: '1.2.3' }
export const newClient = (mode: Mode) => {
  const client = new Client(clientInfo, { versionNegotiation: { mode } })
  open.push(client)
  return client
}
export const endpoint = () => new URL(`${hub.baseUrl}/mcp`)

export async function overHttp(
  mode: Mode,
  { tenant = 'acme', scopes }: { tenant?: TestTenant; scopes?: Scope[] } = {},
) {
  const client = newClient(mode)
  const headers = { authorization: `Bearer ${await hub.token(tenant, scopes)}` }
  await client.connect(new StreamableHTTPClientTransport(endpoint(), { requestInit: { headers } }))
  return client
}

export const commandOf = (settings: Record<string, string> = {}) => ({
  command: process.execPath,
  args: [join(import.meta.dirname, '../../cli/hub.js'), 'mcp'],
  env: {
    PATH: process.env.PATH ?? '',
    HUB_URL: hub.baseUrl,
    HUB_TENANT: 'acme',
    HUB_CLIENT_ID: account.client_id,
    HUB_CLIENT_SECRET: account.client_secret,
    ...settings,
  },
  stderr: 'pipe' as const,
})

export async function overStdio(mode: Mode) {
  const client = newClient(mode)
  await client.connect(new StdioClientTransport(commandOf()))
  return client
}

/** Calls a tool that must succeed; answers its structured content, which the client compared with the schema. */
export async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: given })
  expect(result.isError, JSON.stringify(result.content)).toBeFalsy()
  expect(JSON.parse((result.content as { text: string }[])[0]!.text)).toEqual(result.structuredContent)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape they assert
  return result.structuredContent as any
}

export async function refusal(client: Client, name: string, given: Record<string, unknown> = {}): Promise<string> {
  const result = await client.callTool({ name, arguments: given })
  expect(result.isError, JSON.stringify(result)).toBe(true)
  return (result.content as { text: string }[])[0]!.text
}
